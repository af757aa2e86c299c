/** What is accepted while a chain is closed (chain/chain-door.ts). */
import { assertField, PoolError, type Secret } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createSettingsOnlyChain } from '../../../../packages/relayer/test/settings-only-chain.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createTestSettlement } from '../../../../packages/relayer/test/test-settlement.ts';
import { createTestSpend } from '../../../../packages/relayer/test/test-spend.ts';
import { createFakeGate, createTestPlatform } from '../fixtures/test-platform.ts';

const place = { ...testSettings, token: testSettings.tokens['USDC']?.address ?? '' };
const funder = new Wallet(`0x${'11'.repeat(32)}`);
const deadline = 1_800_000_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

it('accepts no new settlement or spend and enrols no wallet while every chain is closed, and answers what it stored', async () => {
  let closed: PoolError | undefined;
  const platform = createTestPlatform(database, {
    gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
    poolChains: new Map([['anvil', createSettingsOnlyChain(testSettings)]]),
    findClosed: () => closed,
  });
  const edgeOf = (token: Secret) =>
    createEdgeClient({ url: `${platform.url}/agent-edge`, token, fetch: platform.fetch });
  const [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  const target = { settings: testSettings, token: place.token, funder, timestamp: deadline };
  const settlement = await createTestSettlement(target, { eligibilityRoot: assertField(5n) });
  const spend = await createTestSpend(place, a, { noteRoot: assertField(7n), deadline });
  const session = await platform.signIn(a);
  await session.register();
  const employer = edgeOf((await platform.edgeToken(a.address)).token);
  const holder = edgeOf((await session.mintKey('holder.transfer', 'x')).apiKey);
  const other = await platform.signIn(b);
  await other.register();
  await employer.postSettlement('job-1', settlement.request);

  closed = new PoolError('pool_code_differs', 'chain anvil is closed');
  const refused = { code: 'pool_code_differs', status: 503 };
  expect((await employer.bootstrap()).relayer).toEqual({
    anvil: { ok: false, code: 'pool_code_differs' },
  });
  expect(await employer.postSettlement('job-1', settlement.request)).toMatchObject({
    state: 'accepted',
  });
  await expect(employer.postSettlement('job-2', settlement.request)).rejects.toMatchObject(refused);
  await expect(holder.postSpend('k', spend.request)).rejects.toMatchObject(refused);
  await expect(other.onboard(b.walletPub, b.encryptionPublicKey)).rejects.toMatchObject(refused);

  closed = undefined;
  expect(await holder.postSpend('k', spend.request)).toMatchObject({ state: 'accepted' });
  expect(await other.onboard(b.walletPub, b.encryptionPublicKey)).toMatchObject({ created: true });
});
