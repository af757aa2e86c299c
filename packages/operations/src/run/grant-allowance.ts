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
import type { ApprovalTransaction, FunderRequest } from '../ports.ts';
import { withdrawRequest } from './abandon-batch.ts';
import {
  askSigner,
  createFundFile,
  findVote,
  type Given,
  requireSigned,
  type VoteWait,
} from './ask-signer.ts';
import { awaitTurn } from './await-turn.ts';
import { loadBatch } from './batch.ts';
import { rethrowInterruption } from './interrupted-run.ts';
import { hasLeft } from './phase.ts';
import type { RecordedApproval } from './record.ts';
import { type DatedBatch, loadRelease } from './release-record.ts';
import { parseRequestedApproval, serializeApproval } from './requested-approval.ts';
import type { Run } from './run.ts';

/**
 * Makes sure that the pool may take the total. Decides after a fresh read. Safe to call again.
 * @param wait - how to wait for a vote. The lock is free during a vote, and held again afterwards
 * @returns `look-again`: the lock was free meanwhile, so the money may be gone and the allowance another one
 */
export async function grantAllowance(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
): Promise<'granted' | 'look-again'> {
  const { chain } = run.context;
  await settlePendingApproval(run);
  const allowance = await run.retry(() => chain.fetchAllowance(run.token, run.funder.address));
  if (allowance >= run.total) {
    return 'granted';
  }
  const settings = run.context.settings.tokens[run.record().tokenSymbol];
  if (settings?.permitVersion !== undefined && settings.permitName !== undefined) {
    return signPermit(run, batch, wait, settings.permitName, settings.permitVersion);
  }
  if (allowance > 0n && settings?.zeroFirst === true) {
    const step = await approve(run, batch, wait, 0n);
    if (step === 'look-again') {
      return step;
    }
  }
  return approve(run, batch, wait, run.total);
}

/** Asks the signer. A vote must not block other batches: the lock is free while it lasts. */
async function askBesideLock(
  run: Run,
  request: FunderRequest,
  wait: VoteWait | 'once',
): Promise<Given> {
  if (!run.funder.needsVote) {
    return askSigner(run, request, wait);
  }
  run.hold.release();
  const given = await askSigner(run, request, wait);
  await awaitTurn(run);
  await run.announce('approving-allowance');
  return given;
}

/** Signs the permit again if the token no longer accepts its nonce. */
async function signPermit(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
  name: string,
  version: string,
): Promise<'granted' | 'look-again'> {
  const { chain, settings } = run.context;
  const nonce = await run.retry(() => chain.fetchPermitNonce(run.token, run.funder.address));
  if (run.record().permit?.nonce === nonce.toString()) {
    return 'granted';
  }
  const pool = settings.pool;
  const given = await askBesideLock(
    run,
    {
      kind: 'permit',
      payload: {
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
      file: createFundFile(batch),
    },
    wait,
  );
  const bytes = hexToBytes(requireSigned(given), 65);
  await run.passFaultPoint('permit.signed');
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
  return run.funder.needsVote ? 'look-again' : 'granted';
}

/** Signs, stores, sends and waits until mined. */
async function approve(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
  value: bigint,
): Promise<'granted' | 'look-again'> {
  const transaction = await chooseApproval(run, value);
  const given = await askBesideLock(run, createApprovalRequest(run, batch, transaction), wait);
  const approval = readApproval(given, transaction);
  await run.passFaultPoint('approval.signed');
  await run.update({
    approvals: [...run.record().approvals, approval],
    approvalRequest: undefined,
  });
  await run.passFaultPoint('approval.after-store');
  await settlePendingApproval(run);
  return run.funder.needsVote ? 'look-again' : 'granted';
}

/** A request that is voted on is asked for again as it is: another nonce or fee would be another request. */
async function chooseApproval(run: Run, value: bigint): Promise<ApprovalTransaction> {
  const { approvalRequest } = run.record();
  if (approvalRequest?.value === value.toString()) {
    return parseRequestedApproval(approvalRequest);
  }
  const transaction = await run.retry(() =>
    run.context.chain.prepareApproval(run.token, run.funder.address, value),
  );
  if (run.funder.needsVote) {
    await run.update({ approvalRequest: serializeApproval(transaction) });
  }
  return transaction;
}

function createApprovalRequest(
  run: Run,
  batch: DatedBatch,
  transaction: ApprovalTransaction,
): FunderRequest {
  const { chainId, pool } = run.context.settings;
  return {
    kind: 'token-approval',
    transaction,
    expected: { chainId, token: run.token, pool, total: run.total },
    file: createFundFile(batch),
  };
}

function readApproval(given: Given, { value, nonce }: ApprovalTransaction): RecordedApproval {
  const common = { value: value.toString(), mined: false };
  return given.state === 'sent'
    ? { ...common, txHash: given.txHash }
    : {
        ...common,
        rawTransaction: given.signed,
        txHash: computeTransactionHash(given.signed),
        nonce,
      };
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
    if (await isInForce(run, approval)) {
      return markMined(run);
    }
    if (await isReplaced(run, approval)) {
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
    const { rawTransaction } = approval;
    if (rawTransaction !== undefined) {
      await run.retry(() => chain.broadcast(rawTransaction));
      await run.passFaultPoint('approval.sent');
    }
    await run.pause(run.deps.pollMs);
  }
}

/**
 * True for a transaction that the signer's provider sent, once the allowance is its value: the provider may have sent it again with
 * higher fees, and so with another hash. It was asked for because the allowance was another one.
 */
async function isInForce(run: Run, { rawTransaction, value }: RecordedApproval): Promise<boolean> {
  if (rawTransaction !== undefined) {
    return false;
  }
  const { chain } = run.context;
  const allowance = await run.retry(() => chain.fetchAllowance(run.token, run.funder.address));
  return allowance === BigInt(value);
}

/** Never for a transaction that the signer's provider sent: its nonce is not known, and the provider may raise its fees. */
async function isReplaced(run: Run, { nonce, txHash }: RecordedApproval): Promise<boolean> {
  const { chain } = run.context;
  return (
    nonce !== undefined &&
    (await run.retry(() => chain.fetchMinedNonce(run.funder.address))) > nonce &&
    (await run.retry(() => chain.fetchReceipt(txHash))) === undefined
  );
}

async function markMined(run: Run): Promise<void> {
  const approvals = run.record().approvals;
  const last = approvals.at(-1);
  if (last !== undefined) {
    await run.update({ approvals: [...approvals.slice(0, -1), { ...last, mined: true }] });
  }
}

const notTakenBack =
  'the approval given for this batch could not be taken back: set the allowance of the pool to 0';

/**
 * Takes back the approval of this job when its batch will not be paid.
 * @returns the text for the user when an allowance is left or may be left. Undefined: none is
 */
export async function withdrawAllowance(run: Run): Promise<string | undefined> {
  try {
    if (!(await takeBackRequest(run))) {
      return notTakenBack;
    }
    if (run.record().approvals.length === 0) {
      return await describePermit(run);
    }
    await resetAllowance(run);
    return undefined;
  } catch (error) {
    rethrowInterruption(error);
    return notTakenBack;
  }
}

async function resetAllowance(run: Run): Promise<void> {
  const { chain } = run.context;
  for (;;) {
    // The allowance may serve another batch by now: only the holder of the lock touches it.
    await awaitTurn(run, 'approving-allowance');
    await settlePendingApproval(run).catch((error: unknown) => {
      // A reverted approval gave no allowance. Any other error means that it may still be mined.
      if (errorCodeOf(error) !== 'approval_reverted') {
        throw error;
      }
    });
    const allowance = await run.retry(() => chain.fetchAllowance(run.token, run.funder.address));
    const batch = await loadDated(run);
    if (allowance === 0n) {
      return;
    }
    if (batch === undefined) {
      throw new PoolError('job_unreadable', 'the batch of the approval is not in the job store');
    }
    const deadline = Math.floor(run.deps.clock.nowMs() / 1000) + run.deps.voteLimitSeconds;
    const step = await approve(run, batch, { deadline, check: async () => undefined }, 0n);
    if (step === 'granted') {
      return;
    }
  }
}

/**
 * An approval that is still voted on must not be given for a batch that is not paid.
 * @returns false: it may still be given
 */
async function takeBackRequest(run: Run): Promise<boolean> {
  const { approvalRequest } = run.record();
  const batch = approvalRequest === undefined ? undefined : await loadDated(run);
  if (approvalRequest === undefined || approvalRequest.value === '0' || batch === undefined) {
    return true;
  }
  const transaction = parseRequestedApproval(approvalRequest);
  const request = createApprovalRequest(run, batch, transaction);
  const vote = findVote(run, request);
  if (vote === undefined || vote.hasEnded === true) {
    await run.update({ approvalRequest: undefined });
    return true;
  }
  const answer = await withdrawRequest(run, request);
  if (answer === 'unknown' || (answer !== 'none' && answer.state === 'waiting')) {
    return false;
  }
  const approvals = run.record().approvals;
  await run.update(
    answer !== 'none' && answer.state === 'sent'
      ? {
          approvals: [...approvals, readApproval(answer, transaction)],
          approvalRequest: undefined,
        }
      : { approvalRequest: undefined },
  );
  return true;
}

async function loadDated(run: Run): Promise<DatedBatch | undefined> {
  const batch = await loadBatch(run);
  return batch === undefined ? undefined : loadRelease(run, batch);
}

/**
 * Anyone who saw a permit that was sent, for example in a mempool, can use it, even after its batch was withdrawn. The
 * allowance alone pays nothing: the pool takes nothing without another signature of the funder.
 * @returns the text for the user. Undefined: no allowance is left, and none can appear
 */
async function describePermit(run: Run): Promise<string | undefined> {
  const { permit } = run.record();
  const phase = run.phase();
  // The permit of an abandoned batch has not left this agent.
  if (permit === undefined || phase.kind === 'abandoned' || !hasLeft(phase)) {
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
