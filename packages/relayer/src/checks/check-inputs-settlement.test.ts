/** The checks that need the request only: those of the serving thread, and those of the worker thread. */
import type { SettlementRequest } from '@pool/api';
import {
  assertField,
  bigintToHex32,
  type EvmChainSettings,
  fieldModulus,
  parseEncryptionPublicKey,
  parseHex,
} from '@pool/core';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testSettings } from '../../test/test-settings.ts';
import { createTestSettlement } from '../../test/test-settlement.ts';
import { type BatchChecker, createBatchChecker } from './batch-checker.ts';
import { assertDelivery } from './check-form.ts';

type Change = (request: SettlementRequest) => SettlementRequest;
function batchWith(
  changes: (batch: SettlementRequest['batch']) => Partial<SettlementRequest['batch']>,
): Change {
  return (request) => ({ ...request, batch: { ...request.batch, ...changes(request.batch) } });
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (c) =>
    c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase(),
  );
}

describe('a settlement', () => {
  let good: SettlementRequest;
  let batches: BatchChecker;
  beforeAll(async () => {
    batches = createBatchChecker();
    const token = testSettings.tokens['USDC']?.address ?? '';
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    ({ request: good } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) }));
  });

  afterAll(() => batches.close());

  async function assertSettlement(request: SettlementRequest, settings: EvmChainSettings) {
    assertDelivery(request, settings);
    return await batches.check(request, settings);
  }

  it('is accepted with the authorised content', async () => {
    const { digest } = await assertSettlement(good, testSettings);
    expect(bigintToHex32(digest)).toBe(good.batch.digest);
  });

  it('is for this pool on this chain', async () => {
    const elsewhere = { ...testSettings, pool: testSettings.registry };
    await expect(assertSettlement(good, elsewhere)).rejects.toThrow('batch.digest');
    const otherChain = { ...testSettings, chainId: 1337 };
    await expect(assertSettlement(good, otherChain)).rejects.toThrow('batch.digest');
  });

  it.each<[string, Change, string]>([
    [
      'an address that is not a token of the chain',
      batchWith(() => ({ token: testSettings.registry })),
      'batch.token',
    ],
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
    ['another nonce', batchWith(() => ({ batchNonce: bigintToHex32(1n) })), 'batch.digest'],
    [
      'a zero nonce',
      batchWith(() => ({ batchNonce: bigintToHex32(0n) })),
      'batch.batchNonce is zero',
    ],
    [
      'an aliased nonce',
      batchWith(({ batchNonce }) => ({
        batchNonce: bigintToHex32(BigInt(batchNonce) + fieldModulus),
      })),
      'batch.batchNonce (invalid_field_element)',
    ],
    [
      'another eligibility root',
      batchWith(() => ({ eligibilityRoot: bigintToHex32(6n) })),
      'batch.digest',
    ],
    ['another batch root', batchWith(() => ({ batchRoot: bigintToHex32(7n) })), 'batch.batchRoot'],
    ['another digest', batchWith(() => ({ digest: bigintToHex32(8n) })), 'batch.digest'],
    [
      'an altered commitment',
      batchWith(({ commitments }) => ({
        commitments: [bigintToHex32(9n), ...commitments.slice(1)],
      })),
      'batch.batchRoot',
    ],
    [
      'a commitment beyond the field',
      batchWith(({ commitments }) => ({
        commitments: [bigintToHex32(fieldModulus), ...commitments.slice(1)],
      })),
      'batch.commitments.0 (invalid_field_element)',
    ],
    [
      'one slot too few',
      batchWith(({ commitments }) => ({ commitments: commitments.slice(1) })),
      'differ in number',
    ],
    [
      'another hash',
      batchWith(() => ({ sealedNotesHash: bigintToHex32(10n) })),
      'batch.sealedNotesHash',
    ],
    [
      'an altered sealed note',
      (request) => ({
        ...request,
        sealedNotes: request.sealedNotes.map((note, slot) =>
          slot === 3 ? { ...note, sealed: parseHex(`${note.sealed.slice(0, -2)}00`) } : note,
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
          sealed: parseHex(`0x02${note.sealed.slice(4)}`),
        })),
      }),
      'sealedNotes.0.sealed',
    ],
    [
      'a note to an invalid key',
      (request) => ({
        ...request,
        sealedNotes: request.sealedNotes.map((note) => ({
          ...note,
          encryptionPublicKey: parseEncryptionPublicKey(`0x${'ff'.repeat(32)}`),
        })),
      }),
      'sealedNotes.0.encryptionPublicKey',
    ],
  ])('refuses %s', async (_name, change, message) => {
    await expect(assertSettlement(change(good), testSettings)).rejects.toThrow(message);
  });
});
