/**
 * `disburse-agent disclose payee`: proves payments that the holder received. The agent must run: its history says which there are. The sealed
 * notes come from the calldata of a transfer, or for a batch from the platform's listing; the viewing key opens them in this process, and W
 * signs here.
 *
 * @module
 */
import {
  computeAssetId,
  type DisclosedInsertion,
  type Hex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
} from '@pool/core';
import { openReceivedPayment } from '@pool/notes';
import type { DeliveryPort } from '@pool/wallet';
import { createEvmRecords, type EvmRecords } from '@pool/wallet/evm';
import { type Holder, systemClock } from '@pool/wallet/node';
import { readConfig } from '../../config/config.ts';
import type { HolderClient } from '../../services/holder/holder-client.ts';
import { createDeliveries } from '../../services/holder/served-notes.ts';
import { assertSigns, openHolder } from '../../services/signers/holder.ts';
import type { Output } from '../../terminal/command-output.ts';
import { openClient } from '../holder/balance-command.ts';
import { parseRange } from '../holder/history-range.ts';
import {
  assertChoice,
  assertFound,
  createContent,
  type DiscloseOptions,
  findChain,
  findToken,
  isChosen,
  refuse,
  writeDisclosure,
} from './disclose-options.ts';

/** What the command asks. */
export type PayeeSources = {
  readonly client: Pick<HolderClient, 'history'>;
  readonly records: Pick<EvmRecords, 'fetchTransactionLeaves'>;
  readonly deliveries: DeliveryPort;
  readonly holder: Pick<Holder, 'walletPub' | 'address' | 'viewingKey' | 'signer'>;
};

type Received = {
  readonly index: number;
  readonly slot: number;
  readonly txHash: Hex32;
  readonly commitment: Hex32;
};

/** @returns the exit code */
export async function runDisclosePayee(
  options: DiscloseOptions,
  output: Pick<Output, 'out'>,
): Promise<number> {
  const config = readConfig(options.envFile);
  const { holder, chainsFile, platformUrl } = config;
  assertSigns(holder, 'sign a disclosure');
  const { key, settings } = findChain(config, options.chain);
  const { client } = openClient(options);
  const { balanceToken } = holder;
  const records = createEvmRecords(settings);
  try {
    const sources: PayeeSources = {
      client,
      records,
      deliveries: createDeliveries({ platformUrl, balanceToken, chain: key }),
      holder: await openHolder({ chain: key, chainsFile, holder }),
    };
    const symbol = options.token ?? holder.tokenSymbol;
    return await discloseReceived({ ...options, token: symbol }, settings, sources, output);
  } finally {
    records.close();
  }
}

/** @returns the exit code */
export async function discloseReceived(
  options: DiscloseOptions & { readonly token: string },
  settings: ReturnType<typeof findChain>['settings'],
  sources: PayeeSources,
  output: Pick<Output, 'out'>,
): Promise<number> {
  assertChoice(options);
  if (options.job.length > 0 || options.payRun !== undefined) {
    throw refuse(
      '--job and --pay-run name what a payer paid; choose by --tx, --commitment or days',
    );
  }
  const { holder } = sources;
  const token = findToken(options.token, settings);
  const received = await listReceived(options, sources.client);
  assertFound(received.length);
  const assetId = computeAssetId(settings.chainId, settings.pool, token);
  const insertions = new Map<number, DisclosedInsertion>();
  for (const note of received) {
    const { index, slot, txHash, commitment } = note;
    const { kind, sealed, all } = await findSealed(note, options, sources);
    const payment = openReceivedPayment({
      ...{ slot, assetId, sealed, walletPub: parseHex(holder.walletPub) },
      commitment: parseField(commitment),
      viewingKey: holder.viewingKey.reveal(),
      withMemo: options.memos === true && all !== undefined,
    });
    if (payment === undefined) {
      throw unavailable(commitment);
    }
    const earlier = insertions.get(index)?.payments ?? [];
    const shown = options.memos === true && all !== undefined ? { sealedNotes: [...all] } : {};
    insertions.set(index, { kind, txHash, index, ...shown, payments: [...earlier, payment] });
  }
  const discloser = parseEvmAddress(holder.address);
  const parties = { settings, token, role: 'payee' as const, discloser };
  const nowMs = systemClock.nowMs();
  const content = createContent(options, parties, [...insertions.values()], nowMs);
  return writeDisclosure(content, await holder.signer.signDisclosure(content), options, output);
}

async function listReceived(
  options: DiscloseOptions & { readonly token: string },
  client: PayeeSources['client'],
): Promise<readonly Received[]> {
  const received: Received[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await client.history(options.token, { ...parseRange(options), after });
    for (const entry of page.entries) {
      if (
        entry.kind === 'received' &&
        !entry.isChange &&
        isChosen(options.tx, entry.txHash) &&
        isChosen(options.commitment, entry.commitment)
      ) {
        const { index, slot } = entry;
        const [txHash, commitment] = [parseHex32(entry.txHash), parseHex32(entry.commitment)];
        received.push({ index, slot, txHash, commitment });
      }
    }
    after = page.entries.at(-1)?.id ?? after;
    if (!page.more) {
      return received;
    }
  }
}

/** The sealed note, and all of its event where the chain has them. */
async function findSealed(
  { index, slot, txHash, commitment }: Received,
  { token }: { readonly token: string },
  { records, deliveries }: PayeeSources,
): Promise<{
  readonly kind: DisclosedInsertion['kind'];
  readonly sealed: Hex;
  readonly all: readonly Hex[] | undefined;
}> {
  const leaves = await records.fetchTransactionLeaves(txHash);
  const leaf = leaves.find(({ leafIndex }) => leafIndex === index);
  if (leaf === undefined) {
    throw unavailable(commitment);
  }
  if (leaf.kind === 'spend') {
    const all = leaf.sealedNotes;
    const own = all[slot];
    if (own !== undefined) {
      return { kind: 'spend', sealed: own, all };
    }
  }
  const kind = leaf.kind === 'spend' ? 'spend' : 'batch';
  for (let cursor: string | undefined; ; ) {
    const page = await deliveries.fetchPage(token, cursor);
    const listed = [...page.notes, ...(page.open ?? [])];
    const found = listed.find((note) => note.commitment === commitment);
    if (found !== undefined) {
      return { kind, sealed: parseHex(found.sealed, 209), all: undefined };
    }
    if (page.cursor === undefined || page.cursor === cursor || listed.length === 0) {
      throw unavailable(commitment);
    }
    cursor = page.cursor;
  }
}

function unavailable(commitment: Hex32): PoolError {
  return new PoolError(
    'not_found',
    `the sealed note of ${commitment} is served neither by the chain nor by the platform, so the payment cannot be opened; try again, or leave it out`,
  );
}
