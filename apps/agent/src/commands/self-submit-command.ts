/**
 * `disburse-agent send --self-submit`: withdraws in this process, without a platform, a gate or a running agent. The transaction is sent
 * with `DISBURSE_GAS_PRIVATE_KEY` through the RPC of chains.json (docs/decisions/0050).
 *
 * @module
 */
import {
  type ChainsFile,
  type Hex32,
  isPoolError,
  PoolError,
  parseWalletPub,
  type SendRequest,
} from '@pool/core';
import type { ArchivedSpend, GasQuote } from '@pool/operations';
import { readSelfSubmitSettings, type SelfSubmitSettings } from '../config/self-submit-config.ts';
import { variables } from '../config/variables.ts';
import { createAgentLog } from '../services/agent-log.ts';
import { readChainsFile } from '../services/chains.ts';
import { findGasNotice } from '../services/destination-gas.ts';
import { createEqualWithdrawal } from '../services/equal-withdrawals.ts';
import { type Holder, openHolder } from '../services/holder.ts';
import type { HolderChain } from '../services/holder-notes.ts';
import { readKeptNotes } from '../services/kept-notes.ts';
import {
  openSelfSubmission,
  type SelfSubmission,
  type WithdrawalRequest,
} from '../services/self-submit.ts';
import { ensureAgentHome } from '../state/agent-home.ts';
import { type Output, withInterruption } from '../terminal/command-output.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createSelfSubmitView, formatCoin } from '../terminal/self-submit-view.ts';
import { confirmSpend, readSpendPlace } from './spend-echo.ts';
import { assertAmount, refuseAddress } from './spend-recipients.ts';

export type SelfSubmitOptions = {
  /** Base units. Absent: submits the withdrawals that are open. */
  readonly amount?: string;
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

/** @returns the exit code */
export async function runSelfSubmit(options: SelfSubmitOptions, output: Output): Promise<number> {
  if (options.amount !== undefined) {
    assertAmount(options.amount, '--amount');
  }
  if (options.key !== undefined) {
    throw new PoolError(
      'invalid_request',
      '--key asks the agent, and --self-submit does not: run it without --key, and it continues what is open',
    );
  }
  const settings = readSelfSubmitSettings(options.envFile);
  refuseAddress(options.to, settings.holder.sendDestinations);
  const { gasPrivateKey } = settings;
  if (gasPrivateKey === undefined) {
    const { name } = variables.gasPrivateKey;
    throw new PoolError(
      'gas_key_missing',
      `${name} is required by --self-submit: the key of an account with coin of the chain, which pays the gas`,
    );
  }
  ensureAgentHome(settings.home);
  const chain = findChain(options.chain ?? settings.chain, readChainsFile(settings.chainsFile));
  const holder = await openEvmHolder(settings, chain);
  const token = options.token ?? settings.holder.tokenSymbol;
  const view = createSelfSubmitView(output.terminal);
  return await withInterruption(async (signal) => {
    const submission = openSelfSubmission({
      settings: { ...settings, gasPrivateKey },
      ...{ holder, chain, signal },
      kept: readNotes(options.notes, token, holder, chain),
      log: createAgentLog(settings.logLevel === 'info' ? 'warn' : settings.logLevel),
      onEvent: view.show,
      onSent: view.showSent,
    });
    try {
      return await perform({ ...options, token }, { submission, settings, holder, chain }, output);
    } finally {
      view.end();
      await submission.close();
    }
  });
}

type Parts = {
  readonly submission: SelfSubmission;
  readonly settings: SelfSubmitSettings;
  readonly holder: Holder;
  readonly chain: HolderChain;
};

async function perform(
  options: SelfSubmitOptions & { readonly token: string },
  parts: Parts,
  output: Output,
): Promise<number> {
  const { out, terminal } = output;
  const { submission } = parts;
  const withdrawals = await chooseWithdrawals(options, parts);
  for (const { request, open } of withdrawals) {
    refuseLink(open?.secrets?.manifest.recipient ?? findRecipient(request.to, parts), parts);
  }
  terminal.write(describeCost(await submission.submitter.quote()));
  await showGasNotices(withdrawals, parts, output);
  let code: number = exitCodes.ok;
  for (const { request: asked, open } of withdrawals) {
    const request =
      open === undefined
        ? { ...asked, accepted: await confirmRepetition(asked, options, parts, output) }
        : asked;
    if (open === undefined && request.dryRun !== true && options.yes !== true) {
      const { settings, chain } = parts;
      const place = readSpendPlace(chain.key, request.token, settings);
      await confirmSpend({ operation: 'send', body: toBody(request) }, place, output);
    }
    if (open !== undefined) {
      terminal.write(
        `continuing the withdrawal of ${request.amount} base units that began at ${new Date(open.createdAtMs).toISOString()}: its own authorisation is submitted, and no second one is made\n`,
      );
    }
    const receipt = await submission.withdraw(request, open).catch((error: unknown) => {
      throw explainUnfinished(error);
    });
    out(JSON.stringify(receipt, null, 2));
    code = receipt.status === 'reverted' ? exitCodes.partial : code;
  }
  return code;
}

/**
 * Shows equal withdrawals that were paid lately. The archive cannot know whether the command is run again because its outcome was not seen.
 * @returns outRoots of those that are paid once more
 * @throws PoolError `payment_declined`; `equal_withdrawal` where nobody can answer
 */
async function confirmRepetition(
  request: WithdrawalRequest,
  { again }: SelfSubmitOptions,
  parts: Parts,
  { ask, terminal }: Output,
): Promise<ReadonlySet<Hex32>> {
  const paid = await parts.submission.listPaid(request, findRecipient(request.to, parts));
  for (const { createdAtMs, state } of paid) {
    const txHash = state.kind === 'settled' ? state.txHash : '';
    terminal.write(
      `an equal withdrawal of ${request.amount} base units began at ${new Date(createdAtMs).toISOString()} and was paid by transaction ${txHash}\n`,
    );
  }
  const [first] = paid;
  if (first !== undefined && again !== true && request.dryRun !== true) {
    if (ask === undefined) {
      throw createEqualWithdrawal(first);
    }
    const answer = await ask('Pay the same amount to the same destination a second time? [y/N] ');
    if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
      throw new PoolError('payment_declined', 'nothing was sent: the repetition was not confirmed');
    }
  }
  return new Set(paid.map(({ outRoot }) => outRoot));
}

function toBody({ token, amount, to }: WithdrawalRequest): SendRequest {
  return { token, amount, ...(to === undefined ? {} : { to }) };
}

/** The archive and the signed transaction are on disk. With --amount a command after the outcome would begin another withdrawal. */
function explainUnfinished(error: unknown): unknown {
  return isPoolError(error) && error.code === 'spend_unfinished'
    ? new PoolError(
        'spend_unfinished',
        `${error.message}\nrun the same command again without --amount: it continues this withdrawal with the same authorisation and the same transaction, and begins no other`,
        { cause: error },
      )
    : error;
}

type Withdrawal = { readonly request: WithdrawalRequest; readonly open?: ArchivedSpend };

/**
 * With an amount: that withdrawal. If an equal one is open, it is the same one: it may be on its way, and the notes of a second one would
 * be paid too. Without an amount: everything that is open and signed.
 */
async function chooseWithdrawals(
  { amount, to, token, dryRun }: SelfSubmitOptions & { readonly token: string },
  { submission, chain, settings, holder }: Parts,
): Promise<readonly Withdrawal[]> {
  const open = await submission.listOpen();
  if (amount === undefined) {
    const signed = open.filter(({ state }) => state.kind === 'released');
    if (signed.length === 0) {
      throw new PoolError(
        'nothing_to_submit',
        'no withdrawal of this holder was sent and is still open; give --amount to begin one',
      );
    }
    return signed.map((spend) => ({ request: describeOpen(spend, chain, settings), open: spend }));
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
  if (other !== undefined && dryRun !== true) {
    throw new PoolError(
      'invalid_request',
      'several equal withdrawals are open: run the command without --amount, which submits those that were sent, and wait until they are decided',
    );
  }
  return [equal === undefined || dryRun === true ? { request } : { request, open: equal }];
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
  { holder, settings }: Pick<Parts, 'holder' | 'settings'>,
): string | undefined {
  return to === undefined ? holder.address : settings.holder.sendDestinations.get(to);
}

/** The sender of the transaction is public. Sent with the holder's own key, it would say who withdraws. */
function refuseLink(recipient: string | undefined, { submission, holder }: Parts): void {
  if (submission.submitter.address === holder.address && recipient !== holder.address) {
    throw new PoolError(
      'gas_key_links_holder',
      `${variables.gasPrivateKey.name} is the key of the holder, so the transaction would publish that ${holder.address} withdraws to ${recipient ?? 'another address'}; use the key of another account, or omit --to`,
    );
  }
}

/** A line for each destination that cannot pay gas. */
async function showGasNotices(
  withdrawals: readonly Withdrawal[],
  parts: Parts,
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

/** @throws PoolError `invalid-chain` */
function findChain(key: string | undefined, { chains }: ChainsFile): HolderChain {
  const keys = Object.keys(chains).sort();
  const chosen = key ?? (keys.length === 1 ? keys[0] : undefined);
  const settings =
    chosen === undefined || !Object.hasOwn(chains, chosen) ? undefined : chains[chosen];
  if (chosen === undefined || settings === undefined) {
    throw new PoolError(
      'invalid-chain',
      `name the chain with --chain or ${variables.chain.name}: chains.json has ${keys.join(', ')}`,
    );
  }
  return { key: chosen, settings };
}

async function openEvmHolder(settings: SelfSubmitSettings, { key }: HolderChain): Promise<Holder> {
  const holder = await openHolder({ ...settings, chain: key });
  if (holder.family.name !== 'evm') {
    throw new PoolError(
      'holder_unsupported',
      'this repository has no pool on the chain of this holder, so it cannot spend',
    );
  }
  return holder;
}

function readNotes(
  path: string | undefined,
  symbol: string,
  holder: Holder,
  { settings }: HolderChain,
): ReturnType<typeof readKeptNotes> {
  const address = settings.tokens[symbol]?.address;
  if (path === undefined || address === undefined) {
    return [];
  }
  const { chainId, pool } = settings;
  return readKeptNotes(path, address, {
    chainId,
    pool,
    walletPub: parseWalletPub(holder.walletPub),
  });
}
