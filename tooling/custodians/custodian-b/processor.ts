/**
 * What happens to a transaction after it was accepted: approval, signing, and for a contract call the way onto the chain.
 *
 * @module
 */

import { createPayload, stageRequestId } from './callback-payload.ts';
import { broadcast, buildCall, ChainRefusalError, readReceipt, signCall } from './chain.ts';
import type { ParsedConfig, Stage, VaultAccount } from './config.ts';
import type { Faults } from './faults.ts';
import type { HandlerAnswer, HandlerClient } from './handler-client.ts';
import type { Pauses } from './pauses.ts';
import type { Store } from './store.ts';
import { isFinal, type Transaction } from './transaction.ts';
import { createSignedMessage } from './vault.ts';

/** What the handler did against the documentation. */
export type Violation = {
  readonly transactionId: string | undefined;
  readonly stage: Stage | undefined;
  readonly problem: string;
};

export type Processor = {
  /** Goes on in the background, from wherever the transaction stands. A final one stays as it is. */
  start(transaction: Transaction): void;
  violations(): readonly Violation[];
  addViolation(violation: Violation): void;
  reset(): void;
  /** Leaves transactions where they stand. */
  stop(): void;
};

export function createProcessor(deps: {
  readonly config: ParsedConfig;
  readonly store: Store;
  readonly faults: Faults;
  readonly pauses: Pauses;
  readonly handler: HandlerClient;
  /** For errors that no transaction shows. */
  readonly onError: (error: unknown) => void;
}): Processor {
  const { config, store, faults, pauses, handler, onError } = deps;
  const { signerId } = config.cosigner;
  let violations: Violation[] = [];
  let signatures = 0;
  let stopped = false;

  function move(transaction: Transaction, status: string, subStatus = ''): void {
    store.change(transaction, { status, subStatus });
  }

  async function run(transaction: Transaction): Promise<void> {
    const account = accountOf(config, transaction);
    const { work } = transaction;
    // It ended before a restart, or was cancelled before the work began.
    if (stopped || isFinal(transaction)) {
      return;
    }
    if (transaction.signedTransaction === undefined) {
      // After a restart, an approval that was given stands.
      if (transaction.status !== 'PENDING_SIGNATURE') {
        move(transaction, 'PENDING_AUTHORIZATION');
        if (!(await passStage(transaction, account, 'approval'))) {
          return;
        }
        move(transaction, 'QUEUED');
        move(transaction, 'PENDING_SIGNATURE');
      }
      if (!(await passStage(transaction, account, 'signing'))) {
        return;
      }
    }
    if (work.operation === 'CONTRACT_CALL') {
      await send(transaction, account);
      return;
    }
    const effect = faults.takeResult();
    const form = config.signatures === 'mixed' ? signatures++ : undefined;
    const message = createSignedMessage({ account, digest: work.digest, form, effect });
    store.change(transaction, {
      status: 'COMPLETED',
      subStatus: '',
      signedBy: [signerId],
      ...(effect === 'no-messages' ? {} : { signedMessages: [message] }),
    });
  }

  /** @returns false when the transaction ends here */
  async function passStage(
    transaction: Transaction,
    account: VaultAccount,
    stage: Stage,
  ): Promise<boolean> {
    const isAsked = handler.callback() !== undefined && config.stages.includes(stage);
    if (stage === 'signing' || (isAsked && config.rawTx === 'always')) {
      await build(transaction, account);
    }
    if (!isAsked) {
      return !isFinal(transaction);
    }
    const answer = await askUntilDecided(transaction, account, stage);
    // A cancellation, or a status that a test forced, came in between.
    if (stopped || isFinal(transaction)) {
      return false;
    }
    const failed = stage === 'approval' ? 'AUTHORIZATION_FAILED' : 'SIGNING_ERROR';
    switch (answer.action) {
      case 'APPROVE':
        return true;
      case 'REJECT':
        store.change(transaction, {
          status: 'REJECTED',
          subStatus: 'REJECTED_BY_USER',
          rejectedBy: signerId,
        });
        return false;
      case 'RETRY':
        move(transaction, 'FAILED', 'TIMEOUT');
        return false;
      case 'IGNORE':
        report(transaction, stage, 'IGNORE leaves the request to nobody');
        // An approval waits for somebody else, for ever. A signing request cannot be ignored.
        if (stage === 'signing') {
          move(transaction, 'FAILED', failed);
        }
        return false;
      case 'NONE':
        report(transaction, stage, answer.problem);
        move(transaction, 'FAILED', failed);
        return false;
    }
  }

  async function askUntilDecided(
    transaction: Transaction,
    account: VaultAccount,
    stage: Stage,
  ): Promise<HandlerAnswer> {
    const effect = faults.takeCallback();
    if (effect === 'raw-only' || effect === 'disagree' || effect === 'second-raw') {
      await build(transaction, account);
    }
    const payload = createPayload({
      transaction,
      account,
      stage,
      requestId:
        config.requestIds === 'transaction'
          ? transaction.id
          : stageRequestId(transaction.id, stage),
      signerId,
      hasRawTx: config.rawTx === 'always' || (config.rawTx === 'signing' && stage === 'signing'),
      effect,
    });
    const callout = { path: '/v2/tx_sign_request', stage, payload, effect } as const;
    const askOnce = async (): Promise<HandlerAnswer> => {
      if (effect !== 'duplicate') {
        return await handler.post(callout);
      }
      const [first, second] = await Promise.all([handler.post(callout), handler.post(callout)]);
      if (first.action !== second.action) {
        report(transaction, stage, `two answers to one request: ${first.action}, ${second.action}`);
      }
      return first;
    };
    for (let retries = 0; ; retries++) {
      const answer = await askOnce();
      const again =
        answer.action === 'RETRY' || (answer.action === 'NONE' && config.onNoAnswer === 'retry');
      if (!again || retries >= config.retry.times || isFinal(transaction)) {
        return answer;
      }
      await pauses.wait(config.retry.intervalMs);
      if (isFinal(transaction)) {
        return answer;
      }
    }
  }

  function report(transaction: Transaction, stage: Stage, problem: string): void {
    violations.push({ transactionId: transaction.id, stage, problem });
  }

  /** Builds the transaction of a contract call once. @throws ChainRefusalError */
  async function build(transaction: Transaction, account: VaultAccount): Promise<void> {
    const { work, assetId, unsignedTransaction } = transaction;
    const chain = config.chains[assetId];
    if (
      work.operation === 'CONTRACT_CALL' &&
      unsignedTransaction === undefined &&
      chain !== undefined
    ) {
      const unsigned = await buildCall(chain, account, work);
      store.change(transaction, { unsignedTransaction: unsigned });
    }
  }

  async function send(transaction: Transaction, account: VaultAccount): Promise<void> {
    const chain = config.chains[transaction.assetId];
    if (chain === undefined || transaction.unsignedTransaction === undefined) {
      throw new Error('the contract call has no chain');
    }
    if (transaction.signedTransaction === undefined) {
      const { signed, hash } = signCall(transaction.unsignedTransaction, account);
      // Kept before it is sent: a restart sends the same bytes.
      store.change(transaction, {
        status: 'BROADCASTING',
        subStatus: '',
        signedBy: [signerId],
        signedTransaction: signed,
        txHash: hash,
      });
    }
    await broadcast(chain, transaction.signedTransaction ?? '');
    if (!stopped && !isFinal(transaction)) {
      move(transaction, 'CONFIRMING', 'PENDING_BLOCKCHAIN_CONFIRMATIONS');
    }
    for (;;) {
      const receipt = await readReceipt(chain, transaction.txHash ?? '');
      if (stopped || isFinal(transaction)) {
        return;
      }
      if (receipt === 'succeeded') {
        move(transaction, 'COMPLETED', 'CONFIRMED');
        return;
      }
      if (receipt === 'reverted') {
        move(transaction, 'FAILED', 'SMART_CONTRACT_EXECUTION_FAILED');
        return;
      }
      await pauses.wait(config.receiptPollMs);
    }
  }

  async function runToEnd(transaction: Transaction): Promise<void> {
    try {
      await run(transaction);
    } catch (error) {
      if (!(error instanceof ChainRefusalError)) {
        onError(error);
      }
      if (!stopped && !isFinal(transaction)) {
        const wasSigned = transaction.signedTransaction !== undefined;
        store.change(transaction, {
          status: 'FAILED',
          subStatus: wasSigned ? 'REJECTED_BY_BLOCKCHAIN' : 'INTERNAL_ERROR',
          errorDescription: error instanceof Error ? error.message : 'unknown',
        });
      }
    }
  }

  return {
    start(transaction) {
      // After the answer to the caller is on its way.
      setImmediate(() => void runToEnd(transaction));
    },
    violations: () => violations,
    addViolation: (violation) => {
      violations.push(violation);
    },
    reset() {
      violations = [];
      signatures = 0;
    },
    stop() {
      stopped = true;
    },
  };
}

export function accountOf(
  { vaultAccounts }: Pick<ParsedConfig, 'vaultAccounts'>,
  transaction: Transaction,
): VaultAccount {
  const account = vaultAccounts.find(({ id }) => id === transaction.vaultAccountId);
  if (account === undefined) {
    throw new Error('the transaction names a vault account that the configuration lacks');
  }
  return account;
}
