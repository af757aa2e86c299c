// Certificates that differ from a good one in exactly one part of their DER. Signatures are not looked at here.
import { describe, expect, it } from 'vitest';
import { chain, createChain } from '../fixtures/attestation.ts';
import { AttestationError } from './attestation-defect.ts';
import { parseCertificate } from './certificate.ts';
import { derTags, readDerSequence, readDerValues } from './der.ts';
import {
  writeBasicConstraints,
  writeCriticalExtension,
  writeDer,
  writeKeyUsage,
  writeSequence,
} from './development-attestation.ts';

const outer = readDerSequence(chain.leaf).map(({ encoded }) => encoded);
const body = readDerSequence(outer[0] ?? new Uint8Array()).map(({ encoded }) => encoded);
const none = new Uint8Array();

function integer(...bytes: readonly number[]): Uint8Array {
  return writeDer(derTags.integer, Uint8Array.from(bytes));
}

/** The leaf with one value of its outer sequence replaced. */
function withOuter(index: number, value: Uint8Array): Uint8Array {
  return writeSequence(...outer.with(index, value));
}

/** The leaf with one value of its signed part replaced. */
function withBody(index: number, value: Uint8Array): Uint8Array {
  return withOuter(0, writeSequence(...body.with(index, value)));
}

/** The leaf with these extensions. */
function withExtensions(...extensions: readonly Uint8Array[]): Uint8Array {
  return createChain({ leaf: { extensions } }).leaf;
}

function withTimes(...times: readonly string[]): Uint8Array {
  const values = times.map((text) => writeDer(derTags.utcTime, Buffer.from(text)));
  return withBody(4, writeSequence(...values));
}

function defectOf(der: Uint8Array): string | undefined {
  try {
    parseCertificate(der);
    return undefined;
  } catch (error) {
    return error instanceof AttestationError ? error.defect : `crash: ${String(error)}`;
  }
}

function bitString(...bytes: readonly number[]): Uint8Array {
  return writeDer(derTags.bitString, Uint8Array.from(bytes));
}

function constraints(...values: readonly Uint8Array[]): Uint8Array {
  return writeCriticalExtension('551d13', writeSequence(...values));
}

// A key identifier: nothing here reads it.
const unknownOid = Buffer.from('0603551d0e', 'hex');
const sha256Algorithm = Buffer.from('300a06082a8648ce3d040302', 'hex');
const yes = writeDer(derTags.boolean, Uint8Array.of(0xff));
const { notBefore, notAfter } = { notBefore: '260101000000Z', notAfter: '261231235959Z' };

const malformed: readonly (readonly [string, Uint8Array])[] = [
  ['nothing', none],
  ['a length beyond the end', Uint8Array.of(0x30, 0x05, 0x00)],
  ['no length', Uint8Array.of(0x30)],
  ['an indefinite length', Uint8Array.of(0x30, 0x80, 0x00, 0x00)],
  ['a long length that is short', Uint8Array.of(0x30, 0x81, 0x02, 0x05, 0x00)],
  ['a long length without its byte', Uint8Array.of(0x30, 0x81)],
  ['a length of two bytes without the second', Uint8Array.of(0x30, 0x82, 0x01)],
  [
    'a length of two bytes that fits one',
    Uint8Array.from([0x30, 0x82, 0, 0x80, ...Array(128).fill(5)]),
  ],
  ['a tag of several bytes', writeSequence(Uint8Array.of(0x1f, 0x81, 0x01, 0x00))],
  ['a set in place of the signed part', withOuter(0, writeDer(0x31, ...body))],
  ['no signature', writeSequence(...outer.slice(0, 2))],
  ['a fourth value', writeSequence(...outer, integer(1))],
  ['a signature that is no bit string', withOuter(2, writeDer(derTags.octetString, none))],
  ['a signature with unused bits', withOuter(2, bitString(1, 0))],
  ['an empty signature', withOuter(2, bitString())],
  ['version 1', withBody(0, writeDer(derTags.context0, integer(0)))],
  ['a version that is not an integer', withBody(0, writeDer(derTags.context0, yes))],
  ['no version', withOuter(0, writeSequence(...body.slice(1)))],
  ['a version of more bytes than it needs', withBody(0, writeDer(derTags.context0, integer(0, 2)))],
  ['a serial number that is no integer', withBody(1, yes)],
  ['an issuer that is no sequence', withBody(3, yes)],
  ['a validity that is no sequence', withBody(4, yes)],
  ['a subject that is no sequence', withBody(5, yes)],
  ['extensions under another tag', withBody(7, writeDer(0xa2, writeSequence()))],
  ['no extensions', withOuter(0, writeSequence(...body.slice(0, 7)))],
  ['a value after the extensions', withOuter(0, writeSequence(...body, integer(1)))],
  ['one date', withTimes(notBefore)],
  ['three dates', withTimes(notBefore, notAfter, notAfter)],
  ['a date without seconds', withTimes('2601010000Z', notAfter)],
  ['a date with an offset', withTimes('2601010000+0100', notAfter)],
  ['30 February', withTimes('260230000000Z', notAfter)],
  ['a date that is an integer', withBody(4, writeSequence(integer(1), integer(2)))],
  [
    'an extension that is no sequence',
    withExtensions(writeDer(0x31, unknownOid, writeDer(derTags.octetString))),
  ],
  ['an extension without a value', withExtensions(writeSequence(unknownOid))],
  [
    'an extension of four values',
    withExtensions(writeSequence(unknownOid, yes, yes, writeDer(derTags.octetString))),
  ],
  [
    'an extension with another value than a boolean in the middle',
    withExtensions(writeSequence(unknownOid, integer(1), writeDer(derTags.octetString))),
  ],
  [
    'a CA flag that is neither 0x00 nor 0xff',
    withExtensions(constraints(writeDer(1, Uint8Array.of(1)))),
  ],
  ['a CA flag of two bytes', withExtensions(constraints(writeDer(1, Uint8Array.of(0xff, 0xff))))],
  ['a path length without a CA flag', withExtensions(constraints(integer(1)))],
  ['a value after the path length', withExtensions(constraints(yes, integer(1), integer(1)))],
  ['a negative path length', withExtensions(constraints(yes, integer(0x80)))],
  ['a path length of five bytes', withExtensions(constraints(yes, integer(1, 2, 3, 4, 5)))],
  ['an empty path length', withExtensions(constraints(yes, integer()))],
  ['a key usage without bits', withExtensions(writeCriticalExtension('551d0f', bitString(0)))],
  [
    'a key usage with 8 unused bits',
    withExtensions(writeCriticalExtension('551d0f', bitString(8, 1))),
  ],
  [
    'a key usage of three bytes',
    withExtensions(writeCriticalExtension('551d0f', bitString(0, 1, 1, 1))),
  ],
  [
    'an extension twice',
    withExtensions(writeBasicConstraints(false), writeBasicConstraints(false)),
  ],
];

describe('parseCertificate', () => {
  it('reads names, dates, key, CA flag, path length and key usage', () => {
    expect(parseCertificate(chain.zone)).toMatchObject({ isAuthority: true, pathLength: 1 });
    expect(parseCertificate(chain.root)).toMatchObject({
      isAuthority: true,
      pathLength: undefined,
    });
    const { issuer, isAuthority, keyUsage, publicKey } = parseCertificate(chain.leaf);
    expect({ isAuthority, keyUsage }).toEqual({
      isAuthority: false,
      keyUsage: { signsData: true, signsCertificates: false },
    });
    expect(issuer).toEqual(parseCertificate(chain.host).subject);
    expect(readDerValues(publicKey)).toHaveLength(1);
  });

  it('reads both forms of dates', () => {
    const general = (text: string): Uint8Array =>
      writeDer(derTags.generalizedTime, Buffer.from(text));
    const der = withBody(4, writeSequence(general('20500101000000Z'), general('20501231235959Z')));
    expect(parseCertificate(der).notAfterMs).toBe(Date.UTC(2050, 11, 31, 23, 59, 59));
    expect(parseCertificate(withTimes('500101000000Z', notAfter)).notBeforeMs).toBe(
      Date.UTC(1950, 0, 1),
    );
  });

  it('accepts an extension that is not known if it is not critical', () => {
    const optional = writeSequence(unknownOid, writeDer(derTags.octetString, none));
    expect(defectOf(withExtensions(optional, writeKeyUsage('data')))).toBeUndefined();
  });

  it.each(malformed)('refuses %s', (_what, der) => {
    expect(defectOf(der)).toBe('certificate-malformed');
  });

  it('refuses another algorithm inside the signed part or outside it', () => {
    expect(defectOf(withBody(2, sha256Algorithm))).toBe('certificate-algorithm');
    expect(defectOf(withOuter(1, sha256Algorithm))).toBe('certificate-algorithm');
  });

  it('refuses a key of another form than an uncompressed point of P-384', () => {
    const key = body[6] ?? none;
    expect(defectOf(withBody(6, key.with(23, 0x03)))).toBe('certificate-key');
    expect(defectOf(withBody(6, writeSequence(key)))).toBe('certificate-key');
  });
});
