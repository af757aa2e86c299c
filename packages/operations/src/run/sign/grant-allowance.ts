/**
 * Gives the pool an allowance of exactly the batch total (docs/decisions/0007): an EIP-2612 permit where the
 * token has it, else an `approve` transaction of the funder. Called under the (chain, token, funder) lock.
 *
 * @module
 */

import { bytesToHex32, hexToBytes } from '@pool/core';
import type { FunderRequest } from '../../ports.ts';
import type { DatedBatch } from '../batch/release-record.ts';
import type { Run } from '../job/run.ts';
import {
  askSigner,
  createFundFile,
  type Given,
  requireSigned,
  type VoteWait,
} from './ask-signer.ts';
import {
  type ApprovalStep,
  approve,
  dropRequest,
  freeAccount,
  replaceApproval,
  toStep,
} from './give-approval.ts';
import { settleApproval } from './pending-approval.ts';

/**
 * Makes sure that the pool may take the total. Decides after a fresh read. Safe to call again.
 * @param wait - how to wait for a vote. The lock is held during a vote, except during the first one on a permit
 * @returns `look-again`: a vote took its time, so lock, money, allowance and proof have to be looked at again
 */
export async function grantAllowance(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
): Promise<'granted' | 'look-again'> {
  try {
    const step = await grantInSteps(run, batch, wait);
    // A batch that looks again keeps its place, or two that wait could give it to each other for ever.
    if (step === 'granted') {
      freeAccount(run);
    }
    return step;
  } catch (error) {
    freeAccount(run);
    throw error;
  }
}

async function grantInSteps(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
): Promise<'granted' | 'look-again'> {
  let step = await grantOnce(run, batch, wait);
  for (;;) {
    if (step === 'granted') {
      return step;
    }
    if (step === 'stuck') {
      const { value = '0' } = run.given().approvals.at(-1) ?? {};
      step = await replaceApproval(run, batch, wait, BigInt(value));
    } else if (run.funder.needsVote) {
      return 'look-again';
    } else if (step === 'mined' && run.given().approvals.at(-1)?.value === run.total.toString()) {
      return 'granted';
    } else {
      step = await grantOnce(run, batch, wait);
    }
  }
}

async function grantOnce(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
): Promise<ApprovalStep | 'granted'> {
  const { chain } = run.context;
  const isSent = run.given().approvals.at(-1)?.rawTransaction === undefined;
  if (toStep(await settleApproval(run), isSent) === 'stuck') {
    return 'stuck';
  }
  const allowance = await run.retry(() => chain.fetchAllowance(run.token, run.funder.address));
  if (allowance >= run.total) {
    return run.given().approvalRequest === undefined ? 'granted' : dropRequest(run, batch, wait);
  }
  const domain = findPermitDomain(run);
  if (domain !== undefined) {
    return signPermit(run, batch, wait, domain);
  }
  const settings = run.context.settings.tokens[run.record().tokenSymbol];
  if (allowance > 0n && settings?.zeroFirst === true) {
    const step = await approve(run, batch, wait, 0n);
    if (step !== 'mined' || run.funder.needsVote) {
      return step;
    }
  }
  return approve(run, batch, wait, run.total);
}

/**
 * A vote must not block other batches, so the lock is free while it lasts. Of the batches that ask meanwhile one can use its permit, and
 * the others ask once more: then they keep the lock, and no other batch uses their nonce.
 */
async function askForPermit(
  run: Run,
  request: FunderRequest,
  wait: VoteWait | 'once',
): Promise<Given> {
  const id = run.funder.identify(request);
  const isRepeated = run.given().votes.some((vote) => vote.kind === 'permit' && vote.id !== id);
  if (!run.funder.needsVote || wait === 'once' || isRepeated) {
    return askSigner(run, request, wait);
  }
  run.hold.release();
  const given = await askSigner(run, request, wait);
  await run.awaitTurn();
  await run.announce('approving-allowance');
  return given;
}

/** Name and version of the token's signing domain. Undefined: the token has no permits. */
export type PermitDomain = { readonly name: string; readonly version: string };

export function findPermitDomain(run: Run): PermitDomain | undefined {
  const { permitName, permitVersion } = run.context.settings.tokens[run.record().tokenSymbol] ?? {};
  return permitName === undefined || permitVersion === undefined
    ? undefined
    : { name: permitName, version: permitVersion };
}

/** The permit as the funder signs it, with the file of its batch. @param nonce - of the funder at the token */
export function createPermitRequest(
  run: Run,
  batch: DatedBatch,
  { name, version }: PermitDomain,
  nonce: bigint,
): FunderRequest {
  const { chainId, pool } = run.context.settings;
  return {
    kind: 'permit',
    payload: {
      domain: { name, version, chainId, verifyingContract: run.token },
      permit: {
        owner: run.funder.address,
        spender: pool,
        value: run.total,
        nonce,
        deadline: BigInt(batch.deadline),
      },
      expected: { chainId, token: run.token, pool, total: run.total },
    },
    file: createFundFile(batch),
  };
}

/** Signs the permit again if the token no longer accepts its nonce. */
async function signPermit(
  run: Run,
  batch: DatedBatch,
  wait: VoteWait | 'once',
  domain: PermitDomain,
): Promise<'granted' | 'look-again'> {
  const { chain } = run.context;
  const nonce = await run.retry(() => chain.fetchPermitNonce(run.token, run.funder.address));
  if (run.given().permit?.nonce === nonce.toString()) {
    return 'granted';
  }
  const given = await askForPermit(run, createPermitRequest(run, batch, domain, nonce), wait);
  const bytes = hexToBytes(requireSigned(given), 65);
  await run.passFaultPoint('permit.signed');
  await run.amend({
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
