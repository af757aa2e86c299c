/**
 * Attestations under a development root: documents of the same form as those of a secure module, from a key in a file. They prove
 * nothing about a machine. `pool-enclave serve` uses them outside real enclaves, so that everything else runs as it does inside one.
 *
 * @module
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { encode } from 'cborg';
import { writeBasicConstraints, writeCertificate, writeKeyUsage } from './certificate-writer.ts';
import { writeCommonName } from './der-writer.ts';
import { developmentRootMark } from './development-marker.ts';

export type DevelopmentRoot = {
  /** DER of the self-signed root, public. Its SHA-256 is the pin. */
  readonly certificate: Uint8Array;
  /** PKCS#8 PEM of its P-384 key. */
  readonly privateKey: string;
};

/** What an enclave asks to be attested with its measurements. */
export type AttestationRequest = {
  readonly nonce: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly userData?: Uint8Array;
};

const rootYears = 5;
const dayMs = 86_400_000;
/** As on hardware: an attestation's leaf lives three hours. */
const leafMs = 3 * 3_600_000;

/** @param nowMs - milliseconds since the epoch; the root is valid from an hour before, for five years */
export function createDevelopmentRoot(nowMs: number): DevelopmentRoot {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const name = writeCommonName(`Pool ${developmentRootMark}`);
  const certificate = writeCertificate({
    issuer: name,
    subject: name,
    publicKey,
    issuerKey: privateKey,
    notBeforeMs: nowMs - 3_600_000,
    notAfterMs: nowMs + rootYears * 365 * dayMs,
    extensions: [writeBasicConstraints(true, 0), writeKeyUsage('certificates')],
  });
  return { certificate, privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}

/**
 * PCR0–2 of a development enclave. They are public and the same everywhere, because nothing is measured.
 * @returns SHA-384 of a label each, 48 bytes
 */
export function computeDevelopmentPcrs(): [Uint8Array, Uint8Array, Uint8Array] {
  return [computePcr(0), computePcr(1), computePcr(2)];
}

/** True: the pins are those of a development enclave, in which nothing is measured. */
export function areDevelopmentPcrs(pcrs: readonly Uint8Array[]): boolean {
  const known = computeDevelopmentPcrs();
  return (
    pcrs.length === known.length &&
    known.every((pcr, index) => Buffer.from(pcr).equals(pcrs[index] ?? new Uint8Array()))
  );
}

function computePcr(index: number): Uint8Array {
  const label = `pool/v1/development-enclave/pcr${index}`;
  return Uint8Array.from(createHash('sha384').update(label).digest());
}

/**
 * A fresh document, signed by a fresh leaf of the development root.
 * @param nowMs - milliseconds since the epoch
 */
export function createDevelopmentAttestation(
  root: DevelopmentRoot,
  { nonce, publicKey, userData }: AttestationRequest,
  nowMs: number,
): Uint8Array {
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const certificate = writeCertificate({
    issuer: writeCommonName(`Pool ${developmentRootMark}`),
    subject: writeCommonName('Pool development enclave'),
    publicKey: leaf.publicKey,
    issuerKey: createPrivateKey(root.privateKey),
    notBeforeMs: nowMs - 60_000,
    notAfterMs: nowMs + leafMs,
    extensions: [writeBasicConstraints(false), writeKeyUsage('data')],
  });
  const payload = encode({
    module_id: 'development-enclave',
    digest: 'SHA384',
    timestamp: nowMs,
    pcrs: new Map(computeDevelopmentPcrs().entries()),
    certificate,
    cabundle: [root.certificate],
    public_key: publicKey,
    user_data: userData ?? null,
    nonce,
  });
  return signDocument(payload, leaf.privateKey);
}

/** COSE_Sign1 with ES384, untagged (RFC 9052 §4.2). */
export function signDocument(payload: Uint8Array, key: KeyObject): Uint8Array {
  const header = Uint8Array.of(0xa1, 0x01, 0x38, 0x22);
  const signedBytes = encode(['Signature1', header, new Uint8Array(), payload]);
  const signature = sign('sha384', signedBytes, { key, dsaEncoding: 'ieee-p1363' });
  return encode([header, new Map(), payload, Uint8Array.from(signature)]);
}
