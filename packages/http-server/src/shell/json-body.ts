/**
 * The JSON of a request, read in one way only. Bytes that are not UTF-8 and duplicate keys are refused: another reader
 * of the same body, such as an approver, could see another payment.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Context } from 'hono';

/** Awaited between two pieces of work, so that other requests get their turn. */
type Pace = () => Promise<void>;

/** No route accepts a body of nearly this depth. */
const maxDepth = 16;

/** Characters or values between two calls of the pace. */
const stride = 4_096;

/**
 * @param pace - for large bodies; absent, the body is checked in one go
 * @throws PoolError `invalid_request`, which never repeats the body
 */
export async function readJsonBody(c: Context, pace?: Pace): Promise<unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw refuse('content-type must be application/json');
  }
  const text = decodeText(await c.req.arrayBuffer());
  // Before JSON.parse: extreme nesting would overflow its stack.
  const written = await survey(text, pace);
  if (written.depth > maxDepth) {
    throw refuse(`request body is nested more than ${maxDepth} deep`);
  }
  const body = parseText(text);
  // JSON.parse keeps one field per key: fewer fields than were written are duplicates that it dropped.
  if (written.fields !== (await countFields(body, pace))) {
    throw refuse('request body has a duplicate JSON key');
  }
  return body;
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}

function decodeText(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('request body is not UTF-8');
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('request body is not JSON');
  }
}

/** Counts colons outside strings, and how deep brackets nest. @param text - JSON, or what JSON.parse refuses later */
async function survey(
  text: string,
  pace: Pace | undefined,
): Promise<{ readonly fields: number; readonly depth: number }> {
  let fields = 0;
  let open = 0;
  let depth = 0;
  let isInString = false;
  let pauseAt = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      isInString = !isInString;
    } else if (character === '\\') {
      at += 1;
    } else if (!isInString) {
      if (character === ':') {
        fields += 1;
      } else if (character === '{' || character === '[') {
        open += 1;
        depth = Math.max(depth, open);
      } else if (character === '}' || character === ']') {
        open -= 1;
      }
    }
    // An escape moves on by two, so `at` could step over every multiple of the stride.
    if (pace !== undefined && at >= pauseAt) {
      pauseAt = at + stride;
      await pace();
    }
  }
  return { fields, depth };
}

async function countFields(body: unknown, pace: Pace | undefined): Promise<number> {
  const open: unknown[] = [body];
  let fields = 0;
  for (let seen = 0; open.length > 0; seen += 1) {
    const value = open.pop();
    if (typeof value === 'object' && value !== null) {
      const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
      fields += Array.isArray(value) ? 0 : children.length;
      for (const child of children) {
        if (typeof child === 'object') {
          open.push(child);
        }
      }
    }
    if (pace !== undefined && seen % stride === 0) {
      await pace();
    }
  }
  return fields;
}
