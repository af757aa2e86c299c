/**
 * The parts of an X.509 version 3 certificate (RFC 5280) that an attestation chain needs, from strict DER. One algorithm is known:
 * ECDSA with SHA-384 under P-384 keys, which is what the chain of a secure module uses.
 *
 * @module
 */
import { refuse, requireThat } from './attestation-defect.ts';
import {
  type DerValue,
  derTags,
  parseDerBoolean,
  parseDerSmallInteger,
  parseDerTime,
  readDer,
  readDerSequence,
  readDerValues,
} from './der.ts';

export type Certificate = {
  /** DER of the part that is signed. */
  readonly signedBytes: Uint8Array;
  /** DER of an ECDSA signature. */
  readonly signature: Uint8Array;
  /** DER of the names. Compared byte by byte. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** First and last moment of validity, milliseconds since the epoch. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** DER of SubjectPublicKeyInfo: a P-384 key. */
  readonly publicKey: Uint8Array;
  readonly isAuthority: boolean;
  /** How many authorities may follow below this one. Undefined: no limit. */
  readonly pathLength: number | undefined;
  /** Undefined if the certificate does not name its uses. */
  readonly keyUsage:
    | { readonly signsData: boolean; readonly signsCertificates: boolean }
    | undefined;
};

const ecdsaWithSha384 = hex('300a06082a8648ce3d040303');
const p384KeyPrefix = hex('3076301006072a8648ce3d020106052b8104002203620004');
const keyUsageOid = '551d0f';
const basicConstraintsOid = '551d13';

/** @throws AttestationError */
export function parseCertificate(der: Uint8Array): Certificate {
  const [body, algorithm, signature, ...rest] = readDerSequence(der);
  requireThat(
    body?.tag === derTags.sequence && algorithm !== undefined && signature !== undefined,
    'certificate-malformed',
  );
  requireThat(rest.length === 0, 'certificate-malformed');
  requireThat(isEncoded(algorithm, ecdsaWithSha384), 'certificate-algorithm');
  return {
    signedBytes: body.encoded,
    signature: parseBitString(signature),
    ...parseBody(body.contents),
  };
}

type Body = Omit<Certificate, 'signedBytes' | 'signature'>;

function parseBody(contents: Uint8Array): Body {
  const [version, serial, algorithm, issuer, validity, subject, key, extensions, ...rest] =
    readDerValues(contents);
  // Version 3 has the number 2. Versions 1 and 2 have no extensions, so no CA flag.
  const isVersion3 =
    version?.tag === derTags.context0 &&
    parseDerSmallInteger(readDer(version.contents, derTags.integer)) === 2;
  requireThat(isVersion3, 'certificate-malformed');
  requireThat(
    serial?.tag === derTags.integer &&
      issuer?.tag === derTags.sequence &&
      validity?.tag === derTags.sequence &&
      subject?.tag === derTags.sequence &&
      extensions?.tag === derTags.context3 &&
      rest.length === 0,
    'certificate-malformed',
  );
  // RFC 5280 §4.1.1.2: the algorithm is inside the signed part too, so that nobody replaces it.
  requireThat(isEncoded(algorithm, ecdsaWithSha384), 'certificate-algorithm');
  const isP384 =
    key?.encoded.length === p384KeyPrefix.length + 96 &&
    isEncoded({ encoded: key.encoded.subarray(0, p384KeyPrefix.length) }, p384KeyPrefix);
  requireThat(isP384, 'certificate-key');
  const [notBefore, notAfter, ...others] = readDerValues(validity.contents);
  requireThat(
    notBefore !== undefined && notAfter !== undefined && others.length === 0,
    'certificate-malformed',
  );
  return {
    issuer: issuer.encoded,
    subject: subject.encoded,
    notBeforeMs: parseDerTime(notBefore),
    notAfterMs: parseDerTime(notAfter),
    publicKey: key.encoded,
    ...parseExtensions(readDerSequence(extensions.contents)),
  };
}

type Extensions = Pick<Certificate, 'isAuthority' | 'pathLength' | 'keyUsage'>;

function parseExtensions(extensions: readonly DerValue[]): Extensions {
  let parsed: Extensions = { isAuthority: false, pathLength: undefined, keyUsage: undefined };
  const seen = new Set<string>();
  for (const extension of extensions) {
    const { oid, isCritical, value } = parseExtension(extension);
    requireThat(!seen.has(oid), 'certificate-malformed');
    seen.add(oid);
    if (oid === basicConstraintsOid) {
      parsed = { ...parsed, ...parseBasicConstraints(value) };
    } else if (oid === keyUsageOid) {
      parsed = { ...parsed, keyUsage: parseKeyUsage(value) };
    } else {
      // RFC 5280 §4.2: what is critical and not understood makes the certificate unusable.
      requireThat(!isCritical, 'certificate-extension');
    }
  }
  return parsed;
}

function parseExtension({ tag, contents }: DerValue): {
  readonly oid: string;
  readonly isCritical: boolean;
  readonly value: Uint8Array;
} {
  requireThat(tag === derTags.sequence, 'certificate-malformed');
  const values = readDerValues(contents);
  const [oid, second] = values;
  const last = values.at(-1);
  const isShaped =
    oid?.tag === derTags.oid &&
    last?.tag === derTags.octetString &&
    (values.length === 2 || (values.length === 3 && second?.tag === derTags.boolean));
  requireThat(isShaped, 'certificate-malformed');
  const isCritical = values.length === 3 && second !== undefined && parseDerBoolean(second);
  return { oid: Buffer.from(oid.contents).toString('hex'), isCritical, value: last.contents };
}

function parseBasicConstraints(der: Uint8Array): Pick<Certificate, 'isAuthority' | 'pathLength'> {
  const values = readDerSequence(der);
  const flag = values[0]?.tag === derTags.boolean ? values.shift() : undefined;
  const limit = values[0]?.tag === derTags.integer ? values.shift() : undefined;
  const isAuthority = flag !== undefined && parseDerBoolean(flag);
  // A limit is only meaningful for an authority (RFC 5280 §4.2.1.9).
  requireThat(values.length === 0 && (isAuthority || limit === undefined), 'certificate-malformed');
  return { isAuthority, pathLength: limit === undefined ? undefined : parseDerSmallInteger(limit) };
}

function parseKeyUsage(der: Uint8Array): Certificate['keyUsage'] {
  const [unused = 8, first, ...rest] = readDer(der, derTags.bitString).contents;
  requireThat(unused < 8 && first !== undefined && rest.length <= 1, 'certificate-malformed');
  // Bit 0 is the highest one: digitalSignature. Bit 5: keyCertSign.
  return { signsData: (first & 0x80) !== 0, signsCertificates: (first & 0x04) !== 0 };
}

function parseBitString({ tag, contents }: DerValue): Uint8Array {
  const unused = contents[0] ?? refuse('certificate-malformed');
  requireThat(tag === derTags.bitString && unused === 0, 'certificate-malformed');
  return contents.subarray(1);
}

function isEncoded(value: Pick<DerValue, 'encoded'> | undefined, expected: Uint8Array): boolean {
  return value !== undefined && Buffer.compare(value.encoded, expected) === 0;
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'));
}
