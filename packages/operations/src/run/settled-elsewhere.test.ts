// A key that another agent has paid (protocol §8, case (c)): data that the chain confirms count, and a row
// with false data does not.
import type { SettlementRecord } from '@pool/api';
import { canonicalDigest, parseEncryptionPublicKey, parseHex32 } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createWorld, viewOf, type World } from '../fixtures/fake-world.ts';

function withKeyId(row: SettlementRecord, keyId: `0x${string}`): SettlementRecord {
  const { bodyFingerprint } = row;
  return bodyFingerprint === undefined
    ? row
    : { ...row, bodyFingerprint: { ...bodyFingerprint, keyId } };
}

/** As if the same employer's other agent had used `key` for the request that the row pays. */
function withFingerprintOf(world: World, row: SettlementRecord, key: string): SettlementRecord {
  const bodyFingerprint = world.fingerprints.compute(key, canonicalDigest(world.createRequest()));
  return { ...row, key, bodyFingerprint };
}

describe('a key that another agent has paid', () => {
  async function payTwice(tamper: (row: SettlementRecord) => SettlementRecord = (row) => row) {
    const world = await createWorld({ permit: true });
    const first = await world.accept('shared');
    await world.run(first);
    const row = world.platform.rows.get('shared');
    if (row === undefined) {
      throw new Error('no settlement');
    }
    world.platform.rows.set('shared', tamper(row));
    const second = await world.accept('shared');
    await world.run(second);
    return { world, first, second };
  }

  it('ends done from the chain and the platform row, with the same notes [disburse.one-payment-a-key]', async () => {
    const { world, first, second } = await payTwice();
    expect(world.chain.funds).toBe(1);
    expect(world.prover.proofs).toBe(1);
    expect(viewOf(second).result?.notes).toEqual(viewOf(first).result?.notes);
    expect(viewOf(second).result?.batches).toEqual(viewOf(first).result?.batches);
  });

  const lies: [string, (row: SettlementRecord) => SettlementRecord][] = [
    [
      'batch root',
      (row) => ({ ...row, batch: { ...row.batch, batchRoot: parseHex32(`0x${'0a'.repeat(32)}`) } }),
    ],
    [
      'commitments',
      (row) => ({
        ...row,
        batch: { ...row.batch, commitments: [...row.batch.commitments].reverse() },
      }),
    ],
    ['sealed notes', (row) => ({ ...row, sealedNotes: [...row.sealedNotes].reverse() })],
    ['total', (row) => ({ ...row, batch: { ...row.batch, total: '6001' } })],
    ['token', (row) => ({ ...row, batch: { ...row.batch, token: row.batch.funder } })],
    [
      'payees',
      (row) => ({
        ...row,
        sealedNotes: row.sealedNotes.map((note) => ({
          ...note,
          encryptionPublicKey: parseEncryptionPublicKey(`0x${'0b'.repeat(32)}`),
        })),
      }),
    ],
  ];
  it.each(lies)('fails with settled_elsewhere if the row has another %s', async (_what, lie) => {
    const { second, world } = await payTwice(lie);
    expect(viewOf(second).error).toMatchObject({
      code: 'settled_elsewhere',
      message: expect.stringContaining('do not resubmit'),
    });
    expect(world.chain.funds).toBe(1);
  });

  it('reads the transaction from the chain, not from the row', async () => {
    const { first, second } = await payTwice(({ txHash: _txHash, ...row }) => ({
      ...row,
      state: 'submitted',
    }));
    expect(viewOf(second).result).toEqual({
      ...viewOf(first).result,
      // It read no allowance, because it found the key paid before.
      allowance: { state: 'unknown' },
    });
  });

  it('reads the total from the chain, not from a row that agrees with the request', async () => {
    const world = await createWorld({ permit: true });
    await world.run(await world.accept('shared'));
    const row = world.platform.rows.get('shared');
    world.platform.rows.set('shared', { ...row!, batch: { ...row!.batch, total: '3000' } });
    const [one, two] = world.createRequest().recipients;
    const second = await world.accept('shared', { recipients: [one!, two!] });
    await world.run(second);
    expect(viewOf(second).error?.code).toBe('settled_elsewhere');
  });

  it('fails with settled_elsewhere if the request has another total', async () => {
    const world = await createWorld({ permit: true });
    await world.run(await world.accept('shared'));
    const [one, two] = world.createRequest().recipients;
    const second = await world.accept('shared', { recipients: [one!, two!] });
    await world.run(second);
    expect(viewOf(second).error?.code).toBe('settled_elsewhere');
  });

  const swapAmounts = (world: World) => {
    const [one, two, ...rest] = world.createRequest().recipients;
    return {
      recipients: [{ ...one!, amount: two!.amount }, { ...two!, amount: one!.amount }, ...rest],
    };
  };

  it('fails with settled_elsewhere if the same people were paid other amounts with the same total [error.idempotency-conflict]', async () => {
    const world = await createWorld({ permit: true });
    await world.run(await world.accept('shared'));
    const second = await world.accept('shared', swapAmounts(world));
    await world.run(second);
    expect(viewOf(second).error).toMatchObject({
      code: 'settled_elsewhere',
      message: expect.stringContaining('another body'),
    });
    expect(world.chain.funds).toBe(1);
    expect(world.prover.proofs).toBe(1);
  });

  it('waits for another agent that is underway, and ends with its result', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 20 });
    const first = await world.accept('shared');
    await expect(
      world.run(first, (point) => {
        if (point === 'settling.posted') {
          throw new Error('crash');
        }
      }),
    ).rejects.toThrow('interrupted');
    const second = await world.accept('shared', swapAmounts(world));
    await world.run(second);
    expect(viewOf(second).error?.code).toBe('settled_elsewhere');
    expect(world.prover.proofs).toBe(1);
    expect(world.chain.funds).toBe(1);
  });

  it.each<[string, (row: SettlementRecord) => SettlementRecord]>([
    ['has another fingerprint key', (row) => withKeyId(row, `0x${'0c'.repeat(8)}`)],
    ['sent no fingerprint', ({ bodyFingerprint: _none, ...row }) => row],
  ])(
    'fails with settled_elsewhere if the agent that paid %s, even with the same body',
    async (_what, change) => {
      const { second, world } = await payTwice(change);
      expect(viewOf(second).error).toMatchObject({
        code: 'settled_elsewhere',
        message: expect.stringContaining('DISBURSE_FINGERPRINT_KEY'),
      });
      expect(world.chain.funds).toBe(1);
    },
  );

  it('proves nothing for a key that another agent has used for another request on other terms', async () => {
    const world = await createWorld({ permit: true });
    await world.run(await world.accept('shared'));
    const row = world.platform.rows.get('shared');
    // On another chain, for example: the batch nonce is another one, so this chain does not contain it.
    const job = await world.accept('other', swapAmounts(world));
    world.platform.rows.set('other', withFingerprintOf(world, row!, 'other'));
    await world.run(job);
    expect(viewOf(job).error).toMatchObject({ code: 'idempotency_conflict' });
    expect(world.prover.proofs).toBe(1);
    expect(world.chain.funds).toBe(1);
  });

  it('waits for another agent that is underway instead of proving [disburse.one-payment-a-key]', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 20 });
    const first = await world.accept('shared');
    world.platform.loseAnswers = 1;
    await expect(
      world.run(first, (point) => {
        if (point === 'settling.posted') {
          throw new Error('crash');
        }
      }),
    ).rejects.toThrow('interrupted');
    const second = await world.accept('shared');
    await world.run(second);
    expect(viewOf(second).result?.status).toBe('completed');
    expect(world.prover.proofs).toBe(1);
    expect(world.chain.funds).toBe(1);
  });
});
