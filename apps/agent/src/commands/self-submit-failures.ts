/**
 * What to do after a withdrawal of `send --self-submit` failed. The pipeline is that of the agent, and its advice needs an Idempotency-Key, a
 * platform or a running agent; none of them is here (docs/decisions/0011).
 *
 * @module
 */
import { formatTokenUnits, isPoolError, PoolError } from '@pool/core';
import type { ArchivedSpend } from '@pool/wallet';
import type { Holder, HolderChain } from '@pool/wallet/node';
import { describeWithdrawn, type WithdrawalRequest } from '@pool/wallet/node';

type FailedWithdrawal = { readonly request: WithdrawalRequest; readonly open?: ArchivedSpend };

type Place = { readonly chain: HolderChain; readonly holder: Pick<Holder, 'address'> };

/**
 * The same error with the next command.
 * @param open - withdrawals that are not decided, which hold notes
 */
export function explainFailure(
  error: unknown,
  withdrawal: FailedWithdrawal,
  open: readonly ArchivedSpend[],
  place: Place,
): unknown {
  if (!isPoolError(error)) {
    return error;
  }
  const command = (amount: string) => describeCommand(withdrawal, amount, place);
  const { amount } = withdrawal.request;
  switch (error.code) {
    case 'spend_unfinished':
      // The archive and the signed transaction are on disk. With --amount a command after the outcome would begin another withdrawal.
      return replace(
        error,
        `${error.message}\nrun the same command again without --amount: it continues this withdrawal with the same authorisation and the same transaction, and begins no other`,
      );
    case 'settlement_expired':
    case 'note_already_spent':
      return replace(error, `${withoutAdvice(error)}; to begin it again: ${command(amount)}`);
    case 'consolidation_required': {
      const largest = String(error.details?.['largestSpend'] ?? '');
      return replace(
        error,
        `${withoutAdvice(error)}; withdraw it in parts, of which the largest is: ${command(largest)}`,
      );
    }
    case 'insufficient_funds':
      return open.length === 0
        ? error
        : replace(error, `${error.message}\n${describeHeld(open, place)}`);
    default:
      return error;
  }
}

function describeHeld(open: readonly ArchivedSpend[], { chain }: Place): string {
  const lines = open.map(
    (spend) =>
      `${describeWithdrawn(spend, chain.settings.tokens)}, begun at ${new Date(spend.createdAtMs).toISOString()}, until ${new Date(spend.deadline * 1_000).toISOString()}`,
  );
  return `open withdrawals hold notes: ${lines.join('; ')}. Continue one with its own --amount and --to, or run this command again when a block after that time is final`;
}

function describeCommand(
  { request: { token, to }, open }: FailedWithdrawal,
  amount: string,
  { chain, holder }: Place,
): string {
  const recipient = open?.secrets?.manifest.recipient ?? holder.address;
  // An open withdrawal can pay an address that has no label now.
  const label = to ?? (recipient === holder.address ? undefined : `<label of ${recipient}>`);
  const destination = label === undefined ? '' : ` --to ${label}`;
  return `disburse-agent send --self-submit --chain ${chain.key} --token ${token} --amount ${writeAmount(amount, token, chain)}${destination}`;
}

/** As it is typed: in tokens, so that the command asks for no unit. */
function writeAmount(amount: string, token: string, { settings }: HolderChain): string {
  const decimals = settings.tokens[token]?.decimals;
  return decimals === undefined || amount === ''
    ? amount
    : `${formatTokenUnits(BigInt(amount), decimals)}${token}`;
}

/** What was found. The last part of the message is what to do with an agent. */
function withoutAdvice({ message }: PoolError): string {
  const end = message.lastIndexOf('; ');
  return end < 0 ? message : message.slice(0, end);
}

function replace(error: PoolError, message: string): PoolError {
  const { code, status, retryable, details } = error;
  return new PoolError(code as ConstructorParameters<typeof PoolError>[0], message, {
    ...{ status, retryable, cause: error },
    ...(details === undefined ? {} : { details }),
  });
}
