/**
 * The JSON of a request, read in one way only: bytes that are no UTF-8, and a field that stands twice in one
 * object, are refused, because somebody else who reads them may see another payment than we do.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { createPace } from '@pool/operations';
import type { Context } from 'hono';

/** @throws PoolError `invalid_request`, never echoing the body */
export async function readJson(context: Context): Promise<unknown> {
  const contentType = context.req.header('content-type');
  if (!/^application\/json(?:\s*;|$)/i.test(contentType ?? '')) {
    throw new PoolError('invalid_request', 'send Content-Type: application/json');
  }
  const bytes = await context.req.arrayBuffer();
  let body: unknown;
  let written: { readonly fields: number; readonly depth: number };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    written = await survey(text);
    body = written.depth > maxDepth ? undefined : JSON.parse(text);
  } catch {
    throw new PoolError('invalid_request', 'the request body is not JSON in UTF-8');
  }
  if (written.depth > maxDepth) {
    throw new PoolError('invalid_request', `the request body is nested more than ${maxDepth} deep`);
  }
  // What was parsed has one of each: fewer fields than were written means that some were dropped.
  if (written.fields !== (await countFields(body))) {
    throw new PoolError(
      'invalid_request',
      'a field stands twice in one object of the request body',
    );
  }
  return body;
}

/** A request needs three. */
const maxDepth = 16;

/** How many characters or values are looked at before others may have their turn. */
const stride = 4_096;

/** Colons outside strings, and how deep brackets nest. @param text - JSON, or what will be refused as none */
async function survey(text: string): Promise<{ readonly fields: number; readonly depth: number }> {
  const pace = createPace();
  let fields = 0;
  let open = 0;
  let depth = 0;
  let isInString = false;
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
    if (at % stride === 0) {
      await pace();
    }
  }
  return { fields, depth };
}

async function countFields(body: unknown): Promise<number> {
  const pace = createPace();
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
    if (seen % stride === 0) {
      await pace();
    }
  }
  return fields;
}
