// A batch nonce that another party used under its own funder (protocol §3). The party that sends our batch to the
// chain knows the nonce first. It must not be able to prevent the payment or make a job report "already paid".
import { bigintToHex32, type Hex32, parseEvmAddress } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createWorld, viewOf, type World } from '../fixtures/fake-world.ts';
import { computeJobNonce } from './job/record.ts';

const relayer = parseEvmAddress('0x00000000000000000000000000000000000000a7');

/** A batch with the relayer's own money under the nonce of the job `key`. */
function burn(world: World, employerId: string, key: string): Hex32 {
  const token = parseEvmAddress(world.context.settings.tokens['USDC']?.address);
  const base = { context: world.context, funder: world.funder, token };
  const burnt = world.chain.mineFund(
    {
      funder: relayer,
      token,
      total: '1',
      batchNonce: computeJobNonce(base, employerId, key),
      eligibilityRoot: world.gate.root(),
      batchRoot: bigintToHex32(77n),
      commitments: Array.from({ length: 16 }, (_, slot) => bigintToHex32(BigInt(slot + 1))),
      sealedNotesHash: bigintToHex32(1n),
      digest: bigintToHex32(2n),
      deadline: 10 ** 10,
    },
    undefined,
  );
  expect(burnt.error).toBeUndefined();
  return burnt.txHash;
}

describe("a batch nonce used under another funder's address", () => {
  it('does not keep the job from being paid when it was used before the job began', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.chain.allowance = 1n;
    burn(world, job.record().employerId, 'run-1');
    await world.run(job);
    expect(viewOf(job).error).toBeUndefined();
    expect(viewOf(job).result?.status).toBe('completed');
  });

  it('does not end a released job as settled_elsewhere', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.platform.holdBack = true;
    let burnt = false;
    await world.run(job, (point) => {
      if (point === 'settling.posted' && !burnt) {
        burnt = true;
        world.chain.allowance = 1n;
        burn(world, job.record().employerId, 'run-1');
      }
    });
    expect(viewOf(job).error?.code).toBe('settlement_expired');
  });

  it('does not report the key as unpaid while the platform has a row of another funder under the same nonce', async () => {
    const world = await createWorld({ permit: true });
    const other = await world.accept();
    world.platform.holdBack = true;
    await world.run(other);
    const row = world.platform.rows.get('run-1')!;
    world.platform.rows.set('run-1', { ...row, batch: { ...row.batch, funder: relayer } });
    const job = await world.accept();
    world.gate.failCalls(1_000_000);
    await world.run(job);
    // No agent computes such a nonce, so its outcome is unknown here.
    expect(viewOf(job).error).toMatchObject({
      code: 'settled_elsewhere',
      message: expect.stringContaining('do not resubmit'),
    });
  });
});

describe('a key that is paid according to the chain', () => {
  it('does not end as settled_elsewhere while the transaction moves no tokens of our funder', async () => {
    const world = await createWorld({ permit: true });
    await world.run(await world.accept());
    const job = await world.accept('run-1', {
      recipients: world.createRequest().recipients.slice(0, 2),
    });
    let reads = 0;
    const chain = {
      ...world.chain,
      async fetchTransferred(...args: Parameters<typeof world.chain.fetchTransferred>) {
        reads += 1;
        const moved = await world.chain.fetchTransferred(...args);
        return reads === 1 ? { amount: 0n, anyToken: false } : moved;
      },
    };
    const events = await world.run(job, undefined, {
      findChain: () => ({ ...world.context, chain }),
    });
    expect(reads).toBe(2);
    expect(events).toContainEqual(expect.objectContaining({ kind: 'retry' }));
    expect(viewOf(job).error?.code).toBe('settled_elsewhere');
  });
});
