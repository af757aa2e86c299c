/**
 * What each recipient finds: the notes the platform serves to the recipient's own `holder.read` key, opened
 * with the recipient's own viewing key.
 *
 * @module
 */
import { computeAssetId, parseEvmAddress, parseField, parseWalletPub, Secret } from '@pool/core';
import { computeWalletId, createNoteScanner, type NoteScanner, parseViewingKey } from '@pool/notes';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { chainId } from '../chain/local-chain.ts';
import { type Holder, openSession } from '../chain/people.ts';
import type { SandboxFile } from '../stack/sandbox-file.ts';

export type ReceivedNote = {
  readonly commitment: string;
  /** Base units. */
  readonly amount: bigint;
  readonly memo: string | undefined;
  readonly txHash: string;
};

/** The parts of a running sandbox that this needs. */
export type NotesPlace = Pick<SandboxFile, 'platformUrl' | 'chain' | 'contracts' | 'tokens'>;

/** Signs in as the holder, mints a key that may only read, and opens what the platform serves. */
export async function readReceivedNotes(
  place: NotesPlace,
  holder: Holder,
  symbol: string,
): Promise<readonly ReceivedNote[]> {
  const [notes = []] = await readAllReceivedNotes(place, [holder], symbol);
  return notes;
}

/** The same for several holders, in their order. Their scans share one set of threads. */
export async function readAllReceivedNotes(
  place: NotesPlace,
  holders: readonly Holder[],
  symbol: string,
): Promise<readonly (readonly ReceivedNote[])[]> {
  const scanner = await createNoteScanner();
  try {
    return await Promise.all(holders.map((holder) => readAs(holder, place, symbol, scanner)));
  } finally {
    await scanner.close();
  }
}

async function readAs(
  holder: Holder,
  place: NotesPlace,
  symbol: string,
  scanner: NoteScanner,
): Promise<readonly ReceivedNote[]> {
  const session = await openSession(new Secret(holder.privateKey), place);
  const key = await session.mintKey('holder.read', 'sandbox: read received notes');
  const edge = createEdgeClient({ url: `${place.platformUrl}/agent-edge`, token: key.apiKey });
  const assetId = computeAssetId(
    chainId,
    parseEvmAddress(place.contracts.pool),
    parseEvmAddress(place.tokens[symbol]?.address),
  );
  const served = await readAllPages(edge, place.chain, symbol);
  const notes = served.map((origin) => ({
    origin,
    sealed: origin.sealed,
    commitment: parseField(origin.commitment),
    assetId,
  }));
  const viewingKey = parseViewingKey(holder.viewingKey);
  const walletId = computeWalletId(parseWalletPub(holder.walletPub));
  const received: ReceivedNote[] = [];
  for await (const { note, opened } of scanner.scan({ notes, viewingKey, walletId })) {
    const { commitment, txHash } = note.origin;
    received.push({ commitment, amount: opened.amount, memo: opened.memo, txHash });
  }
  return received;
}

/**
 * A request waits for the platform's index for 3 s. An answer that took longer may lack the newest notes, so it is asked for again, for two
 * minutes at most.
 */
export async function untilIndexed<T>(read: () => Promise<T>): Promise<T> {
  const giveUpAtMs = performance.now() + 120_000;
  for (;;) {
    const startedAtMs = performance.now();
    const answer = await read();
    const endedAtMs = performance.now();
    if (endedAtMs - startedAtMs < 3_000 || endedAtMs > giveUpAtMs) return answer;
  }
}

type ServedNotes = Awaited<ReturnType<EdgeClient['getNotes']>>['notes'];

async function readAllPages(edge: EdgeClient, chain: string, token: string): Promise<ServedNotes> {
  const notes: ServedNotes = [];
  let cursor: string | undefined;
  do {
    const query = { chain, token, ...(cursor === undefined ? {} : { cursor }) };
    const page = await untilIndexed(() => edge.getNotes(query));
    const listed = [...page.notes, ...(page.open ?? [])];
    notes.push(...listed);
    cursor = listed.length === 0 ? undefined : page.cursor;
  } while (cursor !== undefined);
  return notes;
}
