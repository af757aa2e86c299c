/**
 * JSON that is read in one way only: duplicate keys and deep nesting are refused. `JSON.parse` keeps the last of two equal keys; a person, or
 * another reader of the same text, may see the first.
 *
 * @module
 */
import { PoolError } from '../errors/pool-error.ts';

/** No document of this repository has nearly this depth. */
const maxDepth = 16;

/** Characters or values between two pauses. */
const stride = 4_096;

/**
 * @param name - of the text, for messages
 * @throws PoolError `invalid_value`, which never repeats the text
 */
export function parseStrictJson(text: string, name: string): unknown {
  const steps = stepStrictJson(text, name);
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
  }
}

/** {@link parseStrictJson} that pauses, for a process that also serves other requests. */
export function* stepStrictJson(
  text: string,
  name: string,
): Generator<undefined, unknown, undefined> {
  // Before JSON.parse: extreme nesting would overflow its stack.
  const written = yield* stepSurvey(text);
  if (written.depth > maxDepth) {
    throw refuse(`${name} is nested more than ${maxDepth} deep`);
  }
  const value = parseText(text, name);
  // JSON.parse keeps one field per key: fewer fields than were written are duplicates that it dropped.
  if (written.fields !== (yield* stepCountFields(value))) {
    throw refuse(`${name} has a duplicate JSON key`);
  }
  return value;
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_value', message);
}

function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause is dropped on purpose: it repeats the text.
    throw refuse(`${name} is not JSON`);
  }
}

/** Counts colons outside strings, and how deep brackets nest. @param text - JSON, or what JSON.parse refuses later */
function* stepSurvey(
  text: string,
): Generator<undefined, { readonly fields: number; readonly depth: number }, undefined> {
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
    if (at >= pauseAt) {
      pauseAt = at + stride;
      yield;
    }
  }
  return { fields, depth };
}

function* stepCountFields(value: unknown): Generator<undefined, number, undefined> {
  const open: unknown[] = [value];
  let fields = 0;
  for (let seen = 0; open.length > 0; seen += 1) {
    const next = open.pop();
    if (typeof next === 'object' && next !== null) {
      const children: unknown[] = Array.isArray(next) ? next : Object.values(next);
      fields += Array.isArray(next) ? 0 : children.length;
      for (const child of children) {
        if (typeof child === 'object') {
          open.push(child);
        }
      }
    }
    if (seen % stride === 0) {
      yield;
    }
  }
  return fields;
}
