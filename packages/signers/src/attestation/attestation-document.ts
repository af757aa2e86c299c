/**
 * The attestation document: an untagged COSE_Sign1 (RFC 9052) with ES384 over a CBOR map of nine fields, as the secure module of an
 * AWS Nitro enclave makes it. This module reads its shape and its limits. It believes nothing: see verify-attestation.ts.
 *
 * @module
 */
import { type DecodeOptions, decodeFirst, encode, Tokenizer, Type } from 'cborg';
import {
  type AttestationDefect,
  AttestationError,
  refuse,
  requireThat,
} from './attestation-defect.ts';

// CBOR (RFC 8949) with one reading per document, for COSE_Sign1 and its payload. cborg's defaults accept duplicate keys, long forms,
// lists without a length and floating-point integers. Each of them gives two parsers room to disagree about one signed document.

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
function decodeStrictCbor(
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

export type CoseSign1 = {
  /** What the signature is over: the encoded Sig_structure (RFC 9052 §4.4). */
  readonly signedBytes: Uint8Array;
  readonly payload: Uint8Array;
  /** r ‖ s, 96 bytes. */
  readonly signature: Uint8Array;
};

export type AttestationDocument = {
  /** Name that the host gave to the module. Public; it identifies the host. */
  readonly moduleId: string;
  /** Milliseconds since the epoch, by the module's clock. */
  readonly timestampMs: number;
  /** Measurements by index, 0–31. Zero PCR0–2 mean debug mode. */
  readonly pcrs: ReadonlyMap<number, Uint8Array>;
  /** DER of the leaf, whose key signed the document. */
  readonly certificate: Uint8Array;
  /** DER of the authorities, root first. */
  readonly cabundle: readonly Uint8Array[];
  /** What the enclave asked to be attested with it. Here: W in 33 bytes of SEC1. */
  readonly publicKey: Uint8Array | undefined;
  readonly userData: Uint8Array | undefined;
  readonly nonce: Uint8Array | undefined;
};

const maxDocumentBytes = 16_384;
/** {1: -35}: the algorithm is ES384, and nothing else is in the header. */
export const protectedHeader = Uint8Array.of(0xa1, 0x01, 0x38, 0x22);
const maxCertificates = 8;
const majorTypeTag = 6;

/** The Sig_structure (RFC 9052 §4.4). */
export function encodeSigned(payload: Uint8Array): Uint8Array {
  return encode(['Signature1', protectedHeader, new Uint8Array(), payload]);
}

/** @throws AttestationError */
export function parseCoseSign1(document: Uint8Array): CoseSign1 {
  requireThat(document.length <= maxDocumentBytes, 'document-too-large');
  requireThat((document[0] ?? 0) >> 5 !== majorTypeTag, 'cose-tagged');
  const parts = decodeStrictCbor(document, { outermost: 'sized' });
  requireThat(Array.isArray(parts) && parts.length === 4, 'cose-shape');
  const [header, unprotected, payload, signature] = parts as readonly unknown[];
  const isShaped =
    header instanceof Uint8Array &&
    unprotected instanceof Map &&
    payload instanceof Uint8Array &&
    signature instanceof Uint8Array;
  requireThat(isShaped, 'cose-shape');
  requireThat(areBytesEqual(header, protectedHeader), 'cose-protected-header');
  requireThat(unprotected.size === 0, 'cose-unprotected-header');
  requireThat(signature.length === 96, 'cose-signature-size');
  return { signedBytes: encodeSigned(payload), payload, signature };
}

const fields = [
  'module_id',
  'digest',
  'timestamp',
  'pcrs',
  'certificate',
  'cabundle',
  'public_key',
  'user_data',
  'nonce',
] as const;

/** @throws AttestationError */
export function parseAttestationDocument(payload: Uint8Array): AttestationDocument {
  const map = decodeStrictCbor(payload, { outermost: 'map' });
  requireThat(map instanceof Map, 'cbor-malformed');
  requireThat(
    fields.every((field) => map.has(field)),
    'field-missing',
  );
  requireThat(map.size === fields.length, 'field-unknown');

  const [moduleId, digest, timestamp, pcrs, certificate, cabundle, publicKey, userData, nonce] =
    fields.map((field): unknown => map.get(field));
  const isModuleId = typeof moduleId === 'string' && moduleId.length > 0 && moduleId.length <= 256;
  requireThat(isModuleId, 'module-id-invalid');
  requireThat(digest === 'SHA384', 'digest-invalid');
  const isTimestamp =
    typeof timestamp === 'number' && Number.isSafeInteger(timestamp) && timestamp > 0;
  requireThat(isTimestamp, 'timestamp-invalid');
  requireThat(isBytes(certificate, 1, 1024), 'certificate-size');
  const isBundle =
    Array.isArray(cabundle) &&
    cabundle.length > 0 &&
    cabundle.length <= maxCertificates &&
    cabundle.every((item: unknown) => isBytes(item, 1, 1024));
  requireThat(isBundle, 'cabundle-size');
  requireThat(publicKey === null || isBytes(publicKey, 1, 1024), 'public-key-size');
  requireThat(userData === null || isBytes(userData, 0, 512), 'user-data-size');
  requireThat(nonce === null || isBytes(nonce, 0, 512), 'nonce-size');
  return {
    moduleId,
    timestampMs: timestamp,
    pcrs: parsePcrs(pcrs),
    certificate,
    cabundle,
    publicKey: publicKey ?? undefined,
    userData: userData ?? undefined,
    nonce: nonce ?? undefined,
  };
}

function parsePcrs(pcrs: unknown): ReadonlyMap<number, Uint8Array> {
  requireThat(pcrs instanceof Map && pcrs.size >= 1 && pcrs.size <= 32, 'pcrs-invalid');
  const parsed = new Map<number, Uint8Array>();
  for (const [index, value] of pcrs as ReadonlyMap<unknown, unknown>) {
    const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0;
    requireThat(isIndex && index < 32, 'pcrs-invalid');
    const isMeasurement = value instanceof Uint8Array && [32, 48, 64].includes(value.length);
    requireThat(isMeasurement, 'pcrs-invalid');
    parsed.set(index, value);
  }
  return parsed;
}

function isBytes(value: unknown, min: number, max: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length >= min && value.length <= max;
}

/** Not in constant time: everything that is compared in this room is public. */
export function areBytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
