// Documents that secure modules of real enclaves made (vectors/attestation.json). Nobody asked them with a nonce, so a missing nonce is
// the only thing that is wrong with them: their encoding, chain, signature and measurements pass every check before it.
import { hexToBytes } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/attestation.json' with { type: 'json' };
import { type AttestationVerdict, verifyAttestation } from './verify-attestation.ts';

type Row = (typeof vectors.documents)[number];

function verify(
  row: Row,
  document: Uint8Array,
  nowMs = row.timestampMs + 1000,
): AttestationVerdict {
  const [pcr0 = '', pcr1 = '', pcr2 = ''] = row.pcrs;
  return verifyAttestation(document, {
    rootSha256: hexToBytes(vectors.rootSha256, 32),
    pcrs: [hexToBytes(pcr0, 48), hexToBytes(pcr1, 48), hexToBytes(pcr2, 48)],
    nonce: new Uint8Array(32).fill(1),
    publicKey: new Uint8Array(33).fill(2),
    nowMs,
  });
}

describe.each(vectors.documents)('a document from hardware: $what', (row) => {
  const document = hexToBytes(row.document);

  it('passes every check up to its measurements', () => {
    expect(verify(row, document)).toMatchObject({ state: 'refused', defect: 'nonce-missing' });
  });

  it('is refused with another PCR0 as the pin', () => {
    const other = { ...row, pcrs: [row.pcrs[1] ?? '', ...row.pcrs.slice(1)] };
    expect(verify(other, document)).toMatchObject({ defect: 'pcr0-mismatch' });
  });

  it('is refused with a flipped signature', () => {
    const last = document.length - 1;
    const flipped = document.with(last, (document[last] ?? 0) ^ 1);
    expect(verify(row, flipped)).toMatchObject({ defect: 'cose-signature' });
  });

  it('is refused four hours later, because its leaf lives three', () => {
    const later = row.timestampMs + 4 * 3_600_000;
    expect(verify(row, document, later)).toMatchObject({ defect: 'certificate-expired' });
  });
});
