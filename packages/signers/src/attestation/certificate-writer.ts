/**
 * Makes the X.509 certificates of a development root. Tests compare them with Node's own reader.
 *
 * @module
 */
import { type KeyObject, randomBytes, sign } from 'node:crypto';
import { derTags } from './der.ts';
import {
  writeCriticalExtension,
  writeDer,
  writeSequence,
  writeUnsigned,
  writeUtcTime,
} from './der-writer.ts';

export type CertificateContent = {
  /** DER of the names. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly issuerKey: KeyObject;
  /** Milliseconds since the epoch. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** DER of each extension. */
  readonly extensions: readonly Uint8Array[];
};

const ecdsaWithSha384 = Buffer.from('300a06082a8648ce3d040303', 'hex');

/** @returns DER of a version 3 certificate, signed with ECDSA and SHA-384 */
export function writeCertificate(content: CertificateContent): Uint8Array {
  const body = writeSequence(
    writeDer(derTags.context0, writeUnsigned(Uint8Array.of(2))),
    writeUnsigned(randomBytes(16)),
    ecdsaWithSha384,
    content.issuer,
    writeSequence(writeUtcTime(content.notBeforeMs), writeUtcTime(content.notAfterMs)),
    content.subject,
    content.publicKey.export({ type: 'spki', format: 'der' }),
    writeDer(derTags.context3, writeSequence(...content.extensions)),
  );
  const signature = sign('sha384', body, content.issuerKey);
  const bits = writeDer(derTags.bitString, Uint8Array.of(0), signature);
  return writeSequence(body, ecdsaWithSha384, bits);
}

/** @param pathLength - how many authorities may follow below; omitted: no limit */
export function writeBasicConstraints(isAuthority: boolean, pathLength?: number): Uint8Array {
  // DER leaves out a value that is the default, so FALSE is an empty sequence.
  const flag = isAuthority ? [writeDer(derTags.boolean, Uint8Array.of(0xff))] : [];
  const limit = pathLength === undefined ? [] : [writeUnsigned(Uint8Array.of(pathLength))];
  return writeCriticalExtension('551d13', writeSequence(...flag, ...limit));
}

/** @param use - `certificates`: keyCertSign; `data`: digitalSignature */
export function writeKeyUsage(use: 'certificates' | 'data'): Uint8Array {
  const [unused, bits] = use === 'certificates' ? [2, 0x04] : [7, 0x80];
  return writeCriticalExtension('551d0f', writeDer(derTags.bitString, Uint8Array.of(unused, bits)));
}
