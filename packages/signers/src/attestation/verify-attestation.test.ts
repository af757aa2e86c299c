import { X509Certificate } from 'node:crypto';
import { encode } from 'cborg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  chain,
  createChain,
  createFields,
  expectation,
  keys,
  nowMs,
  signFields,
  signUnder,
} from '../fixtures/attestation.ts';
import {
  defectCases,
  development,
  developmentDocument,
  developmentPins,
  flip,
  join,
  payload,
  sign,
  valid,
  withLeaf,
} from '../fixtures/attestation-cases.ts';
import { type AttestationDefect, attestationDefects } from './attestation-defect.ts';
import { verifyAttestation } from './verify-attestation.ts';

afterEach(() => vi.unstubAllEnvs());

describe('verifyAttestation', () => {
  it('accepts a document under the pinned root with the pinned measurements', () => {
    const verdict = verifyAttestation(valid, expectation);
    expect(verdict).toMatchObject({ state: 'valid', document: { timestampMs: nowMs - 1000 } });
  });

  it('accepts a payload whose outermost map has no length, as recent secure modules encode it', () => {
    const open = sign(join([0xbf], payload.subarray(1), [0xff]));
    expect(verifyAttestation(open, expectation)).toMatchObject({ state: 'valid' });
  });

  it.each(defectCases)('refuses with $defect: $what', ({ defect, document, expected }) => {
    expect(verifyAttestation(document(), { ...expectation, ...expected })).toMatchObject({
      state: 'refused',
      defect,
    });
  });

  it('accepts exactly 5 minutes of age, 60 s ahead, and the last second of a certificate', () => {
    for (const document of [
      signFields({ timestamp: nowMs - 300_000 }),
      signFields({ timestamp: nowMs + 60_000 }),
      signUnder({ leaf: { notAfterMs: nowMs } }),
      signUnder({ leaf: { notBeforeMs: nowMs } }),
    ]) {
      expect(verifyAttestation(document, expectation)).toMatchObject({ state: 'valid' });
    }
  });

  it('refuses a document in which one byte of any field was changed after it was signed', () => {
    for (const [field, value] of createFields()) {
      const at = Buffer.from(valid).indexOf(encode(value)) + encode(value).length - 1;
      const verdict = verifyAttestation(flip(valid, at), expectation);
      expect({ field, state: verdict.state }).toEqual({ field, state: 'refused' });
    }
  });

  it('refuses a leaf whose key is not on the curve', () => {
    const spki = keys.leaf.publicKey.export({ type: 'spki', format: 'der' });
    const outside = flip(spki, spki.length - 1);
    const leaf = createChain({
      leaf: { publicKey: { export: () => outside } as unknown as typeof keys.leaf.publicKey },
    }).leaf;
    expect(verifyAttestation(withLeaf(leaf), expectation)).toMatchObject({
      defect: 'certificate-key',
    });
  });
});

describe('a development root', () => {
  it('is accepted only with allowInsecureDevelopmentRoot', () => {
    const expected = { ...expectation, ...developmentPins, allowInsecureDevelopmentRoot: true };
    expect(verifyAttestation(developmentDocument, expected)).toMatchObject({ state: 'valid' });
  });

  it('is refused under NODE_ENV=production, whatever the option says', () => {
    vi.stubEnv('NODE_ENV', 'production');
    const expected = { ...expectation, ...developmentPins, allowInsecureDevelopmentRoot: true };
    expect(verifyAttestation(developmentDocument, expected)).toMatchObject({
      defect: 'root-development-in-production',
    });
  });

  it('has certificates that Node reads and verifies as well', () => {
    const root = new X509Certificate(development.certificate);
    expect([root.ca, root.verify(root.publicKey), root.checkIssued(root)]).toEqual([
      true,
      true,
      true,
    ]);
    const leaf = new X509Certificate(chain.leaf);
    const host = new X509Certificate(chain.host);
    expect([leaf.ca, leaf.verify(host.publicKey), leaf.checkIssued(host)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(Date.parse(leaf.validTo)).toBe(nowMs + 3_600_000);
  });
});

it('has a test for every defect', () => {
  const tested = new Set<AttestationDefect>(defectCases.map(({ defect }) => defect));
  tested.add('root-development-in-production');
  expect([...tested].sort()).toEqual([...attestationDefects].sort());
});
