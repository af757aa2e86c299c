// A proof is verified under the key of the set that made it.

import { verificationKeys } from '@pool/circuits';
import { bigintToHex32 } from '@pool/core';
import { createMockProver } from '@pool/prover';
import type { ProvedBatch } from '@pool/wallet';
import { expect, it } from 'vitest';
import { createProverPort, createSpendProverPort } from './prover-port.ts';

const word = bigintToHex32(0n);
const proved: ProvedBatch = {
  proof: {
    a: [word, word],
    b: [
      [word, word],
      [word, word],
    ],
    c: [word, word],
  },
  publicSignals: [1n, 2n, 3n],
};

it('verifies with the pinned development keys by default', async () => {
  const seen: unknown[] = [];
  const prover = {
    ...createMockProver(),
    verify: async (key: unknown) => {
      seen.push(key);
      return true;
    },
  };
  const other = { ...verificationKeys['fund-64'], nPublic: 7 };
  await createProverPort(prover, 'real').verify(64, proved);
  await createProverPort(prover, 'real', async (circuit) => ({
    ...other,
    nPublic: circuit === 'fund-64' ? 7 : 0,
  })).verify(64, proved);
  expect(seen).toEqual([verificationKeys['fund-64'], other]);
});

it('reports why a key cannot be read', async () => {
  const port = createProverPort(createMockProver(), 'real', async () => {
    throw new Error('no such key');
  });
  await expect(port.verify(16, proved)).rejects.toThrow('no such key');
});

it('proves and verifies spends under the key of their own circuit', async () => {
  const seen: unknown[] = [];
  const mock = createMockProver();
  const prover: typeof mock = {
    ...mock,
    prove: async (request) => {
      seen.push(request.circuit);
      return await mock.prove(request);
    },
    verify: async (key) => {
      seen.push(key);
      return true;
    },
  };
  const port = createSpendProverPort(prover, 'real');
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  await port.prove('spend-16x8', { D: '1', z: '2', y: '3' }, options).catch(() => undefined);
  expect(await port.verify('spend-2x4', proved)).toBe(true);
  expect(seen).toEqual(['spend-16x8', verificationKeys['spend-2x4']]);
});
