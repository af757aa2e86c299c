/**
 * Nonces that nothing is stored for, or only what was dropped, below one that is in use: the chain executes nothing behind such a gap. A
 * node that answered a too high number of transactions causes one, and a key that comes back after its transaction was given up.
 *
 * @module
 */
import { writeAsLeader } from '@pool/database';
import { insertTransaction, type RelayerDeps, type SentNonce } from './sent-nonces.ts';

type Gap = {
  readonly nonce: number;
  readonly attempt: number;
  /** The newest that waits for it. */
  readonly behind: SentNonce[0];
};

/** The gaps of the relayer's own account. @param open - of all accounts */
export async function findGaps(deps: RelayerDeps, open: readonly SentNonce[]): Promise<Gap[]> {
  const { chain } = deps;
  const sender = chain.relayerAddress;
  const own = open.map(([newest]) => newest).filter((newest) => newest.sender === sender);
  const behind = own.at(-1);
  if (behind === undefined) {
    return [];
  }
  const stored = new Set(own.map(({ nonce }) => nonce));
  const gaps: Gap[] = [];
  for (let nonce = await chain.fetchNonce(); nonce < behind.nonce; nonce += 1) {
    const states = stored.has(nonce) ? undefined : await selectStates(deps, nonce);
    // Given up under another key, or never stored. One with an outcome is used: a node that lags counts it as unused.
    if (states?.every((state) => state === 'dropped') === true) {
      gaps.push({ nonce, attempt: states.length, behind });
    }
  }
  return gaps;
}

/** Fills a gap with a payment of 0 to the account itself. */
export async function closeGap(deps: RelayerDeps, { nonce, attempt, behind }: Gap): Promise<void> {
  const { chain, log } = deps;
  const signed = await chain.signCancel(nonce);
  const as = { id: behind.submission_id, purpose: 'cancel', attempt } as const;
  await writeAsLeader(deps, (trx) => insertTransaction({ ...deps, db: trx }, as, signed));
  log.warn(
    { nonce, behind: behind.nonce, txHash: signed.txHash },
    'a gap before a nonce is closed',
  );
  await chain.broadcast(signed.rawTransaction);
}

/** Of all transactions that were ever stored for a nonce of the account. */
async function selectStates({ db, chain }: RelayerDeps, nonce: number) {
  const rows = await db
    .selectFrom('relayer_transactions')
    .select('state')
    .where('chain', '=', chain.key)
    .where('sender', '=', chain.relayerAddress)
    .where('nonce', '=', nonce)
    .execute();
  return rows.map(({ state }) => state);
}
