/**
 * CBOR (RFC 8949) with one reading per document, for COSE_Sign1 and its payload. cborg's defaults accept duplicate keys, long forms,
 * lists without a length and floating-point integers. Each of them gives two parsers room to disagree about one signed document.
 *
 * @module
 */
import { type DecodeOptions, decodeFirst, Tokenizer, Type } from 'cborg';
import {
  type AttestationDefect,
  AttestationError,
  refuse,
  requireThat,
} from './attestation-defect.ts';

const strict = {
  strict: true,
  rejectDuplicateMapKeys: true,
  useMaps: true,
  allowIndefinite: true,
  allowUndefined: true,
  allowBigInt: true,
} as const;

type DecodeTokenizer = NonNullable<DecodeOptions['tokenizer']>;

const indefiniteMap = 0xbf;

/**
 * Decodes one item that fills the input.
 *
 * @param options.outermost - `sized`: nothing may have an indefinite length. `map`: the outermost map may. Secure modules of recent
 *   hosts encode the payload so, and the bytes are signed; whatever is inside must still have a length
 * @returns numbers, bigints, strings, byte strings, arrays and Maps
 * @throws AttestationError
 */
export function decodeStrictCbor(
  bytes: Uint8Array,
  options: { readonly outermost: 'sized' | 'map' },
): unknown {
  const mayBeOpen = options.outermost === 'map' && bytes[0] === indefiniteMap;
  const [value, rest] = decodeItem(bytes, mayBeOpen);
  requireThat(rest.length === 0, 'cbor-trailing-bytes');
  return value;
}

function decodeItem(bytes: Uint8Array, mayBeOpen: boolean): [unknown, Uint8Array] {
  const tokenizer = createStrictTokenizer(new Tokenizer(bytes, strict), mayBeOpen);
  try {
    return decodeFirst(bytes, { ...strict, tokenizer });
  } catch (error) {
    return refuse(findDefect(error));
  }
}

// A token has its type before its value is interpreted, so what cborg would convert is still visible here.
function createStrictTokenizer(tokens: Tokenizer, mayBeOpen: boolean): DecodeTokenizer {
  return {
    done: () => tokens.done(),
    pos: () => tokens.pos(),
    next() {
      const isOutermost = tokens.pos() === 0;
      const token = tokens.next();
      if (token.value === Number.POSITIVE_INFINITY) {
        requireThat(mayBeOpen && isOutermost, 'cbor-indefinite-length');
      }
      if (Type.equals(token.type, Type.break)) {
        // With no open list or map inside, a break can only end the outermost map.
        requireThat(mayBeOpen, 'cbor-indefinite-length');
      }
      for (const type of [Type.tag, Type.float, Type.undefined]) {
        requireThat(!Type.equals(token.type, type), 'cbor-type');
      }
      return token;
    },
  };
}

// The sentences of the pinned version of cborg. Another sentence is still a refusal.
function findDefect(error: unknown): AttestationDefect {
  if (error instanceof AttestationError) {
    return error.defect;
  }
  const message = error instanceof Error ? error.message : '';
  if (message.includes('found repeat map key')) {
    return 'cbor-duplicate-key';
  }
  if (message.includes('more bytes than necessary')) {
    return 'cbor-not-minimal';
  }
  return message.includes('indefinite length') ? 'cbor-indefinite-length' : 'cbor-malformed';
}
