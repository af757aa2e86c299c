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
  requireTags,
} from './der.ts';

// A development root carries its mark in its name, inside the signed part, so that its owner cannot forget to tell. It is accepted only
// with `allowInsecureDevelopmentRoot`, and never under NODE_ENV=production: its key is in a file of a developer.

/** Part of the subject of every development root. */
export const developmentRootMark = 'INSECURE development root';

export function isDevelopmentRoot({ subject }: Pick<Certificate, 'subject'>): boolean {
  return Buffer.from(subject).includes(developmentRootMark);
}

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

/** DER of the algorithm. */
export const ecdsaWithSha384 = hex('300a06082a8648ce3d040303');
const p384KeyPrefix = hex('3076301006072a8648ce3d020106052b8104002203620004');
const { sequence, integer, context0, context3 } = derTags;
const any = undefined;
export const keyUsageOid = '551d0f';
export const basicConstraintsOid = '551d13';

/** @throws AttestationError */
export function parseCertificate(der: Uint8Array): Certificate {
  const [body, algorithm, signature] = requireTags(readDerSequence(der), [sequence, any, any]);
  requireThat(isEncoded(algorithm, ecdsaWithSha384), 'certificate-algorithm');
  return {
    signedBytes: body.encoded,
    signature: parseBitString(signature),
    ...parseBody(body.contents),
  };
}

type Body = Omit<Certificate, 'signedBytes' | 'signature'>;

function parseBody(contents: Uint8Array): Body {
  const [version, _serial, algorithm, issuer, validity, subject, key, extensions] = requireTags(
    readDerValues(contents),
    [context0, integer, any, sequence, sequence, sequence, any, context3],
  );
  // Version 3 has the number 2. Versions 1 and 2 have no extensions, so no CA flag.
  requireThat(
    parseDerSmallInteger(readDer(version.contents, integer)) === 2,
    'certificate-malformed',
  );
  // RFC 5280 §4.1.1.2: the algorithm is inside the signed part too, so that nobody replaces it.
  requireThat(isEncoded(algorithm, ecdsaWithSha384), 'certificate-algorithm');
  const isP384 =
    key.encoded.length === p384KeyPrefix.length + 96 &&
    isEncoded({ encoded: key.encoded.subarray(0, p384KeyPrefix.length) }, p384KeyPrefix);
  requireThat(isP384, 'certificate-key');
  const [notBefore, notAfter] = requireTags(readDerValues(validity.contents), [any, any]);
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
  requireThat(tag === sequence, 'certificate-malformed');
  const values = readDerValues(contents);
  const [flag] = values.length === 3 ? values.splice(1, 1) : [];
  requireThat(flag === undefined || flag.tag === derTags.boolean, 'certificate-malformed');
  const [oid, value] = requireTags(values, [derTags.oid, derTags.octetString]);
  const isCritical = flag !== undefined && parseDerBoolean(flag);
  return { oid: Buffer.from(oid.contents).toString('hex'), isCritical, value: value.contents };
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
