/**
 * The holder's history: the movements of its notes, with the times and withdrawals that the chain has and the payees
 * that its own archive of spends still has. Nothing of it is asked of the platform.
 *
 * @module
 */
import { type History, type HistoryEntry, historyPageSize } from '@pool/api';
import { type EvmChainSettings, errorCodeOf, type Hex32, type SpendManifest } from '@pool/core';
import { describeLocked, type LockedNotes } from '../archive/locked-notes.ts';
import type { ArchivedSpend } from '../archive/spend-archive.ts';
import type { Movement } from '../sync/build-history.ts';
import type { HolderNotes, TokenMovements } from './wallet-notes.ts';

/** Of a transaction of a chain. */
type FactPlace = {
  readonly chainId: number;
  readonly txHash: Hex32;
  /** What is known, and of which block or spend: another chain can have the same id. */
  readonly name: string;
};

/**
 * What was read of final blocks for histories, so that the RPC is asked once: times, withdrawals of spends, and costs of gas. Everything in
 * it can be read again.
 */
export type HistoryFacts = {
  find(place: FactPlace): string | undefined;
  keep(place: FactPlace, value: string): void;
  close(): void;
};

/** Facts of this process. */
export function createMemoryFacts(): HistoryFacts {
  const facts = new Map<string, string>();
  const keyOf = ({ chainId, txHash, name }: FactPlace): string => [chainId, txHash, name].join();
  return {
    find: (place) => facts.get(keyOf(place)),
    keep: (place, value) => void facts.set(keyOf(place), value),
    close: () => facts.clear(),
  };
}

export type HistoryRequest = {
  /** Symbol. */
  readonly token: string;
  /** Unix seconds, included. */
  readonly from?: number | undefined;
  /** Unix seconds, not included. */
  readonly to?: number | undefined;
  /** Id of an entry: later ones only. */
  readonly after?: string | undefined;
};

export type HolderHistory = {
  /** One page, as of the newest final block. @throws like `HolderNotes.readBalance` */
  read(request: HistoryRequest): Promise<History>;
  close(): void;
};

/** What a history reads of a chain. */
export type HistoryRecords = {
  /** Unix seconds. @throws PoolError `chain_unreachable` if the RPC does not have the block */
  fetchBlockTime(blockNumber: number): Promise<number>;
  /** What the calldata of a spend says. Undefined: the transaction calls another contract, which calls the pool. */
  fetchSpendCalldata(txHash: Hex32): Promise<
    | {
        readonly outRoot: Hex32;
        /** Base units that left the pool; 0 for a transfer. */
        readonly withdrawAmount: bigint;
        /** Undefined for a transfer. */
        readonly recipient: string | undefined;
      }
    | undefined
  >;
  /** Wei that the gas of a mined transaction cost. Undefined: it is not mined. */
  fetchGasCost(txHash: Hex32): Promise<bigint | undefined>;
  /** Frees the connection. */
  close(): void;
};

export type WalletHistoryDeps = {
  /** Closed with the history. */
  readonly facts: HistoryFacts;
  readonly notes: Pick<HolderNotes, 'holder' | 'readMovements'>;
  /** The agent's own archive. Undefined: it does not have the spend. */
  readonly findSpend: (outRoot: Hex32) => Promise<ArchivedSpend | undefined>;
  /** What spends that are underway hold of a token's notes. */
  readonly readLocked: (symbol: string) => Promise<LockedNotes | undefined>;
  /** Transactions whose gas a key of this agent directory paid. Default: none. */
  readonly listSentHashes?: (chainId: number) => ReadonlySet<Hex32>;
  readonly createRecords: (settings: EvmChainSettings) => HistoryRecords;
  /** The history leaves out what the gas of a transaction cost. */
  readonly onGasUnread: (code: string) => void;
};

/** Questions to the RPC at once. */
const width = 8;

export function createWalletHistory(deps: WalletHistoryDeps): HolderHistory {
  const { notes, findSpend, createRecords, facts } = deps;
  const { listSentHashes = () => new Set<Hex32>() } = deps;
  /** The gas is one amount of an entry. The history without it is worth more than no history. */
  function reportGas(error: unknown): undefined {
    deps.onGasUnread(errorCodeOf(error) ?? 'unknown');
  }

  /** Nothing is known to be paid if the file of them cannot be read. */
  function findSent(chainId: number): ReadonlySet<Hex32> {
    try {
      return listSentHashes(chainId);
    } catch (error) {
      reportGas(error);
      return new Set();
    }
  }

  let opened: { readonly of: EvmChainSettings; readonly records: HistoryRecords } | undefined;

  function open(settings: EvmChainSettings): HistoryRecords {
    if (opened?.of !== settings) {
      opened?.records.close();
      opened = { of: settings, records: createRecords(settings) };
    }
    return opened.records;
  }

  return {
    async read({ token, from, to, after }) {
      const { chain, movements } = await notes.readMovements(token);
      const { chainId, tokens } = chain.settings;
      const source = {
        ...{ facts, records: open(chain.settings), chainId, findSpend },
        ...{ sent: findSent(chainId), reportGas },
      };
      const first = after === undefined ? 0 : countUpTo(movements, after);
      const begin = Math.max(first, await countBefore(movements, from, source));
      const end = to === undefined ? movements.length : await countBefore(movements, to, source);
      const locked = await deps.readLocked(token);
      const page = movements.slice(begin, Math.min(end, begin + historyPageSize));
      return {
        chain: chain.key,
        symbol: token,
        decimals: tokens[token]?.decimals ?? 0,
        walletPub: (await notes.holder()).walletPub,
        entries: await mapWide(page, (movement) => createEntry(movement, source)),
        more: begin + page.length < end,
        ...(locked === undefined ? {} : describeLocked(locked)),
      };
    },
    close() {
      opened?.records.close();
      facts.close();
    },
  };
}

type Source = {
  readonly facts: HistoryFacts;
  readonly records: HistoryRecords;
  readonly chainId: number;
  readonly findSpend: WalletHistoryDeps['findSpend'];
  readonly sent: ReadonlySet<Hex32>;
  readonly reportGas: (error: unknown) => undefined;
};

type Movements = TokenMovements['movements'];

/** Movements up to and with the one of an id, which itself need not exist any more. */
function countUpTo(movements: Movements, id: string): number {
  const [index = 0, slot = -1] = id.split('.').map(Number);
  const found = movements.findIndex((movement) => {
    const own = movement.kind === 'received' ? movement.slot : -1;
    return movement.index > index || (movement.index === index && own > slot);
  });
  return found === -1 ? movements.length : found;
}

/** Movements before a time. Times never fall along the chain, so a few of them tell. */
async function countBefore(
  movements: Movements,
  seconds: number | undefined,
  source: Source,
): Promise<number> {
  let low = 0;
  let high = seconds === undefined ? 0 : movements.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const movement = movements[middle];
    if (movement === undefined) {
      break;
    }
    const isBefore = (await findTime(movement, source)) < (seconds ?? 0);
    [low, high] = isBefore ? [middle + 1, high] : [low, middle];
  }
  return low;
}

/** A fact of a movement: as it was read before, or read now and kept. Undefined: it cannot be read. */
async function findFact(
  { txHash }: Movement,
  name: string,
  { facts, chainId }: Source,
  read: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const place = { chainId, txHash, name };
  const known = facts.find(place);
  if (known !== undefined) {
    return known;
  }
  const value = await read();
  if (value !== undefined) {
    facts.keep(place, value);
  }
  return value;
}

async function findTime(movement: Movement, source: Source): Promise<number> {
  const { blockNumber } = movement;
  const seconds = await findFact(movement, `time ${blockNumber}`, source, async () =>
    String(await source.records.fetchBlockTime(blockNumber)),
  );
  return Number(seconds);
}

/** Undefined: the pool was called by another contract, so the calldata does not tell. */
async function findWithdrawal(
  movement: Extract<Movement, { kind: 'spent' }>,
  source: Source,
): Promise<Withdrawal | undefined> {
  const { txHash, outRoot } = movement;
  const found = await findFact(movement, `withdrawal ${outRoot}`, source, async () => {
    const calldata = await source.records.fetchSpendCalldata(txHash);
    return calldata?.outRoot === outRoot
      ? `${calldata.withdrawAmount} ${calldata.recipient ?? ''}`
      : undefined;
  });
  if (found === undefined) {
    return undefined;
  }
  const [amount = '', recipient = ''] = found.split(' ');
  return { amount: BigInt(amount), recipient: recipient === '' ? undefined : recipient };
}

/** Undefined: this agent directory has no key that paid it, or the amount cannot be read now. */
async function findGas(movement: Movement, source: Source): Promise<string | undefined> {
  const { txHash, blockNumber } = movement;
  const { records, sent, reportGas } = source;
  return sent.has(txHash)
    ? await findFact(movement, `gas ${blockNumber}`, source, async () =>
        (await records.fetchGasCost(txHash).catch(reportGas))?.toString(),
      )
    : undefined;
}

/** What left the pool in a spend. Undefined recipient: nothing. */
type Withdrawal = { readonly amount: bigint; readonly recipient: string | undefined };

async function createEntry(movement: Movement, source: Source): Promise<HistoryEntry> {
  const seconds = await findTime(movement, source);
  const { id, index, txHash } = movement;
  const place = {
    id,
    time: new Date(1_000 * seconds).toISOString().replace('.000Z', 'Z'),
    index,
    txHash,
    balance: movement.balance.toString(),
  };
  if (movement.kind === 'received') {
    const { amount, memo, slot, commitment, isChange } = movement;
    const text = memo === undefined ? {} : { memo };
    return { kind: 'received', ...place, amount: `${amount}`, ...text, slot, commitment, isChange };
  }
  const { spent, change, outRoot } = movement;
  const gas = await findGas(movement, source);
  const sums = {
    ...{ spent: `${spent}`, change: `${change}`, fee: '0' as const },
    ...(gas === undefined ? {} : { gasWei: gas }),
  };
  const manifest = (await source.findSpend(outRoot))?.secrets?.manifest;
  // The node is asked only for what this archive does not have: a node can lie about a recipient.
  const { amount: withdrawn, recipient } =
    (manifest === undefined ? await findWithdrawal(movement, source) : undefined) ??
    readWithdrawal(manifest);
  if (recipient !== undefined) {
    const amount = `${withdrawn}`;
    return { kind: 'send', ...place, ...sums, amount, address: recipient };
  }
  const amount = computePaid(movement, manifest);
  if (amount === 0n) {
    return { kind: 'merge', ...place, ...sums };
  }
  const payees = manifest?.outputs.map(({ walletPub, amount, memo }) => ({
    ...{ walletPub, amount },
    ...(memo === undefined || memo === '' ? {} : { memo }),
  }));
  return {
    kind: 'transfer',
    ...place,
    ...sums,
    ...(amount === undefined ? {} : { amount: `${amount}` }),
    ...(payees === undefined ? {} : { payees }),
  };
}

/**
 * What a spend paid to others: by its manifest, or by its notes.
 * @returns undefined: more came back than the notes of this agent had, so one that was used up is missing
 */
function computePaid(
  { spent, change }: Extract<Movement, { kind: 'spent' }>,
  manifest: SpendManifest | undefined,
): bigint | undefined {
  if (manifest !== undefined) {
    return manifest.outputs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  }
  return change > spent ? undefined : spent - change;
}

function readWithdrawal(manifest: SpendManifest | undefined): Withdrawal {
  return { amount: BigInt(manifest?.withdrawAmount ?? 0), recipient: manifest?.recipient };
}

/** Keeps the order. */
async function mapWide<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < values.length; start += width) {
    results.push(...(await Promise.all(values.slice(start, start + width).map(work))));
  }
  return results;
}
