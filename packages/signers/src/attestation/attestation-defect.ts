/**
 * Every reason for which an attestation is refused (docs/decisions/0015). Each has one name and one sentence. Both are stable, and
 * neither contains bytes of the document.
 *
 * @module
 */

const sentences = {
  // The envelope
  'document-too-large': 'the document has more than 16,384 bytes',
  'cbor-malformed': 'the document is not CBOR',
  'cbor-trailing-bytes': 'bytes follow the document or its payload',
  'cbor-duplicate-key': 'a map has one key twice',
  'cbor-not-minimal': 'an integer or a length is not in its shortest form',
  'cbor-indefinite-length':
    'a list, a map or a string has no length; only the outermost map of the payload may have none',
  'cbor-type': 'the document has a tag, a floating-point number or an undefined value',
  'cose-tagged': 'the COSE_Sign1 structure is tagged',
  'cose-shape': 'the COSE_Sign1 structure is not a list of three byte strings and a map',
  'cose-protected-header': 'the protected header is not a1013822, which is ES384 and nothing else',
  'cose-unprotected-header': 'the unprotected header is not empty',
  'cose-signature-size': 'the signature does not have 96 bytes',
  'cose-signature': "the signature does not verify under the leaf certificate's key",
  // The fields
  'field-missing': 'one of the nine fields is missing',
  'field-unknown': 'there is a field beside the nine',
  'module-id-invalid': 'module_id is not a text of 1–256 characters',
  'digest-invalid': 'digest is not SHA384',
  'timestamp-invalid': 'timestamp is not a positive whole number of milliseconds',
  'pcrs-invalid':
    'pcrs is not a map from 1–32 whole numbers below 32 to byte strings of 32, 48 or 64 bytes',
  'certificate-size': 'certificate is not a byte string of 1–1,024 bytes',
  'cabundle-size': 'cabundle is not a list of 1–8 byte strings of 1–1,024 bytes',
  'public-key-size': 'public_key is neither null nor a byte string of 1–1,024 bytes',
  'user-data-size': 'user_data is neither null nor a byte string of at most 512 bytes',
  'nonce-size': 'nonce is neither null nor a byte string of at most 512 bytes',
  // The chain
  'root-foreign': "the bundle's first certificate is not the pinned root",
  'root-development': 'the root is a development root, which needs allowInsecureDevelopmentRoot',
  'root-development-in-production': 'a development root is not accepted under NODE_ENV=production',
  'certificate-malformed': 'a certificate is not an X.509 version 3 certificate in strict DER',
  'certificate-algorithm': 'a certificate is not signed with ECDSA and SHA-384',
  'certificate-key': 'the public key of a certificate is not an uncompressed point of P-384',
  'certificate-extension': 'a certificate has a critical extension that is not known here',
  'certificate-issuer': 'the issuer of a certificate is not the subject of the one before it',
  'certificate-signature': 'a certificate is not signed by the one before it',
  'certificate-not-yet-valid': 'a certificate is not valid yet; check the clock',
  'certificate-expired': 'a certificate has expired; check the clock',
  'ca-flag-missing': 'a certificate in the bundle is not marked as that of an authority',
  'path-too-long': 'an authority in the bundle may not have so many authorities below it',
  'key-usage': 'the key usage of a certificate does not permit what the chain uses it for',
  'leaf-is-authority': 'the leaf certificate is marked as that of an authority',
  // What we expect
  'pin-invalid': 'a pin is not 48 bytes, or the pinned fingerprint or the nonce is too short',
  'pin-zero': 'a pinned PCR is zero: it would accept an enclave in debug mode',
  'pcr-missing': 'PCR0, PCR1 or PCR2 is not in the document',
  'pcr0-zero': 'PCR0 is zero: the enclave is in debug mode',
  'pcr1-zero': 'PCR1 is zero: the enclave is in debug mode',
  'pcr2-zero': 'PCR2 is zero: the enclave is in debug mode',
  'pcr0-mismatch': 'PCR0 (the image) is not the pinned one',
  'pcr1-mismatch': 'PCR1 (kernel and boot) is not the pinned one',
  'pcr2-mismatch': 'PCR2 (the application) is not the pinned one',
  'nonce-missing': 'the document has no nonce',
  'nonce-mismatch': 'the nonce is not the one that was sent: the document answers another request',
  'timestamp-old': 'the document is older than the limit; check both clocks',
  'timestamp-future': 'the document is dated after our clock; check both clocks',
  'public-key-missing': 'the document has no public key',
  'public-key-mismatch': 'the public key is not that of the signing key',
} as const satisfies Readonly<Record<string, string>>;

export type AttestationDefect = keyof typeof sentences;

/** One sentence for people. It contains nothing of the document. */
export function describeAttestationDefect(defect: AttestationDefect): string {
  return sentences[defect];
}

/** Every defect, for tests and tables. */
export const attestationDefects: readonly AttestationDefect[] = Object.keys(
  sentences,
) as AttestationDefect[];

/** Leaves the verifier at the first defect. `verifyAttestation` turns it into a verdict; it never leaves this room. */
export class AttestationError extends Error {
  override readonly name = 'AttestationError';
  readonly defect: AttestationDefect;

  constructor(defect: AttestationDefect) {
    super(sentences[defect]);
    this.defect = defect;
  }
}

export function refuse(defect: AttestationDefect): never {
  throw new AttestationError(defect);
}

/** @throws AttestationError unless the condition holds */
export function requireThat(condition: boolean, defect: AttestationDefect): asserts condition {
  if (!condition) {
    refuse(defect);
  }
}
