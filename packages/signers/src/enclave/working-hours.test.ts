// The working hours of an enclave's policy: outside them the enclave signs no new batch, and says when it does.
import { hexToBytes, Secret } from '@pool/core';
import { openLedger, type SignRequest } from '@pool/policy';
import { expect, it } from 'vitest';
import {
  approvalOf,
  makeFundFile,
  makePolicy,
  nowMs,
  nowSeconds,
  requestFor,
} from '../fixtures/enclave-files.ts';
import { createEnclaveOfEachRole } from '../fixtures/enclave-roles.ts';
import { root } from '../fixtures/fake-enclave.ts';
import { privateKey } from '../fixtures/requests.ts';
import { createMemoryKey } from '../signing-key.ts';
import { createDevelopmentAttester } from './attester.ts';
import type { SignAnswer } from './messages.ts';
import { serializeSignRequest } from './wire-request.ts';

it('lets no new batch through, names the hours, and still signs what belongs to an earlier batch', () => {
  let clockMs = nowMs;
  const now = (): number => clockMs;
  const at = new Date(nowMs);
  const hour = `${at.getUTCHours()}`.padStart(2, '0');
  const enclave = createEnclaveOfEachRole({
    key: createMemoryKey(new Secret(hexToBytes(privateKey, 32))),
    policy: makePolicy({
      workingHours: {
        timeZone: 'UTC',
        days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
        from: `${hour}:00`,
        to: `${hour}:59`,
      },
    }),
    ledger: openLedger({ path: ':memory:', role: 'voter' }),
    attester: createDevelopmentAttester(root, now),
    nowMs: now,
  });
  const ask = (request: SignRequest): SignAnswer => enclave.sign(serializeSignRequest(request));
  const first = makeFundFile({ deadline: nowSeconds + 14_000 });
  expect(ask(requestFor(first))).toMatchObject({ state: 'signed' });
  clockMs += 3_600_000;
  expect(ask(requestFor(first))).toMatchObject({ state: 'signed' });
  expect(ask(approvalOf(first, { value: 1000n }))).toMatchObject({ state: 'signed' });
  expect(ask(requestFor(makeFundFile({ jobKey: 'later', deadline: nowSeconds + 14_000 })))).toEqual(
    {
      state: 'later',
      reason: 'outside-working-hours',
      message: `The policy of the enclave signs batches on mon, tue, wed, thu, fri, sat, sun from ${hour}:00 to ${hour}:59 (UTC) only.`,
    },
  );
});
