/**
 * Reads JSON that somebody else can make as large as a custodian allows: whoever asks a custodian for signatures decides how large the items of
 * its lists are. A value that is too large is dropped while it arrives and becomes {@link tooLarge}, so that one item costs neither the
 * others nor memory. What is left is read by JSON.parse.
 *
 * @module
 */

/** What is kept of an answer. */
export type Cut = {
  /** Inside how many containers the values are that are cut: 1 for the fields of an object, 2 for those of the objects of an array. */
  readonly depth: number;
  /** Bytes of one value; more are not kept. */
  readonly maxLength: number;
  /** Of the whole answer, with what is dropped. More is an error, as without a cut. Infinity: the time limit is the only one. */
  readonly maxBytes: number;
};

/** In place of a value that is too large. */
export const tooLarge: unique symbol = Symbol('too large');

/** Of the values that are kept, together. More is an error. */
export const maxKeptBytes = 64 * 1024 * 1024;

/**
 * @param chunks - throws what its connection throws
 * @param refuse - makes the error of an answer of which more than {@link maxKeptBytes} would be kept
 * @returns undefined for what is not JSON. What a dropped value contains is not looked at
 */
export async function readCutJson(
  chunks: AsyncIterable<Uint8Array>,
  cut: Cut,
  refuse: () => Error,
): Promise<unknown> {
  const mark = crypto.randomUUID();
  const filter = createFilter(cut, Buffer.from(JSON.stringify(mark)));
  for await (const chunk of chunks) {
    filter.take(chunk);
    if (filter.keptBytes() > maxKeptBytes) {
      throw refuse();
    }
  }
  try {
    const value: unknown = JSON.parse(filter.result().toString('utf8'));
    return restore(value, mark, cut.depth);
  } catch {
    return undefined;
  }
}

/** A reviver would go to the bottom of a value that is nested deeply. */
function restore(value: unknown, mark: string, depth: number): unknown {
  if (value === mark) {
    return tooLarge;
  }
  if (depth === 0 || typeof value !== 'object' || value === null) {
    return value;
  }
  return Array.isArray(value)
    ? value.map((one: unknown) => restore(one, mark, depth - 1))
    : Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, restore(one, mark, depth - 1)]),
      );
}

const quote = 0x22;
const backslash = 0x5c;

function opens(byte: number): boolean {
  return byte === 0x5b || byte === 0x7b;
}

function closes(byte: number): boolean {
  return byte === 0x5d || byte === 0x7d;
}

/** Between two values. A number or a word ends before one. */
function separates(byte: number): boolean {
  return byte === 0x2c || byte === 0x3a || byte <= 0x20 || closes(byte);
}

/** Copies JSON byte for byte, except for each value inside `depth` containers, or fewer, that is too large. */
function createFilter({ depth, maxLength }: Cut, mark: Uint8Array) {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let level = 0;
  /** The value that is being read. A container is one where it is inside `depth` others. */
  let kind: 'string' | 'word' | 'container' | undefined;
  /** What earlier chunks have of it. */
  let parts: Uint8Array[] = [];
  let length = 0;
  let nesting = 0;
  let isInString = false;
  let isEscaped = false;

  function keep(bytes: Uint8Array): void {
    if (bytes.length > 0) {
      kept.push(bytes);
      keptBytes += bytes.length;
    }
  }

  function begin(byte: number): void {
    if (byte === quote) {
      kind = 'string';
      isInString = true;
    } else if (opens(byte)) {
      kind = 'container';
      nesting = 1;
    } else {
      kind = 'word';
    }
  }

  /** Takes one byte of a value. @returns how many bytes of those up to it belong to the value, when it ends */
  function findEnd(byte: number): 'with' | 'before' | undefined {
    if (isInString) {
      if (isEscaped) {
        isEscaped = false;
      } else if (byte === backslash) {
        isEscaped = true;
      } else if (byte === quote) {
        isInString = false;
        return kind === 'string' ? 'with' : undefined;
      }
      return undefined;
    }
    if (kind === 'word') {
      return separates(byte) ? 'before' : undefined;
    }
    if (byte === quote) {
      isInString = true;
    } else if (opens(byte)) {
      nesting += 1;
    } else if (closes(byte)) {
      nesting -= 1;
    }
    return nesting === 0 ? 'with' : undefined;
  }

  /** Between values. @returns whether one begins */
  function isFirst(byte: number): boolean {
    if (opens(byte) && level < depth) {
      level += 1;
      return false;
    }
    if (closes(byte)) {
      level -= 1;
    }
    return !separates(byte);
  }

  /** The value ends, of which this chunk has `part` after `before`. */
  function end(before: Uint8Array, part: Uint8Array): void {
    const isKept = length + part.length <= maxLength;
    keep(before);
    for (const bytes of isKept ? [...parts, part] : [mark]) {
      keep(bytes);
    }
    parts = [];
    length = 0;
    kind = undefined;
  }

  return {
    take(chunk: Uint8Array): void {
      // What is copied as it is begins at `from`, and the value that is being read at `start`.
      let from = 0;
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        const ends = kind === undefined ? undefined : findEnd(byte);
        if (ends !== undefined) {
          const to = ends === 'with' ? at + 1 : at;
          if (length > 0 || to - start > maxLength) {
            end(chunk.subarray(from, start), chunk.subarray(start, to));
            from = to;
          }
          kind = undefined;
        }
        if (kind === undefined && ends !== 'with' && isFirst(byte)) {
          start = at;
          begin(byte);
        }
      }
      if (kind === undefined) {
        keep(chunk.subarray(from));
        return;
      }
      keep(chunk.subarray(from, start));
      length += chunk.length - start;
      if (length > maxLength) {
        parts = [];
      } else {
        parts.push(chunk.subarray(start));
      }
    },
    keptBytes: () => keptBytes,
    result(): Buffer {
      if (kind !== undefined) {
        end(new Uint8Array(), new Uint8Array());
      }
      return Buffer.concat(kept);
    },
  };
}
