/** The order of the checks of a settlement: the cheap ones come first, and the long ones run in another thread. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { SettlementRequest } from '@pool/api';
import { assertField } from '@pool/core';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { plainBatchChecker } from '../../test/fake-checks.ts';
import { testSettings, timelessLimits } from '../../test/test-settings.ts';
import { createTestSettlement, testEmployerId } from '../../test/test-settlement.ts';
import { acceptSettlement } from '../accept/accept-settlement.ts';
import type { PoolChain } from '../chain/pool-chain.ts';
import { createSettlementChecks } from './settlement-checks.ts';

describe('a settlement', () => {
  let database: TestDatabase;
  let request: SettlementRequest;
  /** The checks that ran, in order. */
  let steps: string[];

  beforeAll(async () => {
    database = await openTestDatabase();
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const token = testSettings.tokens['USDC']?.address ?? '';
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    ({ request } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) }));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    const employer = { id: testEmployerId, address: '0xE', name: null, created_at: 'now' };
    await database.db.insertInto('employers').values(employer).execute();
    steps = [];
  });

  async function accept(posted: SettlementRequest, key = 'job'): Promise<string> {
    const chain: Partial<PoolChain> = {
      key: 'anvil',
      settings: testSettings,
      async checkFunderContract() {
        steps.push('contract');
        return 'no-contract';
      },
      async fetchBatchRootOf() {
        steps.push('nonce');
        return undefined;
      },
    };
    const checks = createSettlementChecks({
      batches: {
        ...plainBatchChecker,
        async check(...given) {
          steps.push('batch');
          return await plainBatchChecker.check(...given);
        },
      },
      proofs: {
        assertSupported: () => undefined,
        async assertProof() {
          steps.push('proof');
        },
      },
    });
    const deps = {
      db: database.db,
      chains: new Map([['anvil', chain as PoolChain]]),
      checks,
      nowMs: Date.now,
      settlementLimits: timelessLimits,
      beforeWork: () => {
        steps.push('limit');
      },
    };
    try {
      return (await acceptSettlement(deps, testEmployerId, key, posted)).state;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    }
  }

  it('is checked from the cheapest check to the most expensive: limit, signature, nonce, batch, proof', async () => {
    expect(await accept(request)).toBe('accepted');
    expect(steps).toEqual(['limit', 'nonce', 'batch', 'proof']);
  });

  it('that is stored is answered without these checks', async () => {
    await accept(request);
    steps = [];
    expect(await accept(request)).toBe('accepted');
    expect(steps).toEqual([]);
  });

  it('whose batch is stored under another key is refused before these checks', async () => {
    await accept(request);
    steps = [];
    expect(await accept(request, 'other')).toBe('idempotency_conflict');
    expect(steps).toEqual(['limit']);
  });

  it.each<[string, (good: SettlementRequest) => SettlementRequest, readonly string[]]>([
    [
      'sealed notes of another hash',
      (good) => ({ ...good, sealedNotes: good.sealedNotes.toReversed() }),
      // Hashing the notes of 256 slots takes 10 ms, so it is not done on the serving thread.
      ['limit', 'nonce', 'batch'],
    ],
    [
      'one note too few',
      (good) => ({ ...good, sealedNotes: good.sealedNotes.slice(1) }),
      ['limit'],
    ],
    [
      'a signature without a signer',
      (good) => ({ ...good, funderSignature: `0x${'00'.repeat(65)}` }),
      ['limit', 'contract'],
    ],
    [
      'commitments of another root',
      (good) => ({
        ...good,
        batch: { ...good.batch, commitments: good.batch.commitments.toReversed() },
      }),
      ['limit', 'nonce', 'batch'],
    ],
  ])('with %s is refused by that check, before the later ones', async (_name, change, expected) => {
    expect(await accept(change(request))).toBe('invalid_settlement');
    expect(steps).toEqual(expected);
  });
});

describe('the long checks of a batch', () => {
  const source = join(import.meta.dirname, '../../../..');
  const longWork =
    /\b(?:computeBatchRoot|decodeEncryptionPublicKey|computeFundPublicInputs|computeSpendPublicInputs|verifyMaskedSigner|createBatchArithmetic|verifyProof)\b|import \{[^}]*\bcheck(?:Batch|Spend|Inputs)\b/;

  it('are imported by the modules of the worker thread only', () => {
    const found = ['apps/platform/src/edge', 'packages/relayer/src']
      .flatMap((folder) =>
        readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
          join(folder, file),
        ),
      )
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .filter((file) => longWork.test(readFileSync(join(source, file), 'utf8')));
    expect(found.map((file) => relative('packages/relayer/src/checks', file)).sort()).toEqual([
      'batch-check-worker.ts',
      'check-inputs.ts',
    ]);
  });
});
