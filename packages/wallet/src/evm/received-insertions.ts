/**
 * Payments that a holder received, opened for a disclosure. The sealed notes come from the calldata of a transfer, or for a batch from the
 * platform's listing.
 *
 * @module
 */
import type { History } from '@pool/api';
import {
  type AssetId,
  computeAssetId,
  type DisclosedInsertion,
  type Disclosure,
  type Hex,
  type Hex32,
  PoolError,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
  type Secret,
} from '@pool/core';
import { openReceivedPayment } from '@pool/notes';
import type { HolderSigner } from '@pool/signers/holder-signer';
import {
  assertFound,
  createDisclosureContent,
  type DisclosureChoice,
  type DisclosureParties,
  type DisclosurePurpose,
  isChosen,
} from '../disclosure/choice.ts';
import type { DeliveryPort } from '../sync/ports.ts';
import type { EvmRecords } from './evm-records.ts';

export type ReceivedSources = {
  /** One page of the history in the range. @param after - id of an entry */
  fetchHistory(after: string | undefined): Promise<Pick<History, 'entries' | 'more'>>;
  readonly records: Pick<EvmRecords, 'fetchTransactionLeaves'>;
  readonly deliveries: DeliveryPort;
  readonly holder: {
    readonly walletPub: string;
    readonly address: string;
    readonly viewingKey: Secret<bigint>;
    readonly signer: Pick<HolderSigner, 'signDisclosure'>;
  };
};

type Received = {
  readonly index: number;
  readonly slot: number;
  readonly txHash: Hex32;
  readonly commitment: Hex32;
};

/**
 * The signed document of a payee: that it received these payments. It does not show who paid.
 * @throws PoolError `not_found`, `invalid_request`; the errors of the signer
 */
export async function discloseReceived(
  choice: Omit<DisclosureChoice, 'range'>,
  purpose: DisclosurePurpose & { readonly nowMs: number },
  place: Pick<DisclosureParties, 'settings' | 'token'> & { readonly symbol: string },
  sources: ReceivedSources,
): Promise<Disclosure> {
  const { settings, token, symbol } = place;
  const { address, signer } = sources.holder;
  const assetId = computeAssetId(settings.chainId, settings.pool, token);
  const insertions = await listReceivedInsertions(choice, { symbol, assetId }, sources);
  const parties = { settings, token, role: 'payee', discloser: parseEvmAddress(address) } as const;
  const content = createDisclosureContent(purpose, parties, insertions, purpose.nowMs);
  return { ...content, signature: await signer.signDisclosure(content) };
}

async function listReceivedInsertions(
  choice: Omit<DisclosureChoice, 'range'>,
  token: { readonly symbol: string; readonly assetId: AssetId },
  sources: ReceivedSources,
): Promise<readonly DisclosedInsertion[]> {
  const received = await listReceived(choice, sources);
  assertFound(received.length);
  const { walletPub, viewingKey } = sources.holder;
  const insertions = new Map<number, DisclosedInsertion>();
  for (const note of received) {
    const { index, slot, txHash, commitment } = note;
    const { kind, sealed, all } = await findSealed(note, token.symbol, sources);
    const withMemo = choice.withMemos && all !== undefined;
    const payment = openReceivedPayment({
      ...{ slot, assetId: token.assetId, sealed, walletPub: parseHex(walletPub) },
      ...{ commitment: parseField(commitment), viewingKey: viewingKey.reveal(), withMemo },
    });
    if (payment === undefined) {
      throw unavailable(commitment);
    }
    const earlier = insertions.get(index)?.payments ?? [];
    const shown = choice.withMemos && all !== undefined ? { sealedNotes: [...all] } : {};
    insertions.set(index, { kind, txHash, index, ...shown, payments: [...earlier, payment] });
  }
  return [...insertions.values()];
}

async function listReceived(
  { transactions, commitments }: Pick<DisclosureChoice, 'transactions' | 'commitments'>,
  { fetchHistory }: ReceivedSources,
): Promise<readonly Received[]> {
  const received: Received[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await fetchHistory(after);
    for (const entry of page.entries) {
      if (
        entry.kind === 'received' &&
        !entry.isChange &&
        isChosen(transactions, entry.txHash) &&
        isChosen(commitments, entry.commitment)
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
  symbol: string,
  { records, deliveries }: ReceivedSources,
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
  const own = leaf.kind === 'spend' ? leaf.sealedNotes[slot] : undefined;
  if (leaf.kind === 'spend' && own !== undefined) {
    return { kind: 'spend', sealed: own, all: leaf.sealedNotes };
  }
  const kind = leaf.kind === 'spend' ? 'spend' : 'batch';
  for (let cursor: string | undefined; ; ) {
    const page = await deliveries.fetchPage(symbol, cursor);
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
