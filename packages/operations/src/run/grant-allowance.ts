/**
 * Gives the pool an allowance of exactly the batch total (docs/decisions/0009, §16): an EIP-2612 permit where the
 * token has it, else an `approve` transaction of the funder. Called under the (chain, token, funder) lock.
 *
 * An approval is stored signed before it is sent, so a crash sends the same transaction again instead of a
 * second one.
 *
 * @module
 */

import {
  bytesToHex32,
  errorCodeOf,
  type Hex,
  type Hex32,
  hexToBytes,
  PoolError,
  parseHex32,
} from '@pool/core';
import { keccak256 } from 'ethers';
import { rethrowInterruption } from './interrupted-run.ts';
import { hasLeft } from './phase.ts';
import type { RecordedApproval } from './record.ts';
import type { DatedBatch } from './release-record.ts';
import type { Run } from './run.ts';

/** Makes sure that the pool may take the total. Decides after a fresh read. Safe to call again. */
export async function grantAllowance(run: Run, batch: DatedBatch): Promise<void> {
  const { chain } = run.context;
  await settlePendingApproval(run);
  const allowance = await run.retry(() => chain.fetchAllowance(run.token, run.funder.address));
  if (allowance >= run.total) {
    return;
  }
  const settings = run.context.settings.tokens[run.record().tokenSymbol];
  if (settings?.permitVersion !== undefined && settings.permitName !== undefined) {
    await signPermit(run, batch, settings.permitName, settings.permitVersion);
    return;
  }
  if (allowance > 0n && settings?.zeroFirst === true) {
    await approve(run, 0n);
  }
  await approve(run, run.total);
}

/** Signs the permit again if the token no longer accepts its nonce. */
async function signPermit(
  run: Run,
  batch: DatedBatch,
  name: string,
  version: string,
): Promise<void> {
  const { chain, settings } = run.context;
  const nonce = await run.retry(() => chain.fetchPermitNonce(run.token, run.funder.address));
  if (run.record().permit?.nonce === nonce.toString()) {
    return;
  }
  const pool = settings.pool;
  const signature = await run.retry(() =>
    run.funder.signPermit(
      {
        domain: { name, version, chainId: settings.chainId, verifyingContract: run.token },
        permit: {
          owner: run.funder.address,
          spender: pool,
          value: run.total,
          nonce,
          deadline: BigInt(batch.deadline),
        },
        expected: { chainId: settings.chainId, token: run.token, pool, total: run.total },
      },
      run.signal,
    ),
  );
  await run.passFaultPoint('permit.signed');
  const bytes = hexToBytes(signature, 65);
  await run.update({
    permit: {
      nonce: nonce.toString(),
      wire: {
        value: run.total.toString(),
        deadline: batch.deadline,
        v: bytes[64] === 27 ? 27 : 28,
        r: bytesToHex32(bytes.subarray(0, 32)),
        s: bytesToHex32(bytes.subarray(32, 64)),
      },
    },
  });
  await run.passFaultPoint('permit.after-store');
}

/** Signs, stores, sends and waits until mined. */
async function approve(run: Run, value: bigint): Promise<void> {
  const { chain, settings } = run.context;
  const transaction = await run.retry(() =>
    chain.prepareApproval(run.token, run.funder.address, value),
  );
  const rawTransaction = await run.retry(() =>
    run.funder.signApproval(
      transaction,
      {
        chainId: settings.chainId,
        token: run.token,
        pool: settings.pool,
        total: run.total,
      },
      run.signal,
    ),
  );
  await run.passFaultPoint('approval.signed');
  const approval: RecordedApproval = {
    value: value.toString(),
    rawTransaction,
    txHash: computeTransactionHash(rawTransaction),
    nonce: transaction.nonce,
    mined: false,
  };
  await run.update({ approvals: [...run.record().approvals, approval] });
  await run.passFaultPoint('approval.after-store');
  await settlePendingApproval(run);
}

/** Sends the newest stored approval until it is mined, or until its nonce went to another transaction. */
async function settlePendingApproval(run: Run): Promise<void> {
  const { chain } = run.context;
  const approval = run.record().approvals.at(-1);
  if (approval === undefined || approval.mined) {
    return;
  }
  const giveUpAtMs = run.deps.clock.nowMs() + run.deps.patienceMs;
  for (;;) {
    const receipt = await run.retry(() => chain.fetchReceipt(approval.txHash));
    if (receipt !== undefined) {
      await markMined(run);
      await run.passFaultPoint('approval.mined');
      if (receipt.reverted) {
        throw new PoolError('approval_reverted', 'the token refused the approval transaction');
      }
      return;
    }
    const minedNonce = await run.retry(() => chain.fetchMinedNonce(run.funder.address));
    const isReplaced =
      minedNonce > approval.nonce &&
      (await run.retry(() => chain.fetchReceipt(approval.txHash))) === undefined;
    if (isReplaced) {
      // The funder's account sent another transaction with this nonce, so this one can never be mined.
      await run.update({ approvals: run.record().approvals.slice(0, -1) });
      return;
    }
    if (run.deps.clock.nowMs() >= giveUpAtMs) {
      throw new PoolError(
        'approval_not_mined',
        'the approval transaction was not mined in time; check the funder account and its gas',
      );
    }
    await run.retry(() => chain.broadcast(approval.rawTransaction));
    await run.passFaultPoint('approval.sent');
    await run.pause(run.deps.pollMs);
  }
}

async function markMined(run: Run): Promise<void> {
  const approvals = run.record().approvals;
  const last = approvals.at(-1);
  if (last !== undefined) {
    await run.update({ approvals: [...approvals.slice(0, -1), { ...last, mined: true }] });
  }
}

/**
 * Takes back the approval of this job when its batch will not be paid.
 * @returns the text for the user when an allowance is left or may be left. Undefined: none is
 */
export async function withdrawAllowance(run: Run): Promise<string | undefined> {
  if (run.record().approvals.length === 0) {
    return describePermit(run);
  }
  try {
    // The allowance may serve another batch by now: only the holder of the lock touches it.
    await run.hold.acquire();
    await settlePendingApproval(run).catch((error: unknown) => {
      // A reverted approval gave no allowance. Any other error means that it may still be mined.
      if (errorCodeOf(error) !== 'approval_reverted') {
        throw error;
      }
    });
    const allowance = await run.retry(() =>
      run.context.chain.fetchAllowance(run.token, run.funder.address),
    );
    if (allowance > 0n) {
      await approve(run, 0n);
    }
    return undefined;
  } catch (error) {
    rethrowInterruption(error);
    return 'the approval given for this batch could not be taken back: set the allowance of the pool to 0';
  }
}

/**
 * Anyone who saw a permit that was sent, for example in a mempool, can use it, even after its batch was withdrawn. The
 * allowance alone pays nothing: the pool takes nothing without another signature of the funder.
 * @returns the text for the user. Undefined: no allowance is left, and none can appear
 */
async function describePermit(run: Run): Promise<string | undefined> {
  const { permit } = run.record();
  if (permit === undefined || !hasLeft(run.phase())) {
    return undefined;
  }
  const { chain } = run.context;
  try {
    const nonce = await chain.fetchPermitNonce(run.token, run.funder.address);
    if (nonce.toString() === permit.nonce) {
      return (await run.now()) > permit.wire.deadline
        ? undefined
        : `its permit can still be used until ${new Date(permit.wire.deadline * 1000).toISOString()} by anyone who saw it, which gives the pool an allowance and pays nobody; check it after that time, and set the allowance of the pool to 0 if it is not`;
    }
    const allowance = await chain.fetchAllowance(run.token, run.funder.address);
    return allowance === 0n
      ? undefined
      : `the pool has an allowance of ${allowance} base units over the funder's tokens, which the permit of this batch may have left; if no other payment needs it, set the allowance of the pool to 0`;
  } catch (error) {
    rethrowInterruption(error);
    return 'the chain did not answer whether the permit of this batch left an allowance; check it, and set the allowance of the pool to 0 if it is not';
  }
}

function computeTransactionHash(rawTransaction: Hex): Hex32 {
  return parseHex32(keccak256(rawTransaction));
}
