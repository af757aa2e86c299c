/**
 * `disburse-agent transfer` and `disburse-agent send`: spend the holder's notes through the agent on this machine, with the key of the
 * role, and print the receipt (docs/decisions/0011).
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import { readChainsFile } from '@pool/configuration';
import {
  computeWalletAddress,
  isPoolError,
  type NumberFormat,
  PoolError,
  parseIdempotencyKey,
  parseWalletPub,
  type SpendReceipt,
} from '@pool/core';
import {
  chooseFormat,
  computeSpendWaitMs,
  createSpendClient,
  createSpendView,
  exitCodes,
  type Output,
  readTypedAmounts,
  type SpendClient,
  type SpendOrder,
  type TypedAmount,
  urlOf,
  withInterruption,
  withProgress,
} from '@pool/pay-run';
import { createHolderSigner } from '@pool/signers';
import { findContact } from '@pool/wallet';
import type { SpendProgress } from '@pool/wallet/node';
import { readContacts, readLabels } from '@pool/wallet/node';
import { type Config, readAgentAddress, readConfig } from '../../config/config.ts';
import { findGasNotice } from '../../services/holder/destination-gas.ts';
import { findSpendChain, readSpendPlace } from '../../services/holder/spend-place.ts';
import { requireRoleToken } from '../../services/signers/role-tokens.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';
import { confirmSpend, describeReceipt, type PendingSpend } from './spend-echo.ts';
import { type FindContact, refuseAddress, resolveRecipients } from './spend-recipients.ts';

export type SpendOptions = {
  readonly token?: string;
  readonly chain?: string;
  /** Amounts without a unit are tokens. */
  readonly decimal?: boolean;
  /** The same, and how they are written. */
  readonly numberFormat?: NumberFormat;
  readonly dryRun?: boolean;
  /** Sends without a question. */
  readonly yes?: boolean;
  /** Of a spend that an earlier run sent: shows its outcome, and begins none. */
  readonly key?: string;
  readonly envFile?: string;
};

export type TransferOptions = SpendOptions & {
  readonly to: readonly string[];
  readonly amount?: string;
};

export type SendOptions = SpendOptions & { readonly amount: string; readonly to?: string };

/** @returns the exit code */
export async function runTransfer(options: TransferOptions, output: Output): Promise<number> {
  assertKey(options);
  // Arguments come first. The configuration is needed early only if one of them is a contact.
  const findLabel: FindContact = (label) => resolveContact(label, readConfig(options.envFile));
  const payees = resolveRecipients(options.to, options.amount, findLabel);
  const config = readConfig(options.envFile);
  const amounts = await readAmounts(
    payees.map(({ amount }) => amount),
    options,
    config,
    output,
  );
  const recipients = payees.map(({ walletPub }, index) => ({
    walletPub,
    amount: amounts[index] ?? '',
  }));
  const body = { token: tokenOf(options, config), recipients, ...dryRunOf(options) };
  return await runSpend({ operation: 'transfer', body }, options, config, output);
}

/** Labels are resolved on this machine, before anything is sent: the request has W only. */
function resolveContact(label: string, { home, chainsFile }: Config): string {
  const { evidence } = readChainsFile(chainsFile);
  return findContact(readContacts(home), label, evidence, Date.now());
}

/** @returns the exit code */
export async function runSend(options: SendOptions, output: Output): Promise<number> {
  assertKey(options);
  const config = readConfig(options.envFile);
  refuseAddress(options.to, config.holder.sendDestinations);
  const typed = { option: '--amount', text: options.amount };
  const [amount = ''] = await readAmounts([typed], options, config, output);
  const body = {
    token: tokenOf(options, config),
    amount,
    ...(options.to === undefined ? {} : { to: options.to }),
    ...dryRunOf(options),
  };
  return await runSpend({ operation: 'send', body }, options, config, output);
}

/** Base units, decimal. */
async function readAmounts(
  typed: readonly TypedAmount[],
  options: SpendOptions,
  config: Config,
  { ask, terminal }: Output,
): Promise<readonly string[]> {
  const token = tokenOf(options, config);
  const { decimals } = readSpendPlace(options.chain, token, config);
  const isUnasked = options.yes === true;
  return await readTypedAmounts(typed, {
    ...{ token, decimals, terminal, ask: isUnasked ? undefined : ask },
    format: chooseFormat(options),
    // An earlier run sent it, so nothing more can leave.
    isUnasked: isUnasked && options.key === undefined,
  });
}

/** @throws PoolError `invalid_request` */
function assertKey({ key, dryRun }: SpendOptions): void {
  if (key === undefined) {
    return;
  }
  parseIdempotencyKey(key);
  if (dryRun === true) {
    throw new PoolError('invalid_request', '--key: a dry run sends nothing, so it has no outcome');
  }
}

function tokenOf({ token }: SpendOptions, { holder }: Config): string {
  return token ?? holder.tokenSymbol;
}

function dryRunOf({ dryRun }: SpendOptions): { readonly dryRun?: true } {
  return dryRun === true ? { dryRun: true } : {};
}

async function runSpend(
  spend: PendingSpend,
  options: SpendOptions,
  config: Config,
  output: Output,
): Promise<number> {
  const { operation, body } = spend;
  const token = requireRoleToken(operation, config.holder);
  const address = readAgentAddress(options.envFile);
  const client = createSpendClient({
    baseUrl: urlOf(address),
    token,
    readLoopbackToken: () => readLoopbackToken(address.home),
    timeoutMs: computeSpendWaitMs(config.holder),
    onPause: (text) => output.terminal.write(`${text}\n`),
  });
  const isAttached = options.key !== undefined;
  if (operation === 'send' && !isAttached) {
    await showGasNotice(body.to, options, config, output);
  }
  const place = {
    ...readSpendPlace(options.chain, body.token, config),
    labels: readLabels(config.home),
  };
  if (!isAttached) {
    const asks = body.dryRun !== true && options.yes !== true;
    const { ask, terminal } = output;
    await confirmSpend(spend, place, { terminal, ask: asks ? ask : undefined });
  }
  const key =
    options.key === undefined ? `${operation}-${randomUUID()}` : parseIdempotencyKey(options.key);
  return await performSpend(
    client,
    { operation, key, body, chain: options.chain, isAttached },
    output,
    (receipt) => describeReceipt(receipt, spend, place),
  );
}

/** Beside the answer, whose form is fixed. Whatever is wrong here, the spend itself reports it. */
async function showGasNotice(
  to: string | undefined,
  { chain }: SpendOptions,
  config: Config,
  { terminal }: Output,
): Promise<void> {
  const { holder } = config;
  const notice = await findGasNotice(
    () => findSpendChain(chain, config),
    async () =>
      to === undefined
        ? computeWalletAddress(parseWalletPub(await createHolderSigner(holder).walletPub()))
        : holder.sendDestinations.get(to),
  );
  if (notice !== undefined) {
    terminal.write(`${notice}\n`);
  }
}

/**
 * Sends the spend, shows its progress on a terminal, and prints the receipt.
 * @param explain - lines for people beside the receipt
 * @returns the exit code
 */
export async function performSpend(
  client: SpendClient,
  order: SpendOrder,
  output: Output,
  explain: (receipt: SpendReceipt) => readonly string[] = () => [],
): Promise<number> {
  const { operation, key, body } = order;
  const isDryRun = body.dryRun === true;
  const isNew = !isDryRun && !order.isAttached;
  if (isNew) {
    // Before the request: a command that is killed now must leave its key.
    output.terminal.write(
      `key ${key}: with --key ${key}, the command shows this ${operation} again\n`,
    );
  }
  let mustWarn = isNew;
  const view = createSpendView(output.terminal);
  const show = (progress: SpendProgress): void => {
    view.show(progress);
    if (mustWarn && progress.stage !== undefined && progress.stage !== 'checking') {
      mustWarn = false;
      output.terminal.write(
        'if this command is cut off, run it again with that key; without --key it would pay again\n',
      );
    }
  };
  const perform = () => withInterruption((signal) => client.spend(order, signal));
  try {
    const receipt = output.terminal.isTty
      ? await withProgress({ ...view, show }, () => client.progress(operation, key), perform)
      : await perform();
    output.out(JSON.stringify(receipt, null, 2));
    for (const line of explain(receipt)) {
      output.terminal.write(`${line}\n`);
    }
    return receipt.status === 'reverted' ? exitCodes.partial : exitCodes.ok;
  } catch (error) {
    if (isPoolError(error) && error.code === 'interrupted') {
      output.terminal.write(
        isDryRun
          ? 'interrupted: nothing was sent\n'
          : `interrupted: the agent continues the spend; run the same command with --key ${key} to follow it\n`,
      );
      return exitCodes.interrupted;
    }
    throw explainFailure(error, order);
  }
}

/** After one of these the spend may have landed, or may still land. */
const uncertain: readonly string[] = [
  'spend_unfinished',
  'spend_unknown',
  'spend_unreadable',
  'configuration_changed',
  'internal_error',
];

function explainFailure(error: unknown, { operation, key, body }: SpendOrder): unknown {
  if (!isPoolError(error) || body.dryRun === true || !uncertain.includes(error.code)) {
    return error;
  }
  const found = error.code === 'spend_unfinished' ? '' : `${error.code}: `;
  return new PoolError(
    'spend_unfinished',
    [
      `${found}${error.message}`,
      'do not pay again before you know: read the chain, or look at "disburse-agent balance" when the deadline of the spend has passed',
      `the same command with --key ${key} shows the outcome as long as the agent knows the key, and never begins another ${operation}`,
    ].join('\n'),
    { cause: error },
  );
}
