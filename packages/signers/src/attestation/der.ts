/**
 * A reader of DER (X.690) for certificates, as strict as this use needs: definite lengths in their shortest form, single-byte tags,
 * and no byte that is not part of a value. Node's X509Certificate does not show path lengths, reads BER, and hides unknown critical
 * extensions; that is why this exists. It allocates nothing and does not recurse.
 *
 * @module
 */
import { refuse, requireThat } from './attestation-defect.ts';

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  context0: 0xa0,
  context3: 0xa3,
} as const;

export type DerValue = {
  readonly tag: number;
  /** The contents, without tag and length. */
  readonly contents: Uint8Array;
  /** Tag, length and contents. */
  readonly encoded: Uint8Array;
};

/** Splits the contents of a constructed value. @throws AttestationError */
export function readDerValues(bytes: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const value = readValueAt(bytes, offset);
    values.push(value);
    offset += value.encoded.length;
  }
  return values;
}

/** Reads the one value that fills the input. @throws AttestationError */
export function readDer(bytes: Uint8Array, tag: number): DerValue {
  return requireTags(readDerValues(bytes), [tag])[0];
}

/** The values inside a SEQUENCE that fills the input. @throws AttestationError */
export function readDerSequence(bytes: Uint8Array): DerValue[] {
  return readDerValues(readDer(bytes, derTags.sequence).contents);
}

/** The values, if they have exactly these tags. @param tags - undefined: any. @throws AttestationError */
export function requireTags<const TTags extends readonly (number | undefined)[]>(
  values: readonly DerValue[],
  tags: TTags,
): { readonly [Index in keyof TTags]: DerValue } {
  const hasTags = tags.every((tag, index) => tag === undefined || values[index]?.tag === tag);
  requireThat(values.length === tags.length && hasTags, 'certificate-malformed');
  return values as { readonly [Index in keyof TTags]: DerValue };
}

function readValueAt(bytes: Uint8Array, offset: number): DerValue {
  const tag = bytes[offset] ?? refuse('certificate-malformed');
  // Tags of several bytes do not occur in certificates.
  requireThat((tag & 0x1f) !== 0x1f, 'certificate-malformed');
  const first = bytes[offset + 1] ?? refuse('certificate-malformed');
  // 0x80 is the indefinite length of BER. A certificate has at most 1,024 bytes, so two bytes of length are enough.
  const size = first < 0x80 ? 0 : first - 0x80;
  requireThat(first < 0x80 || size === 1 || size === 2, 'certificate-malformed');
  const start = offset + 2 + size;
  const length = bytes.subarray(offset + 2, start).reduce((value, byte) => 256 * value + byte, 0);
  requireThat(size === 0 || length >= (size === 1 ? 0x80 : 0x100), 'certificate-malformed');
  const end = start + (size === 0 ? first : length);
  requireThat(end <= bytes.length, 'certificate-malformed');
  return { tag, contents: bytes.subarray(start, end), encoded: bytes.subarray(offset, end) };
}

/** @throws AttestationError for anything but 0x00 and 0xff */
export function parseDerBoolean({ contents }: DerValue): boolean {
  const byte = contents[0];
  requireThat(contents.length === 1 && (byte === 0 || byte === 0xff), 'certificate-malformed');
  return byte === 0xff;
}

/** A whole number of at most 4 bytes that is not negative. @throws AttestationError */
export function parseDerSmallInteger({ contents }: DerValue): number {
  const [first = 0x80, second = 0x80] = contents;
  const isShortest = contents.length === 1 || first !== 0 || second >= 0x80;
  const isSmall = contents.length <= 4 && first < 0x80;
  requireThat(isShortest && isSmall, 'certificate-malformed');
  return contents.reduce((value, byte) => 256 * value + byte, 0);
}

/** UTCTime or GeneralizedTime in the one form that RFC 5280 §4.1.2.5 allows. Milliseconds since the epoch. */
export function parseDerTime({ tag, contents }: DerValue): number {
  const text = String.fromCharCode(...contents);
  const pattern = tag === derTags.utcTime ? /^\d{12}Z$/ : /^\d{14}Z$/;
  const isTime = tag === derTags.utcTime || tag === derTags.generalizedTime;
  requireThat(isTime && pattern.test(text), 'certificate-malformed');
  // RFC 5280: two digits of 50 and more are of the last century.
  const century = text.slice(0, 2) >= '50' ? '19' : '20';
  const digits = tag === derTags.utcTime ? `${century}${text}` : text;
  const iso = digits.replace(/^(....)(..)(..)(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const timeMs = Date.parse(iso);
  // Date.parse accepts 30 February in some forms; the round trip does not.
  const isReal =
    Number.isFinite(timeMs) && new Date(timeMs).toISOString() === iso.replace('Z', '.000Z');
  requireThat(isReal, 'certificate-malformed');
  return timeMs;
}
