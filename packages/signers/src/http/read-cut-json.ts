/**
 * Reads JSON that somebody else can make as large as a custodian allows: whoever asks a custodian for signatures decides how large the items of
 * its lists are. The answer is parsed while it arrives, and a value that is too large becomes {@link tooLarge}, so that one item costs
 * neither the others nor memory.
 *
 * @module
 */
import { pipeline } from 'node:stream/promises';
import parser from 'stream-json/parser.js';

/** What is kept of an answer. */
export type Cut = {
  /** Inside how many containers the values are that are cut: 1 for the fields of an object, 2 for those of the objects of an array. */
  readonly depth: number;
  /** Characters of one value; more are not kept. */
  readonly maxLength: number;
  /** Of the whole answer. More is an error, as without a cut. */
  readonly maxBytes: number;
};

/** In place of a value that is too large. */
export const tooLarge: unique symbol = Symbol('too large');

type Token = parser.Token;
type Container =
  | { readonly kind: 'array'; readonly items: unknown[] }
  | { readonly kind: 'object'; readonly fields: Map<string, unknown>; key: string };

/**
 * @param chunks - throws what its connection throws
 * @returns undefined for what is not JSON
 */
export async function readCutJson(chunks: AsyncIterable<Uint8Array>, cut: Cut): Promise<unknown> {
  const builder = createBuilder(cut);
  let failure: { readonly cause: unknown } | undefined;
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (cause) {
      failure = { cause };
      throw cause;
    }
  }
  try {
    await pipeline(
      read(),
      // Strings come in pieces: no string of the answer has to fit into memory.
      parser.asStream({ packStrings: false, streamKeys: false, streamNumbers: false }),
      async (tokens: AsyncIterable<Token>) => {
        for await (const token of tokens) {
          builder.take(token);
        }
      },
    );
  } catch {
    if (failure !== undefined) {
      throw failure.cause;
    }
    return undefined;
  }
  return builder.result();
}

function createBuilder({ depth, maxLength }: Cut) {
  /** Containers that are kept, and how many there are with those that are not. */
  const open: Container[] = [];
  let level = 0;
  let used = 0;
  let isSkipping = false;
  let text = '';
  let result: unknown;

  function begin(): void {
    if (level <= depth) {
      used = 0;
      isSkipping = false;
    }
    spend(1);
  }

  function spend(length: number): void {
    used += length;
    isSkipping ||= used > maxLength;
  }

  function put(value: unknown): void {
    const isWhole = level <= depth;
    if (isSkipping && !isWhole) {
      return;
    }
    const kept = isSkipping ? tooLarge : value;
    isSkipping = false;
    const parent = open.at(-1);
    switch (parent?.kind) {
      case 'array':
        parent.items.push(kept);
        break;
      case 'object':
        parent.fields.set(parent.key, kept);
        break;
      case undefined:
        result = kept;
    }
  }

  function enter(container: Container): void {
    begin();
    if (!isSkipping) {
      open.push(container);
    }
    level += 1;
  }

  function leave(): void {
    level -= 1;
    const closed = open.length > level ? open.pop() : undefined;
    put(closed?.kind === 'array' ? closed.items : toObject(closed));
  }

  return {
    take(token: Token): void {
      switch (token.name) {
        case 'startObject':
          enter({ kind: 'object', fields: new Map(), key: '' });
          break;
        case 'startArray':
          enter({ kind: 'array', items: [] });
          break;
        case 'endObject':
        case 'endArray':
          leave();
          break;
        case 'keyValue':
          takeKey(token.value);
          break;
        case 'startString':
          text = '';
          begin();
          break;
        case 'stringChunk':
          spend(token.value.length);
          text = isSkipping ? '' : text + token.value;
          break;
        case 'endString':
          put(text);
          break;
        case 'numberValue':
          begin();
          spend(token.value.length);
          put(Number(token.value));
          break;
        case 'nullValue':
        case 'trueValue':
        case 'falseValue':
          begin();
          put(token.value);
          break;
        default:
      }
    },
    result: () => result,
  };

  function takeKey(key: string): void {
    if (level > depth) {
      spend(key.length);
    }
    const parent = open.at(-1);
    if (!isSkipping && parent?.kind === 'object') {
      parent.key = key;
    }
  }
}

/** A key `__proto__` becomes a field, as JSON.parse has it. */
function toObject(container: Container | undefined): unknown {
  return container?.kind === 'object' ? Object.fromEntries(container.fields) : tooLarge;
}
