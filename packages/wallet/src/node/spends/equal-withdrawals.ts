/**
 * Withdrawals of one holder that are equal: the same chain, pool, token, amount and destination. A command that is run twice would pay twice,
 * so a second one begins only if the first one is known and accepted (docs/decisions/0011).
 *
 * @module
 */
import { describeAmountOf, type EvmChainSettings, type Hex32, PoolError } from '@pool/core';
import type { ArchivedSpend, SpendArchive } from '../../archive/spend-archive.ts';
import { isOpen } from '../../archive/spend-state.ts';
import { interruptedSpendCode } from '../../spend/follow-spends.ts';

/** What makes two withdrawals equal. */
type WithdrawalTerms = {
  readonly chainId: number;
  readonly pool: string;
  /** W, hex. */
  readonly walletPub: string;
  /** Address. */
  readonly token: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** Address. */
  readonly recipient: string | undefined;
};

/**
 * How long a settled withdrawal counts as one that a repeated command may have meant, in milliseconds. It counts from its beginning, and from
 * when this directory learned of its outcome: nobody has been told before.
 */
export const repetitionMs = 24 * 3_600_000;

/** Undefined: it is no withdrawal, or retention has erased it. */
function readTerms(spend: ArchivedSpend): WithdrawalTerms | undefined {
  const { operation, chainId, pool, secrets } = spend;
  if (operation !== 'send' || secrets === undefined) {
    return undefined;
  }
  const { walletPub, token, withdrawAmount, recipient } = secrets.manifest;
  return { chainId, pool, walletPub, token, amount: withdrawAmount, recipient };
}

export function isEqualWithdrawal(spend: ArchivedSpend, terms: WithdrawalTerms): boolean {
  const found = readTerms(spend);
  return (
    found !== undefined &&
    found.chainId === terms.chainId &&
    found.pool === terms.pool &&
    found.walletPub === terms.walletPub &&
    found.token === terms.token &&
    found.amount === terms.amount &&
    found.recipient === terms.recipient
  );
}

/** Paid, or able to land. One that was never sent and is past its deadline can do neither. */
function isPaidOrOpen(spend: ArchivedSpend, nowMs: number): boolean {
  const { state, deadline } = spend;
  const isUnsent = state.kind === 'archived' || state.kind === 'signed';
  return mayBePaid(spend) || (isOpen(state) && !(isUnsent && deadline * 1_000 < nowMs));
}

/**
 * Paid; or given up because its process ended, so that nobody knows how it ended: this directory did not send it, but it can be a copy of
 * one that did.
 */
export function mayBePaid({ state }: ArchivedSpend): boolean {
  return (
    state.kind === 'settled' || (state.kind === 'abandoned' && state.code === interruptedSpendCode)
  );
}

/** What became of it, after "an equal withdrawal of … began at …". */
export function describePaid({ state }: ArchivedSpend): string {
  return state.kind === 'settled'
    ? `was paid by transaction ${state.txHash}`
    : 'was interrupted; this directory did not send it, but another copy of it can have';
}

/**
 * An archive that stores no withdrawal beside an equal one that is open, or was settled or interrupted lately. It looks in the transaction that stores
 * the new one, so two commands at the same time cannot both begin.
 * @param accepted - outRoots of settled or interrupted ones that the caller knows of and pays again
 * @param tokens - of the chain's settings, for the message
 */
export function refuseEqualWithdrawals<TArchive extends SpendArchive>(
  archive: TArchive,
  accepted: ReadonlySet<Hex32>,
  tokens: EvmChainSettings['tokens'],
  nowMs: () => number,
): TArchive {
  return {
    ...archive,
    add: (spend) =>
      archive.add(spend, (listRecent) => {
        const terms = readTerms(spend);
        const equal =
          terms === undefined
            ? undefined
            : listRecent(nowMs() - repetitionMs).find(
                (other) =>
                  isEqualWithdrawal(other, terms) &&
                  isPaidOrOpen(other, nowMs()) &&
                  !accepted.has(other.outRoot),
              );
        if (equal !== undefined) {
          throw createEqualWithdrawal(equal, tokens);
        }
      }),
  };
}

/** Its amount for people. Empty: retention has erased it. */
export function describeWithdrawn(
  { secrets }: Pick<ArchivedSpend, 'secrets'>,
  tokens: EvmChainSettings['tokens'],
): string {
  const { withdrawAmount, token } = secrets?.manifest ?? {};
  return withdrawAmount === undefined || token === undefined
    ? ''
    : describeAmountOf(tokens, token, BigInt(withdrawAmount));
}

/** @param equal - settled, interrupted or open */
export function createEqualWithdrawal(
  equal: ArchivedSpend,
  tokens: EvmChainSettings['tokens'],
): PoolError {
  const began = `an equal withdrawal of ${describeWithdrawn(equal, tokens)} began at ${new Date(equal.createdAtMs).toISOString()}`;
  return new PoolError(
    'equal_withdrawal',
    mayBePaid(equal)
      ? `${began} and ${describePaid(equal)}, so nothing was sent; ${equal.state.kind === 'settled' ? 'to pay it a second time' : 'if no copy paid it'}, run the command again with --again`
      : `${began} and is not decided, so nothing was sent; wait until the command or agent that began it ends. If it was stopped, run the command again without --amount: that continues a withdrawal that was sent, and begins none`,
  );
}
