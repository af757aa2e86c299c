/** What a settlement says of itself, in both halves: what the serving thread looks at, and what the thread beside it computes. */
import { type EvmChainSettings, fieldModulus, type SettlementRequest } from '@pool/core';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testSettings } from '../../fixtures/test-platform.ts';
import { createTestSettlement } from '../../fixtures/test-settlement.ts';
import { type BatchChecker, createBatchChecker } from './batch-checker.ts';
import { assertDelivery } from './check-delivery.ts';

type Change = (request: SettlementRequest) => SettlementRequest;
const hex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const;
const batchWith =
  (changes: (batch: SettlementRequest['batch']) => Partial<SettlementRequest['batch']>): Change =>
  (request) => ({ ...request, batch: { ...request.batch, ...changes(request.batch) } });

const swapCase = (text: string): string =>
  text.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));

describe('a settlement', () => {
  let good: SettlementRequest;
  let batches: BatchChecker;
  beforeAll(async () => {
    batches = createBatchChecker();
    const token = testSettings.tokens['USDC']?.address ?? '';
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    ({ request: good } = await createTestSettlement(target, { eligibilityRoot: 5n }));
  });

  afterAll(() => batches.close());

  async function assertSettlement(request: SettlementRequest, settings: EvmChainSettings) {
    assertDelivery(request, settings);
    return await batches.check(request, settings);
  }

  it('is accepted as it was authorised', async () => {
    const { digest } = await assertSettlement(good, testSettings);
    expect(hex(digest)).toBe(good.batch.digest);
  });

  it('is about this pool on this chain', async () => {
    const elsewhere = { ...testSettings, pool: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512' };
    await expect(assertSettlement(good, elsewhere)).rejects.toThrow('batch.digest');
    const otherChain = { ...testSettings, chainId: 1337 };
    await expect(assertSettlement(good, otherChain)).rejects.toThrow('batch.digest');
  });

  it.each<[string, Change, string]>([
    ['a token of no symbol', batchWith(() => ({ token: testSettings.registry })), 'batch.token'],
    [
      'a wrong checksum',
      batchWith(({ funder }) => ({ funder: `0x${swapCase(funder.slice(2))}` })),
      'funder',
    ],
    [
      'another total',
      batchWith(({ total }) => ({ total: (BigInt(total) + 1n).toString() })),
      'batch.digest',
    ],
    ['another funder', batchWith(() => ({ funder: testSettings.registry })), 'batch.digest'],
    ['another nonce', batchWith(() => ({ batchNonce: hex(1n) })), 'batch.digest'],
    ['a zero nonce', batchWith(() => ({ batchNonce: hex(0n) })), 'batch.batchNonce is zero'],
    [
      'an aliased nonce',
      batchWith(({ batchNonce }) => ({ batchNonce: hex(BigInt(batchNonce) + fieldModulus) })),
      'batch.batchNonce (invalid_field_element)',
    ],
    ['another eligibility root', batchWith(() => ({ eligibilityRoot: hex(6n) })), 'batch.digest'],
    ['another batch root', batchWith(() => ({ batchRoot: hex(7n) })), 'batch.batchRoot'],
    ['another digest', batchWith(() => ({ digest: hex(8n) })), 'batch.digest'],
    [
      'an altered commitment',
      batchWith(({ commitments }) => ({ commitments: [hex(9n), ...commitments.slice(1)] })),
      'batch.batchRoot',
    ],
    [
      'a commitment beyond the field',
      batchWith(({ commitments }) => ({
        commitments: [hex(fieldModulus), ...commitments.slice(1)],
      })),
      'batch.commitments.0 (invalid_field_element)',
    ],
    [
      'a slot too few',
      batchWith(({ commitments }) => ({ commitments: commitments.slice(1) })),
      'differ in number',
    ],
    ['another hash', batchWith(() => ({ sealedNotesHash: hex(10n) })), 'batch.sealedNotesHash'],
    [
      'an altered sealed note',
      (request) => ({
        ...request,
        sealedNotes: request.sealedNotes.map((note, slot) =>
          slot === 3 ? { ...note, sealed: `${note.sealed.slice(0, -2)}00` as `0x${string}` } : note,
        ),
      }),
      'batch.sealedNotesHash',
    ],
    [
      'sealed notes in another order',
      (request) => ({ ...request, sealedNotes: request.sealedNotes.toReversed() }),
      'batch.sealedNotesHash',
    ],
    [
      'a note of another suite',
      (request) => ({
        ...request,
        sealedNotes: request.sealedNotes.map((note) => ({
          ...note,
          sealed: `0x02${note.sealed.slice(4)}` as `0x${string}`,
        })),
      }),
      'sealedNotes.0.sealed',
    ],
    [
      'a note to a key that is none',
      (request) => ({
        ...request,
        sealedNotes: request.sealedNotes.map((note) => ({
          ...note,
          encryptionPublicKey: `0x${'ff'.repeat(32)}` as const,
        })),
      }),
      'sealedNotes.0.encryptionPublicKey',
    ],
  ])('refuses %s', async (_name, change, message) => {
    await expect(assertSettlement(change(good), testSettings)).rejects.toThrow(message);
  });
});
