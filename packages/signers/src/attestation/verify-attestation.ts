/**
 * The strict verifier of attestation documents (docs/decisions/0015). An attestation says: the holder of the secret key to `public_key`
 * runs the measured code, and answered this nonce now. The answer is a verdict; nothing is believed before every check passed.
 *
 * Order: shape, limits, chain, signature, then what we expect. Certificate revocation lists are not read.
 *
 * @module
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isProduction } from '../config.ts';
import {
  type AttestationDefect,
  AttestationError,
  describeAttestationDefect,
  refuse,
  requireThat,
} from './attestation-defect.ts';
import {
  type AttestationDocument,
  areBytesEqual,
  parseAttestationDocument,
  parseCoseSign1,
} from './attestation-document.ts';
import { type Certificate, isDevelopmentRoot, parseCertificate } from './certificate.ts';

// The chain from the pinned root to the leaf (RFC 5280 §6, without policies, name constraints and revocation lists).
//
// The bundle comes with the document, so its first certificate is only a claim: it counts if its SHA-256 is the pinned one. A root of
// the same name, or one that signs the same names, has another fingerprint.

/** @returns the key of the leaf. @throws AttestationError */
function verifyCertificateChain(
  { cabundle, certificate: leaf }: AttestationDocument,
  { rootSha256, allowInsecureDevelopmentRoot = false, nowMs }: AttestationExpectation,
): KeyObject {
  const rootDer = cabundle[0] ?? refuse('cabundle-size');
  const fingerprint = createHash('sha256').update(rootDer).digest();
  requireThat(areBytesEqual(fingerprint, rootSha256), 'root-foreign');
  const root = parseCertificate(rootDer);
  if (isDevelopmentRoot(root)) {
    requireThat(!isProduction(), 'root-development-in-production');
    requireThat(allowInsecureDevelopmentRoot, 'root-development');
  }

  const authorities = [root, ...cabundle.slice(1).map(parseCertificate)];
  let issuer = root;
  for (const [index, certificate] of authorities.entries()) {
    verifyLink(certificate, issuer, nowMs);
    requireAuthority(certificate, authorities.length - 1 - index);
    issuer = certificate;
  }
  const last = parseCertificate(leaf);
  verifyLink(last, issuer, nowMs);
  requireThat(!last.isAuthority, 'leaf-is-authority');
  requireThat(last.keyUsage?.signsData === true, 'key-usage');
  return importKey(last);
}

/** The root signs itself, so it is the issuer of its own link. */
function verifyLink(certificate: Certificate, issuer: Certificate, nowMs: number): void {
  requireThat(areBytesEqual(certificate.issuer, issuer.subject), 'certificate-issuer');
  const isSigned = verify(
    'sha384',
    certificate.signedBytes,
    importKey(issuer),
    certificate.signature,
  );
  requireThat(isSigned, 'certificate-signature');
  requireThat(certificate.notBeforeMs <= nowMs, 'certificate-not-yet-valid');
  // RFC 5280 §4.1.2.5: the last second is part of the validity.
  requireThat(nowMs < certificate.notAfterMs + 1000, 'certificate-expired');
}

/** @param below - how many authorities follow below this one; the leaf does not count (RFC 5280 §4.2.1.9) */
function requireAuthority({ isAuthority, pathLength, keyUsage }: Certificate, below: number): void {
  requireThat(isAuthority, 'ca-flag-missing');
  requireThat(keyUsage?.signsCertificates === true, 'key-usage');
  requireThat(pathLength === undefined || below <= pathLength, 'path-too-long');
}

function importKey({ publicKey }: Certificate): KeyObject {
  try {
    // OpenSSL refuses a point that is not on the curve.
    return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
  } catch {
    return refuse('certificate-key');
  }
}

/** What the configuration pins. */
export type AttestationPins = {
  /** SHA-256 of the DER of the root certificate, 32 bytes. */
  readonly rootSha256: Uint8Array;
  /** PCR0, PCR1 and PCR2: 48 bytes each, none zero. */
  readonly pcrs: readonly [Uint8Array, Uint8Array, Uint8Array];
  /** Accept a root that is marked as a development root. Refused under NODE_ENV=production. Default: false. */
  readonly allowInsecureDevelopmentRoot?: boolean;
};

export type AttestationExpectation = AttestationPins & {
  /** The nonce of this request, 16–512 fresh random bytes. */
  readonly nonce: Uint8Array;
  /** The key that the enclave signs with, in the encoding that it attests: W in 33 bytes of SEC1. */
  readonly publicKey: Uint8Array;
  /** Milliseconds since the epoch, by our clock. */
  readonly nowMs: number;
  /** Greatest age of the document in milliseconds. Default: 5 minutes. */
  readonly maxAgeMs?: number;
  /** How far the document may be dated after our clock, in milliseconds. Default: 1 minute. */
  readonly maxSkewMs?: number;
};

export type AttestationVerdict =
  | {
      readonly state: 'valid';
      readonly document: Pick<
        AttestationDocument,
        'moduleId' | 'timestampMs' | 'pcrs' | 'userData'
      >;
    }
  | {
      readonly state: 'refused';
      readonly defect: AttestationDefect;
      /** One sentence, without bytes of the document. */
      readonly message: string;
    };

/**
 * Verifies an attestation document.
 *
 * @param document - an untagged COSE_Sign1, as the enclave returned it; hostile
 * @returns a verdict with the first defect; it throws for no document
 */
export function verifyAttestation(
  document: Uint8Array,
  expected: AttestationExpectation,
): AttestationVerdict {
  try {
    const { moduleId, timestampMs, pcrs, userData } = verifyDocument(document, expected);
    return { state: 'valid', document: { moduleId, timestampMs, pcrs, userData } };
  } catch (error) {
    if (error instanceof AttestationError) {
      const { defect } = error;
      return { state: 'refused', defect, message: describeAttestationDefect(defect) };
    }
    throw error;
  }
}

function verifyDocument(bytes: Uint8Array, expected: AttestationExpectation): AttestationDocument {
  requirePins(expected);
  const { signedBytes, payload, signature } = parseCoseSign1(bytes);
  const document = parseAttestationDocument(payload);
  const key = verifyCertificateChain(document, expected);
  const isSigned = verify('sha384', signedBytes, { key, dsaEncoding: 'ieee-p1363' }, signature);
  requireThat(isSigned, 'cose-signature');
  requireMeasurements(document, expected);
  requireFresh(document, expected);
  requireThat(document.publicKey !== undefined, 'public-key-missing');
  requireThat(areBytesEqual(document.publicKey, expected.publicKey), 'public-key-mismatch');
  return document;
}

// A pin of zeros would accept an enclave in debug mode, whose memory its host can read.
function requirePins({ rootSha256, pcrs, nonce }: AttestationExpectation): void {
  const isComplete = pcrs.length === 3 && pcrs.every((pin) => pin.length === 48);
  const isNonce = nonce.length >= 16 && nonce.length <= 512;
  requireThat(rootSha256.length === 32 && isComplete && isNonce, 'pin-invalid');
  requireThat(!pcrs.some(isZero), 'pin-zero');
}

const pcrDefects = [
  ['pcr0-zero', 'pcr0-mismatch'],
  ['pcr1-zero', 'pcr1-mismatch'],
  ['pcr2-zero', 'pcr2-mismatch'],
] as const;

function requireMeasurements(
  { pcrs }: AttestationDocument,
  expected: AttestationExpectation,
): void {
  for (const [index, [zero, mismatch]] of pcrDefects.entries()) {
    const measured = pcrs.get(index) ?? refuse('pcr-missing');
    // PCR3 and PCR4 of an enclave in debug mode are not zero, so only these three say it.
    requireThat(!isZero(measured), zero);
    requireThat(areBytesEqual(measured, expected.pcrs[index] ?? refuse('pin-invalid')), mismatch);
  }
}

// The nonce alone would let an enclave sign for a moment that has not come; the time alone would let a host replay minutes.
function requireFresh(
  { nonce, timestampMs }: AttestationDocument,
  expected: AttestationExpectation,
): void {
  const { nowMs, maxAgeMs = 300_000, maxSkewMs = 60_000 } = expected;
  requireThat(nonce !== undefined, 'nonce-missing');
  requireThat(areBytesEqual(nonce, expected.nonce), 'nonce-mismatch');
  requireThat(timestampMs >= nowMs - maxAgeMs, 'timestamp-old');
  requireThat(timestampMs <= nowMs + maxSkewMs, 'timestamp-future');
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
