/**
 * A writer of the little DER that a development root needs. It writes what {@link parseCertificate} reads; tests compare it with Node
 * and with an independent X.509 library.
 *
 * @module
 */
import { derTags } from './der.ts';

const printableTags = { utf8String: 0x0c, set: 0x31 } as const;

/** @param contents - at most 65,535 bytes */
export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(contents);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Uint8Array.from([tag, ...length, ...body]);
}

export function writeSequence(...contents: readonly Uint8Array[]): Uint8Array {
  return writeDer(derTags.sequence, ...contents);
}

/** @param value - big-endian, not negative */
export function writeUnsigned(value: Uint8Array): Uint8Array {
  const start = value.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Uint8Array.of(0) : value.subarray(start);
  // A leading zero keeps a high bit from reading as a sign.
  const sign = (digits[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array();
  return writeDer(derTags.integer, sign, digits);
}

/** A name with one attribute, CN (2.5.4.3). */
export function writeCommonName(text: string): Uint8Array {
  const value = writeDer(printableTags.utf8String, Buffer.from(text, 'utf8'));
  const oid = Buffer.from('0603550403', 'hex');
  return writeSequence(writeDer(printableTags.set, writeSequence(oid, value)));
}

/** @param timeMs - milliseconds since the epoch, before 2050 */
export function writeUtcTime(timeMs: number): Uint8Array {
  const digits = new Date(timeMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return writeDer(derTags.utcTime, Buffer.from(digits.slice(2), 'latin1'));
}

/** @param oid - the encoded identifier, without tag and length, hex */
export function writeCriticalExtension(oid: string, value: Uint8Array): Uint8Array {
  return writeSequence(
    writeDer(derTags.oid, Buffer.from(oid, 'hex')),
    writeDer(derTags.boolean, Uint8Array.of(0xff)),
    writeDer(derTags.octetString, value),
  );
}
