// The audit's case for an enclave: its host moves the clock by days, and each day would give its limit again. The secure module dates every
// document by a clock that its host does not set.
import { hexToBytes, Secret } from '@pool/core';
import { openLedger, type SignRequest } from '@pool/policy';
import { expect, it, onTestFinished } from 'vitest';
import { makeFundFile, makePolicy, nowMs, requestFor } from '../fixtures/enclave-files.ts';
import { root } from '../fixtures/fake-enclave.ts';
import { privateKey } from '../fixtures/requests.ts';
import { createMemoryKey } from '../signing-key.ts';
import { type Attester, createDevelopmentAttester } from './attester.ts';
import { createEnclave } from './enclave-core.ts';
import type { SignAnswer } from './messages.ts';
import { serializeSignRequest } from './wire-request.ts';

const dayMs = 86_400_000;

/** @param module - dates its documents by a clock of its own */
function openEnclave(module: Attester = createDevelopmentAttester(root, () => nowMs)) {
  let clockMs = nowMs;
  const ledger = openLedger({ path: ':memory:', role: 'voter' });
  onTestFinished(() => ledger.close());
  const enclave = createEnclave({
    key: createMemoryKey(new Secret(hexToBytes(privateKey, 32))),
    policy: makePolicy({ holders: [] }),
    ledger,
    attester: module,
    nowMs: () => clockMs,
  });
  return {
    ledger,
    setClock(atMs: number): void {
      clockMs = atMs;
    },
    /** A batch of two thirds of the day's limit, with a deadline of an hour from the enclave's clock. */
    askFor(jobKey: string): SignAnswer {
      const deadline = Math.floor(clockMs / 1000) + 3_600;
      const request: SignRequest = requestFor(makeFundFile({ jobKey, deadline }));
      return enclave.sign(serializeSignRequest(request));
    },
  };
}

it('signs nothing while its clock is days from that of the module, and the right clock goes on', () => {
  const { askFor, setClock, ledger } = openEnclave();
  const answers = [-1, 1, 2, 3, 365].map((days) => {
    setClock(nowMs + days * dayMs);
    return askFor(`${days} days`);
  });
  expect(answers.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'later'));
  expect(answers[0]).toMatchObject({ reason: 'clock-differs' });
  expect(ledger.status().votes).toBe(0);
  setClock(nowMs + 240_000);
  expect(askFor('today')).toMatchObject({ state: 'signed' });
});

it.each<[string, Attester]>([
  [
    'the module makes no document',
    {
      attest: () => {
        throw new Error('no device');
      },
    },
  ],
  [
    'the document is one of an earlier question',
    {
      attest: (request) =>
        createDevelopmentAttester(root, () => nowMs).attest({
          ...request,
          nonce: new Uint8Array(32),
        }),
    },
  ],
  ['the document cannot be read', { attest: () => Uint8Array.of(1, 2, 3) }],
])('signs nothing while %s', (_what, module) => {
  const { askFor } = openEnclave(module);
  expect(askFor('today')).toMatchObject({ state: 'later', reason: 'facts-unavailable' });
});
