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
  randomBytes,
  sign,
} from 'node:crypto';
import { encode } from 'cborg';
import { encodeSigned, protectedHeader } from './attestation-document.ts';
import {
  basicConstraintsOid,
  developmentRootMark,
  ecdsaWithSha384,
  keyUsageOid,
} from './certificate.ts';
import { derTags } from './der.ts';

// A writer of the little DER and of the X.509 certificates that a development root needs. Tests compare it with Node's own reader and with
// an independent X.509 library.

const [utf8StringTag, setTag] = [0x0c, 0x31];

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
  const value = writeDer(utf8StringTag, Buffer.from(text, 'utf8'));
  return writeSequence(writeDer(setTag, writeSequence(Buffer.from('0603550403', 'hex'), value)));
}

/** @param timeMs - milliseconds since the epoch, before 2050 */
function writeUtcTime(timeMs: number): Uint8Array {
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
  return writeCriticalExtension(basicConstraintsOid, writeSequence(...flag, ...limit));
}

/** @param use - `certificates`: keyCertSign; `data`: digitalSignature */
export function writeKeyUsage(use: 'certificates' | 'data'): Uint8Array {
  const [unused, bits] = use === 'certificates' ? [2, 0x04] : [7, 0x80];
  return writeCriticalExtension(
    keyUsageOid,
    writeDer(derTags.bitString, Uint8Array.of(unused, bits)),
  );
}

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
    notAfterMs: nowMs + 5 * 365 * 86_400_000,
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
  return Buffer.concat(pcrs).equals(Buffer.concat(known)) && pcrs.length === known.length;
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
    // As on hardware: three hours.
    notAfterMs: nowMs + 3 * 3_600_000,
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
  const signature = sign('sha384', encodeSigned(payload), { key, dsaEncoding: 'ieee-p1363' });
  return encode([protectedHeader, new Map(), payload, Uint8Array.from(signature)]);
}
