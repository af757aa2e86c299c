/**
 * Nonces that nothing was stored for, below one that is in use: the chain executes nothing behind such a gap. A node that answered a too
 * high number of transactions causes one.
 *
 * @module
 */
import { writeAsLeader } from '@pool/database';
import { insertTransaction, type RelayerDeps, type SentNonce } from './nonces.ts';

/** Fills the gaps of the relayer's own account with payments of 0 to itself. @param open - of all accounts */
export async function closeGaps(deps: RelayerDeps, open: readonly SentNonce[]): Promise<void> {
  const { chain, log } = deps;
  const sender = chain.relayerAddress;
  const own = open.map(([newest]) => newest).filter((newest) => newest.sender === sender);
  const last = own.at(-1);
  if (last === undefined) {
    return;
  }
  const stored = new Set(own.map(({ nonce }) => nonce));
  for (let nonce = await chain.fetchNonce(); nonce < last.nonce; nonce += 1) {
    if (stored.has(nonce) || (await isStored(deps, nonce))) {
      continue;
    }
    const signed = await chain.signCancel(nonce);
    const as = { id: last.submission_id, purpose: 'cancel', attempt: 0 } as const;
    await writeAsLeader(deps, (trx) => insertTransaction({ ...deps, db: trx }, as, signed));
    log.warn(
      { nonce, behind: last.nonce, txHash: signed.txHash },
      'a gap before a nonce is closed',
    );
    await chain.broadcast(signed.rawTransaction);
  }
}

/** Whatever its state: a node that lags counts it as unused. */
async function isStored({ db, chain }: RelayerDeps, nonce: number): Promise<boolean> {
  const row = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('chain', '=', chain.key)
    .where('sender', '=', chain.relayerAddress)
    .where('nonce', '=', nonce)
    .executeTakeFirst();
  return row !== undefined;
}
