/**
 * The chain from the pinned root to the leaf (RFC 5280 §6, without policies, name constraints and revocation lists).
 *
 * The bundle comes with the document, so its first certificate is only a claim: it counts if its SHA-256 is the pinned one. A root of
 * the same name, or one that signs the same names, has another fingerprint.
 *
 * @module
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isProduction } from '../config.ts';
import { refuse, requireThat } from './attestation-defect.ts';
import { areBytesEqual } from './attestation-document.ts';
import { type Certificate, parseCertificate } from './certificate.ts';
import { isDevelopmentRoot } from './development-marker.ts';

export type ChainExpectation = {
  /** SHA-256 of the DER of the root, 32 bytes. */
  readonly rootSha256: Uint8Array;
  readonly allowInsecureDevelopmentRoot: boolean;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
};

/**
 * @param cabundle - DER of the authorities, root first
 * @returns the key of the leaf
 * @throws AttestationError
 */
export function verifyCertificateChain(
  cabundle: readonly Uint8Array[],
  leaf: Uint8Array,
  expected: ChainExpectation,
): KeyObject {
  const rootDer = cabundle[0] ?? refuse('cabundle-size');
  const fingerprint = createHash('sha256').update(rootDer).digest();
  requireThat(areBytesEqual(fingerprint, expected.rootSha256), 'root-foreign');
  const root = parseCertificate(rootDer);
  requireRootKind(root, expected.allowInsecureDevelopmentRoot);

  const authorities = [root, ...cabundle.slice(1).map(parseCertificate)];
  let issuer = root;
  for (const [index, certificate] of authorities.entries()) {
    verifyLink(certificate, issuer, expected.nowMs);
    requireAuthority(certificate, authorities.length - 1 - index);
    issuer = certificate;
  }
  const last = parseCertificate(leaf);
  verifyLink(last, issuer, expected.nowMs);
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

function requireRootKind(root: Certificate, allowInsecureDevelopmentRoot: boolean): void {
  if (!isDevelopmentRoot(root)) {
    return;
  }
  requireThat(!isProduction(), 'root-development-in-production');
  requireThat(allowInsecureDevelopmentRoot, 'root-development');
}

function importKey({ publicKey }: Certificate): KeyObject {
  try {
    // OpenSSL refuses a point that is not on the curve.
    return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
  } catch {
    return refuse('certificate-key');
  }
}
