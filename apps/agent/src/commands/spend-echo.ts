/**
 * The last step of a spend on a terminal: prints what is about to leave, in token units, and asks. A script is not asked and gets no
 * echo, as with a disbursement (docs/decisions/0023, §10).
 *
 * @module
 */
import {
  type EvmChainSettings,
  formatTokenUnits,
  PoolError,
  type SendRequest,
  type TransferRequest,
} from '@pool/core';
import type { Config } from '../config/config.ts';
import { readChainsFile } from '../services/chains.ts';
import type { Output } from '../terminal/command-output.ts';
import { nameOf } from './history-view.ts';

/** A spend that is about to be sent. */
export type PendingSpend =
  | { readonly operation: 'transfer'; readonly body: TransferRequest }
  | { readonly operation: 'send'; readonly body: SendRequest };

/** Where a spend takes place, as far as the command's own configuration says. */
export type SpendPlace = {
  /** Undefined: the platform vends it. */
  readonly chain: string | undefined;
  /** Of the token. Undefined: it is not known here. */
  readonly decimals: number | undefined;
  /** Labels of contacts by W. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Pinned addresses by label. */
  readonly destinations: ReadonlyMap<string, string>;
};

/** @throws PoolError `payment_declined`. Nothing was sent then */
export async function confirmSpend(
  spend: PendingSpend,
  place: SpendPlace,
  { ask, terminal }: Pick<Output, 'ask' | 'terminal'>,
): Promise<void> {
  if (ask === undefined) {
    return;
  }
  for (const line of describeSpend(spend, place)) {
    terminal.write(`${line}\n`);
  }
  const answer = await ask('Send this? [y/N] ');
  if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
    throw new PoolError('payment_declined', 'nothing was sent: the spend was not confirmed');
  }
}

/** For people, one line per fact. */
export function describeSpend(spend: PendingSpend, place: SpendPlace): readonly string[] {
  const { token } = spend.body;
  const inUnits = (amount: bigint): string =>
    place.decimals === undefined
      ? `${amount} base units of ${token}`
      : `${formatTokenUnits(amount, place.decimals)} ${token}`;
  const on = place.chain === undefined ? '' : ` on ${place.chain}`;
  if (spend.operation === 'send') {
    const { amount, to } = spend.body;
    return [
      `send${on}: ${inUnits(BigInt(amount))} to ${describeDestination(to, place)}`,
      '  the chain shows this amount and the address that receives it',
    ];
  }
  const { recipients } = spend.body;
  const total = recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return [
    `transfer${on}: ${inUnits(total)} in total to ${recipients.length} payee(s)`,
    ...recipients.map(
      ({ walletPub, amount }) =>
        `  ${inUnits(BigInt(amount))} to ${nameOf(walletPub, place.labels ?? new Map())}`,
    ),
  ];
}

function describeDestination(to: string | undefined, { destinations }: SpendPlace): string {
  const address = to === undefined ? undefined : destinations.get(to);
  if (to === undefined) {
    return "the holder's own wallet";
  }
  return address === undefined ? to : `${to} (${address})`;
}

/** @param chain - the one that the command names, if it names one */
export function readSpendPlace(
  chain: string | undefined,
  token: string,
  config: Pick<Config, 'chain' | 'chainsFile' | 'holder'>,
): SpendPlace {
  const { key, settings } = findSpendChain(chain, config);
  const tokens = settings?.tokens ?? {};
  const decimals = Object.hasOwn(tokens, token) ? tokens[token]?.decimals : undefined;
  return { chain: key, decimals, destinations: config.holder.sendDestinations };
}

/** What is undefined is not known here: the platform vends it. @throws PoolError of chains.json */
export function findSpendChain(
  chain: string | undefined,
  config: Pick<Config, 'chain' | 'chainsFile'>,
): { readonly key: string | undefined; readonly settings: EvmChainSettings | undefined } {
  const { chains } = readChainsFile(config.chainsFile);
  const [only, ...others] = Object.keys(chains);
  const key = chain ?? config.chain ?? (others.length === 0 ? only : undefined);
  const settings = key !== undefined && Object.hasOwn(chains, key) ? chains[key] : undefined;
  return { key, settings };
}
