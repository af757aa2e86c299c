// The fingerprint of the request that a settlement pays: stored with the row from the first post.
import type { SettlementRequest } from '@pool/api';
import { assertField, parseHex32 } from '@pool/core';
import { createEdgeClient } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createSettingsOnlyChain } from '../../../../packages/relayer/test/settings-only-chain.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createTestSettlement } from '../../../../packages/relayer/test/test-settlement.ts';
import { createFakeGate, createTestPlatform } from '../fixtures/test-platform.ts';

let database: TestDatabase;
let request: SettlementRequest;
beforeAll(async () => {
  database = await openTestDatabase();
  const funder = new Wallet(`0x${'11'.repeat(32)}`);
  const token = testSettings.tokens['USDC']?.address ?? '';
  const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
  ({ request } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) }));
});
afterAll(() => database.close());
beforeEach(() => database.reset());

async function createClient() {
  const platform = createTestPlatform(database, {
    gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
    poolChains: new Map([['anvil', createSettingsOnlyChain(testSettings)]]),
  });
  const { address } = await createTestHolder('a');
  const { token } = await platform.edgeToken(address);
  return createEdgeClient({ url: `${platform.url}/agent-edge`, token, fetch: platform.fetch });
}

it('keeps the fingerprint of the first post', async () => {
  const client = await createClient();
  const bodyFingerprint = {
    keyId: `0x${'1a'.repeat(8)}`,
    value: parseHex32(`0x${'2b'.repeat(32)}`),
  } as const;
  const posted = await client.postSettlement('job', { ...request, bodyFingerprint });
  expect(posted.bodyFingerprint).toEqual(bodyFingerprint);
  const other = { ...bodyFingerprint, value: parseHex32(`0x${'3c'.repeat(32)}`) };
  await client.postSettlement('job', { ...request, bodyFingerprint: other });
  expect((await client.getSettlement('job'))?.bodyFingerprint).toEqual(bodyFingerprint);
});

it('stores a settlement without a fingerprint', async () => {
  const client = await createClient();
  await client.postSettlement('job', request);
  expect(await client.getSettlement('job')).not.toHaveProperty('bodyFingerprint');
});
