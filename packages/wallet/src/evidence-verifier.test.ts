// Evidence is verified once and pinned in one write, so that look-ups of many recipients stay cheap.
import { verifyEvidence } from '@pool/core';
import { createFakeHolder, fakeEvidenceDomain } from '@pool/testkit';
import { expect, it } from 'vitest';
import { createEvidenceVerifier } from './evidence-verifier.ts';
import type { PinnedEvidence } from './ports.ts';

const holders = [1, 2, 3].map((index) => createFakeHolder(index));
const claims = holders.map(({ address, walletPub, encryptionPublicKey, evidence }) => ({
  address,
  record: {
    address,
    readiness: 'ready' as const,
    walletPub,
    encryptionPublicKey,
    evidence: { ...evidence },
  },
}));

function createVerifier() {
  const writes: (readonly PinnedEvidence[])[] = [];
  const seen = { verified: 0, turns: 0 };
  const verifier = createEvidenceVerifier({
    domain: fakeEvidenceDomain,
    nowMs: () => Date.UTC(2026, 10, 21),
    pins: {
      async pinAll(evidence) {
        writes.push(evidence);
        return evidence.map(() => true);
      },
    },
    verify(...input) {
      seen.verified += 1;
      return verifyEvidence(...input);
    },
  });
  return { verifier, writes, seen };
}

it('verifies each signature once, however often it is served', async () => {
  const { verifier, seen } = createVerifier();
  for (const _ of [1, 2, 3]) {
    const verdicts = await verifier.verifyAll(claims);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['verified', 'verified', 'verified']);
  }
  expect(seen.verified).toBe(3);
});

it('treats another text or another signature as other evidence', async () => {
  const { verifier, seen } = createVerifier();
  await verifier.verifyAll(claims);
  const [first, second] = claims;
  const { record, address } = first!;
  const altered = { ...record.evidence, signature: second!.record.evidence.signature };
  const [verdict] = await verifier.verifyAll([
    { address, record: { ...record, evidence: altered } },
  ]);
  expect(verdict?.kind).toBe('refused');
  expect(seen.verified).toBe(4);
});

it('pins all valid evidence in one write, and no invalid evidence', async () => {
  const { verifier, writes } = createVerifier();
  const [first, second, third] = claims;
  const swapped = { ...second!, record: { ...second!.record, walletPub: holders[0]!.walletPub } };
  const verdicts = await verifier.verifyAll([first!, swapped, third!]);
  expect(verdicts.map(({ kind }) => kind)).toEqual(['verified', 'refused', 'verified']);
  expect(writes.map((write) => write.map(({ walletPub }) => walletPub))).toEqual([
    [holders[0]!.walletPub, holders[2]!.walletPub],
  ]);
});

it('yields to other work between two signatures', async () => {
  const { verifier, seen } = createVerifier();
  let isOver = false;
  const count = (): void => {
    seen.turns += 1;
    if (!isOver) {
      setImmediate(count);
    }
  };
  setImmediate(count);
  await verifier.verifyAll(claims);
  isOver = true;
  expect(seen.turns).toBeGreaterThanOrEqual(3);
});
