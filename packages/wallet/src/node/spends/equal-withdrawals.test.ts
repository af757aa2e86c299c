// Two commands over one agent directory: which of two equal withdrawals may begin. The second one would be a second payment.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bigintToHex32, type Hex32, parseEvmAddress, type SpendManifest } from '@pool/core';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import vectors from '../../../../../vectors/spend.json' with { type: 'json' };
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import type { SpendState } from '../../archive/spend-state.ts';
import { openSpendArchive } from '../store/spend-archive.ts';
import { refuseEqualWithdrawals } from './equal-withdrawals.ts';

const nowMs = Date.parse('2026-11-23T12:00:00Z');
const [vector] = vectors.spends;
const settled: SpendState = { kind: 'settled', txHash: bigintToHex32(9n), blockNumber: 5 };
const signature = { rSig: bigintToHex32(5n), s: bigintToHex32(6n), parity: 1 } as const;
const recipient = parseEvmAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8');

let made = 0n;
/** A withdrawal of its own notes. */
function createWithdrawal(
  manifest: Partial<SpendManifest> = {},
  changes: Partial<ArchivedSpend> = {},
): ArchivedSpend {
  made += 1n;
  return {
    version: 1,
    operation: 'send',
    chain: 'anvil',
    chainId: 31337,
    pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
    outRoot: bigintToHex32(made),
    inputNullifiers: [bigintToHex32(1_000n + made)],
    deadline: nowMs / 1_000 + 900,
    changeAmount: '10',
    createdAtMs: nowMs,
    secrets: {
      manifest: {
        ...Reflect.apply((base: SpendManifest) => base, undefined, [vector?.manifest]),
        ...{ withdrawAmount: '12', recipient },
        ...manifest,
      },
      seed: bigintToHex32(1n),
    },
    state: { kind: 'archived' },
    ...changes,
  };
}

let path: string;
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-equal-'));
  path = join(directory, 'spends.sqlite');
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

/** As another process opens it: with a connection of its own. */
function connect(accepted: readonly Hex32[] = []) {
  const archive = openSpendArchive(path);
  onTestFinished(() => archive.close());
  return refuseEqualWithdrawals(archive, new Set(accepted), {}, () => nowMs);
}

describe('of two equal withdrawals', () => {
  it('one begins if two processes add them at the same time', async () => {
    const [one, other] = [connect(), connect()];
    const [first, second] = [createWithdrawal(), createWithdrawal()];
    const results = await Promise.allSettled([one.add(first), other.add(second)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: {
        code: 'equal_withdrawal',
        message: expect.stringMatching(
          /12 base units began at 2026-11-23T12:00:00.000Z and is not/,
        ),
      },
    });
    expect(await one.listOpen()).toHaveLength(1);
    // The notes of the refused one are free.
    expect((await one.listLocked()).size).toBe(1);
  });

  it.each<[string, Partial<ArchivedSpend>, boolean]>([
    ['signed', { state: { kind: 'signed', signature } }, false],
    ['sent', { state: { kind: 'released', signature } }, false],
    ['sent and past its deadline', { state: { kind: 'released', signature }, deadline: 1 }, false],
    ['not sent and past its deadline', { deadline: 1 }, true],
    ['paid', { state: settled }, false],
    ['paid two days ago', { state: settled, createdAtMs: nowMs - 48 * 3_600_000 }, true],
    [
      'paid two days ago and found today',
      { state: settled, createdAtMs: nowMs - 48 * 3_600_000, concludedAtMs: nowMs },
      false,
    ],
    ['sent two days ago', { state: { kind: 'released', signature }, createdAtMs: 1 }, false],
    ['expired', { state: { kind: 'expired' } }, true],
    ['given up', { state: { kind: 'abandoned', code: 'x' } }, true],
    // The audit's case: a copy of the directory gave it up, while the first directory paid it.
    ['interrupted', { state: { kind: 'abandoned', code: 'interrupted' } }, false],
    [
      'interrupted two days ago',
      { state: { kind: 'abandoned', code: 'interrupted' }, createdAtMs: nowMs - 48 * 3_600_000 },
      true,
    ],
    ['a transfer', { operation: 'transfer' }, true],
    ['of another pool', { pool: recipient }, true],
    ['of another chain', { chainId: 8453 }, true],
  ])('the second one begins if the first one is %s: %s', async (_, changes, mayBegin) => {
    await openAndAdd(createWithdrawal({}, changes));
    const adding = connect().add(createWithdrawal());
    await (mayBegin
      ? expect(adding).resolves.toBe(true)
      : expect(adding).rejects.toMatchObject({ code: 'equal_withdrawal' }));
  });

  it.each<[string, Partial<SpendManifest>]>([
    ['amount', { withdrawAmount: '13' }],
    ['destination', { recipient: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3') }],
    ['token', { token: recipient }],
    ['holder', { walletPub: `0x03${'11'.repeat(32)}` as SpendManifest['walletPub'] }],
  ])('none is meant if they differ in the %s', async (_, manifest) => {
    await openAndAdd(createWithdrawal(manifest));
    expect(await connect().add(createWithdrawal())).toBe(true);
  });

  it('the second one begins if its caller knows the first one, which was interrupted', async () => {
    const first = createWithdrawal({}, { state: { kind: 'abandoned', code: 'interrupted' } });
    await openAndAdd(first);
    await expect(connect().add(createWithdrawal())).rejects.toThrow(
      /was interrupted; this directory did not send it.*--again/,
    );
    expect(await connect([first.outRoot]).add(createWithdrawal())).toBe(true);
  });

  it('the second one begins if its caller knows the first one, which was paid', async () => {
    const first = createWithdrawal({}, { state: settled });
    await openAndAdd(first);
    await expect(connect().add(createWithdrawal())).rejects.toThrow(
      /paid by transaction 0x0{63}9.*--again/,
    );
    expect(await connect([first.outRoot]).add(createWithdrawal())).toBe(true);
    // The one that has begun meanwhile is not known.
    await expect(connect([first.outRoot]).add(createWithdrawal())).rejects.toThrow('not decided');
  });
});

async function openAndAdd(spend: ArchivedSpend): Promise<void> {
  const archive = openSpendArchive(path);
  await archive.add(spend);
  archive.close();
}
