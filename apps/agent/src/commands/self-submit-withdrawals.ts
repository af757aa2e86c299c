/**
 * What `send --self-submit` withdraws or continues, and its questions (docs/decisions/0011).
 *
 * @module
 */
import {
  type Hex32,
  isPoolError,
  type NumberFormat,
  PoolError,
  type SpendReceipt,
} from '@pool/core';
import { exitCodeOfError, exitCodes, type Output } from '@pool/pay-run';
import { type ArchivedSpend, isOpen } from '@pool/wallet';
import type { GasQuote } from '@pool/wallet/evm';
import type { Holder, HolderChain, SelfSubmission, WithdrawalRequest } from '@pool/wallet/node';
import { createEqualWithdrawal, describePaid, toSendBody } from '@pool/wallet/node';
import type { SelfSubmitSettings } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import { findGasNotice } from '../services/holder/destination-gas.ts';
import { readSpendPlace } from '../services/holder/spend-place.ts';
import { formatCoin } from '../terminal/self-submit-view.ts';
import { confirmSpend, inTokens } from './holder/spend-echo.ts';
import { explainFailure } from './self-submit-failures.ts';

export type SelfSubmitOptions = {
  /** As typed; {@link performWithdrawals} takes base units. Absent: submits the withdrawals that are open. */
  readonly amount?: string;
  /** An amount without a unit is in tokens. */
  readonly decimal?: boolean;
  /** The same, and how it is written. */
  readonly numberFormat?: NumberFormat;
  readonly to?: string;
  readonly token?: string;
  readonly chain?: string;
  readonly dryRun?: boolean;
  /** Sends without a question. */
  readonly yes?: boolean;
  /** Pays although an equal withdrawal was paid lately. */
  readonly again?: boolean;
  /** Only the agent knows keys: refused. */
  readonly key?: string;
  /** A file of exported notes. */
  readonly notes?: string;
  readonly envFile?: string;
};

export type WithdrawalParts = {
  readonly submission: SelfSubmission;
  readonly settings: SelfSubmitSettings;
  readonly holder: Holder;
  readonly chain: HolderChain;
  /** Aborted when the user ends the command. */
  readonly signal: AbortSignal;
};

/**
 * Withdraws, or continues what is open, all at once. Of several withdrawals, one that fails does not end the others: it is listed at the end,
 * after the receipts in the order in which the withdrawals began.
 * @returns the exit code
 * @throws PoolError of a single withdrawal
 */
export async function performWithdrawals(
  options: SelfSubmitOptions & { readonly token: string },
  parts: WithdrawalParts,
  output: Output,
): Promise<number> {
  const { terminal } = output;
  const withdrawals = await chooseWithdrawals(options, parts, output);
  terminal.write(describeCost(await parts.submission.submitter.quote()));
  await showGasNotices(withdrawals, parts, output);
  // At once: each waits for finality, and a deadline can pass before. Only one that begins asks questions, and it is alone.
  const results = await Promise.allSettled(
    withdrawals.map((withdrawal) => performOne(withdrawal, options, parts, output)),
  );
  const codes: number[] = [];
  const failures: string[] = [];
  const errors: unknown[] = [];
  for (const [index, result] of results.entries()) {
    const withdrawal = withdrawals[index];
    if (result.status === 'fulfilled') {
      output.out(JSON.stringify(result.value, null, 2));
      if (withdrawal !== undefined) {
        terminal.write(`${describeWithdrawal(withdrawal, parts.chain)}: ${result.value.status}\n`);
      }
      codes.push(result.value.status === 'reverted' ? exitCodes.partial : exitCodes.ok);
    } else if (withdrawal !== undefined) {
      const { code, message } = describeError(result.reason);
      errors.push(result.reason);
      codes.push(exitCodeOfError(code));
      failures.push(`  ${describeWithdrawal(withdrawal, parts.chain)}: ${code}: ${message}\n`);
    }
  }
  if (errors.length > 0 && (withdrawals.length === 1 || parts.signal.aborted)) {
    throw errors[0];
  }
  if (failures.length > 0) {
    terminal.write(`${failures.length} of ${withdrawals.length} withdrawals failed:\n`);
    for (const line of failures) {
      terminal.write(line);
    }
  }
  return codes.includes(exitCodes.unknown)
    ? exitCodes.unknown
    : (codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok);
}

async function performOne(
  { request: asked, open }: Withdrawal,
  options: SelfSubmitOptions,
  parts: WithdrawalParts,
  output: Output,
): Promise<SpendReceipt> {
  const isDecided = open !== undefined && !isOpen(open.state);
  if (!isDecided) {
    refuseLink(open?.secrets?.manifest.recipient ?? findRecipient(asked.to, parts), parts);
  }
  const request =
    open === undefined
      ? { ...asked, accepted: await confirmRepetition(asked, options, parts, output) }
      : asked;
  const { settings, chain } = parts;
  const place = readSpendPlace(chain.key, request.token, settings);
  if (open === undefined) {
    const asks = request.dryRun !== true && options.yes !== true;
    const { ask, terminal } = output;
    const spend = { operation: 'send', body: toSendBody(request) } as const;
    await confirmSpend(spend, place, { terminal, ask: asks ? ask : undefined });
  }
  if (open !== undefined && !isDecided) {
    output.terminal.write(
      `continuing the withdrawal of ${inTokens(request.amount, request.token, place)} that began at ${new Date(open.createdAtMs).toISOString()}: its own authorisation is submitted, and no second one is made\n`,
    );
  }
  try {
    return await parts.submission.withdraw(request, open);
  } catch (error) {
    const others = isPoolError(error) ? await parts.submission.listOpen() : [];
    throw explainFailure(
      error,
      { request, ...(open === undefined ? {} : { open }) },
      others,
      parts,
    );
  }
}

function describeWithdrawal(
  { request: { amount, token, to }, open }: Withdrawal,
  { settings: { tokens } }: HolderChain,
): string {
  const began = open === undefined ? '' : `, begun at ${new Date(open.createdAtMs).toISOString()}`;
  const recipient = to ?? open?.secrets?.manifest.recipient ?? "the holder's own wallet";
  const decimals = tokens[token]?.decimals;
  return `${inTokens(amount, token, { decimals })} to ${recipient}${began}`;
}

/** The text of an unknown error may quote confidential values. */
function describeError(error: unknown): { readonly code: string; readonly message: string } {
  return isPoolError(error)
    ? error
    : { code: 'internal_error', message: 'an unexpected error; see DISBURSE_LOG_LEVEL=debug' };
}

/**
 * Shows equal withdrawals that were paid or interrupted lately. The archive cannot know whether the command is run again because its outcome was not seen.
 * @returns outRoots of those that are paid once more
 * @throws PoolError `payment_declined`; `equal_withdrawal` where nobody can answer
 */
async function confirmRepetition(
  request: WithdrawalRequest,
  { again }: SelfSubmitOptions,
  parts: WithdrawalParts,
  { ask, terminal }: Output,
): Promise<ReadonlySet<Hex32>> {
  const { tokens } = parts.chain.settings;
  const decimals = tokens[request.token]?.decimals;
  const paid = await parts.submission.listPaid(request, findRecipient(request.to, parts));
  for (const spend of paid) {
    terminal.write(
      `an equal withdrawal of ${inTokens(request.amount, request.token, { decimals })} began at ${new Date(spend.createdAtMs).toISOString()} and ${describePaid(spend)}\n`,
    );
  }
  const [first] = paid;
  if (first !== undefined && again !== true && request.dryRun !== true) {
    if (ask === undefined) {
      throw createEqualWithdrawal(first, tokens);
    }
    const answer = await ask('Pay the same amount to the same destination a second time? [y/N] ');
    if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
      throw new PoolError('payment_declined', 'nothing was sent: the repetition was not confirmed');
    }
  }
  return new Set(paid.map(({ outRoot }) => outRoot));
}

type Withdrawal = {
  readonly request: WithdrawalRequest;
  /** One that began before, and is open or was found to be decided just now. */
  readonly open?: ArchivedSpend;
};

/**
 * First the chain is asked about every open withdrawal: a process that was killed left it without its outcome.
 *
 * With an amount: that withdrawal. If an equal one is open, it is the same one: it may be on its way, and the notes of a second one would
 * be paid too. Without an amount: everything that was sent and has no outcome that was shown.
 * @throws PoolError `chain_unreachable` (retryable) if an equal one may be paid
 */
async function chooseWithdrawals(
  { amount, to, token, dryRun }: SelfSubmitOptions & { readonly token: string },
  { submission, chain, settings, holder }: WithdrawalParts,
  { terminal }: Output,
): Promise<readonly Withdrawal[]> {
  const { decided, unread } = await submission.follow();
  const describe = (spend: ArchivedSpend): Withdrawal => ({
    request: describeOpen(spend, chain, settings),
    open: spend,
  });
  const listed = decided.filter(
    ({ spend, wasSent }) => amount === undefined && (wasSent || spend.state.kind === 'settled'),
  );
  for (const found of decided) {
    if (!listed.includes(found)) {
      terminal.write(
        `${describeWithdrawal(describe(found.spend), chain)}: ${describeEnd(found.spend)}\n`,
      );
    }
  }
  const open = await submission.listOpen();
  if (amount === undefined) {
    const signed = [
      ...listed.map(({ spend }) => spend),
      ...open.filter(({ state }) => state.kind === 'released'),
    ];
    if (signed.length === 0) {
      throw new PoolError(
        'invalid_request',
        'no withdrawal of this holder was sent and is still open; give --amount to begin one',
      );
    }
    return signed.map(describe);
  }
  const request = { token, amount, to, ...(dryRun === true ? { dryRun } : {}) };
  const recipient = findRecipient(to, { holder, settings });
  const address = chain.settings.tokens[token]?.address;
  const equals = open.filter(
    ({ secrets }) =>
      secrets?.manifest.withdrawAmount === amount &&
      secrets.manifest.recipient === recipient &&
      secrets.manifest.token === address,
  );
  // One that left can land whatever is done here, so it comes before one that did not.
  const released = equals.filter(({ state }) => state.kind === 'released');
  const [equal, other] = released.length > 0 ? released : equals;
  if (dryRun !== true && equals.some(({ outRoot }) => unread.has(outRoot))) {
    throw new PoolError(
      'chain_unreachable',
      `the chain did not say whether an equal withdrawal was paid, so nothing was sent; run the command again when the RPC of ${chain.key} in chains.json answers`,
      { status: 503, retryable: true },
    );
  }
  if (other !== undefined && dryRun !== true) {
    throw createSeveralEqual(equals, released.length > 0);
  }
  return [equal === undefined || dryRun === true ? { request } : { request, open: equal }];
}

function createSeveralEqual(equals: readonly ArchivedSpend[], areSent: boolean): PoolError {
  const until = new Date(Math.max(...equals.map(({ deadline }) => deadline)) * 1_000).toISOString();
  return new PoolError(
    'invalid_request',
    areSent
      ? 'several equal withdrawals are open: run the command without --amount, which submits those that were sent, and wait until they are decided'
      : `${equals.length} equal withdrawals began and were not sent: run the same command again when a block after ${until} is final, which ends them and frees their notes`,
  );
}

/** What the chain has decided. */
function describeEnd({ state }: ArchivedSpend): string {
  return state.kind === 'settled'
    ? `it was paid by transaction ${state.txHash}`
    : `it ended without a payment (${state.kind}), and its notes are free`;
}

/** The request of an open withdrawal, for its receipt. Nothing of it is checked or decided again. */
function describeOpen(
  { secrets }: ArchivedSpend,
  { settings: { tokens } }: HolderChain,
  { holder }: SelfSubmitSettings,
): WithdrawalRequest {
  const manifest = secrets?.manifest;
  const [token = ''] =
    Object.entries(tokens).find(([, { address }]) => address === manifest?.token) ?? [];
  const [to] =
    [...holder.sendDestinations].find(([, address]) => address === manifest?.recipient) ?? [];
  return { token, amount: manifest?.withdrawAmount ?? '', to };
}

function findRecipient(
  to: string | undefined,
  { holder, settings }: Pick<WithdrawalParts, 'holder' | 'settings'>,
): string | undefined {
  return to === undefined ? holder.address : settings.holder.sendDestinations.get(to);
}

/** The sender of the transaction is public. Sent with the holder's own key, it would say who withdraws. */
function refuseLink(recipient: string | undefined, { submission, holder }: WithdrawalParts): void {
  if (submission.submitter.address === holder.address && recipient !== holder.address) {
    throw new PoolError(
      'gas_key_refused',
      `${variables.gasPrivateKey.name} is the key of the holder, so the transaction would publish that ${holder.address} withdraws to ${recipient ?? 'another address'}; use the key of another account, or omit --to`,
    );
  }
}

/** A line for each destination that cannot pay gas. */
async function showGasNotices(
  withdrawals: readonly Withdrawal[],
  parts: WithdrawalParts,
  { terminal }: Output,
): Promise<void> {
  const recipients = new Set(
    withdrawals.map(
      ({ request, open }) => open?.secrets?.manifest.recipient ?? findRecipient(request.to, parts),
    ),
  );
  for (const recipient of recipients) {
    const notice = await findGasNotice(
      () => parts.chain,
      async () => recipient,
    );
    if (notice !== undefined) {
      terminal.write(`${notice}\n`);
    }
  }
}

function describeCost({ from, balanceWei, expectedWei, capWei }: GasQuote): string {
  const expected =
    expectedWei === undefined
      ? 'more than the cap at the fees of now'
      : `about ${formatCoin(expectedWei)} at the fees of now`;
  return [
    `gas: ${expected}, at most ${formatCoin(capWei)} (${variables.gasMaxCost.name}); ${from} has ${formatCoin(balanceWei)}`,
    `public on chain: the amount, the destination, and beside them ${from}, which pays the gas; not the holder\n`,
  ].join('\n');
}
