/**
 * The transport of custodian B: the co-signer asks before it approves and again before it signs, with different fields each time, and
 * signs whatever this handler approves. The answer follows from the content that is signed, never from what the callback says about it.
 *
 * RETRY means that it is asked again; REJECT is final; IGNORE is never answered, because the co-signer would go on without the gate.
 *
 * @module
 */

import type { Hex32 } from '@pool/core';
import { decisionReasons } from '@pool/policy';
import { nameError } from '../config/gate-home.ts';
import { type Judgement, notVoting, type VotingDeps } from '../judge/judge.ts';
import type { CustodianBReader } from './read-client.ts';
import {
  type Callback,
  type CallbackAnswer,
  type FetchedTransaction,
  isHiddenAtSigning,
  parseTransaction,
  readDigests,
  readTransactionContent,
} from './wire.ts';

/** The co-signer waits 30 seconds. After this long the answer is RETRY, and the work goes on for the next time. */
const answerWithinMs = 25_000;

export type CallbackHandler = ReturnType<typeof createCallbackHandler>;

export type CallbackDeps = VotingDeps & {
  readonly reader: CustodianBReader;
  /** The API user that is paired with the co-signer. */
  readonly signerId: string;
  /** Of the chain whose calls are approved, for a call whose transaction is not built yet. @param to - its destination */
  readonly findChainId: (to: string) => number | undefined;
};

type Verdict =
  | { readonly action: 'APPROVE' }
  | { readonly action: 'REJECT' | 'RETRY'; readonly reason: string };

export function createCallbackHandler(deps: CallbackDeps) {
  const { ledger, log, nowMs, fault } = deps;
  /** One piece of work per request: a callback that is repeated while the first is answered joins it. */
  const running = new Map<string, Promise<Verdict>>();

  async function decideOnce(callback: Callback): Promise<Verdict> {
    const key = JSON.stringify(callback);
    const work = running.get(key) ?? decideSafely(callback);
    running.set(key, work);
    try {
      return await withinLimit(work);
    } finally {
      running.delete(key);
    }
  }

  async function decideSafely(callback: Callback): Promise<Verdict> {
    try {
      const verdict = holdFinal(callback.requestId, await decideCallback(callback));
      writeAudit(callback.requestId, verdict);
      return verdict;
    } catch (error) {
      const code = nameError(error);
      log.warn({ request: callback.requestId, error: code }, 'callback could not be judged');
      return retry('the gate cannot judge the request now');
    }
  }

  function writeAudit(requestId: string, verdict: Verdict): void {
    const reason = verdict.action === 'APPROVE' ? null : verdict.reason;
    ledger.writeAudit('callback', { requestId, action: verdict.action, reason }, nowMs());
  }

  /** What is final is asked for again: in a dry run always, and when the policy was read again while this one was judged. */
  function holdFinal(requestId: string, verdict: Verdict): Verdict {
    if (verdict.action === 'RETRY') {
      return verdict;
    }
    if (!deps.mayVote()) {
      return retry(notVoting.message);
    }
    if (!deps.isDryRun) {
      return verdict;
    }
    const reason = verdict.action === 'REJECT' ? verdict.reason : null;
    log.info({ request: requestId, would: verdict.action, reason }, 'dry run');
    return retry('the gate runs dry');
  }

  async function decideCallback(callback: Callback): Promise<Verdict> {
    if (!deps.mayVote()) {
      return retry(notVoting.message);
    }
    if (callback.signerId !== deps.signerId) {
      return reject('the signer of the callback is not the paired user');
    }
    const digests = readDigests(callback);
    if (digests === undefined || digests.length > 1) {
      return reject('the raw transaction is not exactly one digest');
    }
    const [digest] = digests;
    if (digest === undefined && callback.txId === undefined) {
      return reject('the callback has neither a digest nor the id of a transaction');
    }
    if (callback.txId === undefined) {
      return digest === undefined ? reject('no digest') : await judgeDigest(callback, digest);
    }
    const transaction = await fetchTransaction(callback.txId);
    return transaction === undefined
      ? retry('the custodian does not show the transaction to the gate')
      : await judgeTransaction(callback, transaction, digest);
  }

  async function fetchTransaction(txId: string): Promise<FetchedTransaction | undefined> {
    const json = await deps.reader.get(`/v1/transactions/${encodeURIComponent(txId)}`);
    const transaction = parseTransaction(json);
    return transaction?.id === txId ? transaction : undefined;
  }

  /** A digest alone counts only if a stored manifest has it. The paired user then counts as the one who asks. */
  async function judgeDigest(callback: Callback, digest: Hex32): Promise<Verdict> {
    return conclude(
      callback.requestId,
      await deps.judge.judge({
        requestId: callback.requestId,
        origin: {
          kind: 'custodian',
          wallet: callback.sourceId,
          initiator: callback.signerId,
        },
        preimage: { kind: 'stored', digest },
      }),
    );
  }

  async function judgeTransaction(
    callback: Callback,
    transaction: FetchedTransaction,
    digest: Hex32 | undefined,
  ): Promise<Verdict> {
    const { requestId, sourceId, operation, destAddress = '' } = callback;
    if (transaction.source.id !== sourceId || transaction.operation !== operation) {
      return reject('the callback and the transaction name different wallets or operations');
    }
    if (isHiddenAtSigning(transaction, callback)) {
      return reject(
        'the co-signer does not show the transaction that it would sign, so its fees are unknown; let the provider send rawTx with its transaction at the signing stage',
      );
    }
    const chainId = deps.findChainId(transaction.destinationAddress || destAddress);
    const reading = readTransactionContent(transaction, callback, chainId);
    if (reading.kind === 'foreign') {
      return reject(reading.message);
    }
    const isCall = operation === 'CONTRACT_CALL';
    const judgement = await deps.judge.judge({
      requestId,
      transactionId: transaction.id,
      origin: {
        kind: 'custodian',
        wallet: sourceId,
        initiator: transaction.createdBy ?? '',
        ...(isCall ? { transactionId: transaction.id } : {}),
      },
      preimage: reading,
      ...(digest === undefined ? {} : { signedDigest: digest }),
    });
    return conclude(requestId, judgement);
  }

  function conclude(requestId: string, judgement: Judgement): Verdict {
    switch (judgement.kind) {
      case 'foreign':
        return reject(judgement.message);
      case 'later':
        return retry(judgement.message);
      case 'dry-run': {
        const { would, reason = null } = judgement;
        log.info({ request: requestId, would, reason }, 'dry run');
        return retry('the gate runs dry');
      }
      case 'vote': {
        fault('callback.after-decide');
        if (!deps.mayVote()) {
          return retry(notVoting.message);
        }
        const { vote } = judgement;
        if (vote.sentAtMs === undefined) {
          ledger.markSent(vote.id, nowMs());
        }
        return vote.value === 'approve'
          ? { action: 'APPROVE' }
          : reject(vote.reason === undefined ? 'denied' : decisionReasons[vote.reason]);
      }
    }
  }

  return {
    /** Never throws. */
    async answer(callback: Callback): Promise<CallbackAnswer> {
      const verdict = await decideOnce(callback);
      const { requestId } = callback;
      log.info(
        {
          request: requestId,
          operation: callback.operation,
          action: verdict.action,
          reason: verdict.action === 'APPROVE' ? null : verdict.reason,
        },
        'callback answered',
      );
      deps.onAnswer(metricOf[verdict.action]);
      fault('callback.before-answer');
      return verdict.action === 'REJECT'
        ? { action: 'REJECT', requestId, rejectionReason: verdict.reason }
        : { action: verdict.action, requestId };
    },
  };
}

const metricOf = { APPROVE: 'approve', REJECT: 'deny', RETRY: 'retry' } as const;

function reject(reason: string): Verdict {
  return { action: 'REJECT', reason };
}

function retry(reason: string): Verdict {
  return { action: 'RETRY', reason };
}

async function withinLimit(work: Promise<Verdict>): Promise<Verdict> {
  const late = Promise.withResolvers<Verdict>();
  const timer = setTimeout(() => late.resolve(retry('the gate still reads')), answerWithinMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
