/**
 * Clients of the gate that may read. The platform writes them, one per employer. They are kept in memory beside the rows,
 * so that a guessed client id causes no query before its address is limited; a change is written to the rows first. Another gate may write
 * one, so the row decides about each access token.
 *
 * A state has a generation. A lower one never replaces a higher one, and a revoked generation stays revoked: a write
 * that was in progress while an operator revoked the client cannot restore it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { GateDatabase } from './gate-tables.ts';
import type { KnownClient } from './oauth.ts';

type ReaderClientState = {
  readonly generation: number;
  /** SHA-256 of the secret; null: revoked. */
  readonly secretHash: string | null;
};

export type ReaderClients = Awaited<ReturnType<typeof openReaderClients>>;

export async function openReaderClients(db: GateDatabase, nowMs: () => number) {
  const live = new Map<string, KnownClient>();

  function adopt(clientId: string, secretHash: string | null): void {
    if (secretHash === null) {
      live.delete(clientId);
    } else {
      live.set(clientId, { secretHash, scopes: ['gate.read'], isGuessable: false });
    }
  }

  for (const row of await db.selectFrom('reader_clients').selectAll().execute()) {
    adopt(row.client_id, row.secret_hash);
  }

  return {
    /** The live client of an id, as this process has seen it. */
    find: (clientId: string): KnownClient | undefined => live.get(clientId),
    /** The same as the row has it. */
    async read(clientId: string): Promise<KnownClient | undefined> {
      const row = await db
        .selectFrom('reader_clients')
        .select('secret_hash')
        .where('client_id', '=', clientId)
        .executeTakeFirst();
      adopt(clientId, row?.secret_hash ?? null);
      return live.get(clientId);
    },
    /** @throws PoolError `stale_generation` (409) */
    async put(clientId: string, { generation, secretHash }: ReaderClientState): Promise<void> {
      const values = {
        secret_hash: secretHash,
        generation,
        updated_at: new Date(nowMs()).toISOString(),
      };
      await db
        .insertInto('reader_clients')
        .values({ client_id: clientId, ...values })
        .onConflict((conflict) =>
          conflict
            .column('client_id')
            .doUpdateSet(values)
            .where((eb) =>
              eb.or([
                eb('reader_clients.generation', '<', generation),
                eb.and([
                  eb('reader_clients.generation', '=', generation),
                  eb('reader_clients.secret_hash', 'is not', null),
                ]),
              ]),
            ),
        )
        .execute();
      // Read again, not taken from the request: after two concurrent writes the row has the valid state.
      const row = await db
        .selectFrom('reader_clients')
        .selectAll()
        .where('client_id', '=', clientId)
        .executeTakeFirstOrThrow();
      adopt(clientId, row.secret_hash);
      const isTaken = Number(row.generation) === generation && row.secret_hash === secretHash;
      if (!isTaken) {
        const isRevoked = Number(row.generation) === generation && row.secret_hash === null;
        throw new PoolError(
          'stale_generation',
          isRevoked
            ? 'this generation of the client is revoked'
            : 'the gate has a later generation of this client',
        );
      }
    },
  };
}
