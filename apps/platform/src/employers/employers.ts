/**
 * Employer accounts: one per wallet, opened by the wallet's own session.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type AccountAddress, PoolError, parseAccountAddress } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { sql } from 'kysely';
import { chargeCaller } from './charge-caller.ts';

/** The wallet of a session, as accounts identify it. */
export type AccountHolder = {
  readonly address: AccountAddress;
  /** For a contract wallet: the chain of the contract. */
  readonly contractChainId?: number | undefined;
};

/** Accounts that one address of the network may open within a day. */
const accountsPerCaller = 1_000;

const unusedAccountMs = 30 * 86_400_000;

/** A longer delete would delay sign-ins. */
const deletedAtOnce = 500;

export type Employer = { readonly id: string; readonly address: AccountAddress };

/**
 * Opens the account of a wallet, or returns the existing one.
 *
 * The id is a random UUID that chain observers never see: batch nonces are derived from it (protocol §3).
 * @param caller - the address that the request came from. Absent: the operator
 * @throws PoolError `contract_on_another_chain` (409), `rate_limited` (429)
 */
export async function registerEmployer(
  db: PlatformDatabase,
  holder: AccountHolder,
  name: string | undefined,
  nowMs: number,
  caller?: string,
): Promise<{ readonly employer: Employer; readonly created: boolean }> {
  const inserted = await db
    .transaction()
    .execute((trx) => insertEmployer(trx, holder, name, nowMs, caller));
  return inserted === undefined
    ? { employer: await getEmployer(db, holder), created: false }
    : { employer: { id: inserted.id, address: holder.address }, created: true };
}

/** @returns undefined when the address has an account already */
async function insertEmployer(
  trx: PlatformDatabase,
  holder: AccountHolder,
  name: string | undefined,
  nowMs: number,
  caller: string | undefined,
): Promise<{ readonly id: string } | undefined> {
  const inserted = await trx
    .insertInto('employers')
    .values({
      id: randomUUID(),
      address: holder.address,
      contract_chain_id: holder.contractChainId ?? null,
      name: name ?? null,
      created_at: new Date(nowMs).toISOString(),
    })
    .onConflict((conflict) => conflict.column('address').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted !== undefined) {
    await trx
      .updateTable('sessions')
      .set({ has_account: true })
      .where('address', '=', holder.address)
      .execute();
    if (caller !== undefined) {
      await chargeCaller(trx, `account ${caller}`, accountsPerCaller, nowMs, tooManyAccounts);
    }
  }
  return inserted;
}

function tooManyAccounts(retryAfterSeconds: number): PoolError {
  return new PoolError(
    'rate_limited',
    `${accountsPerCaller} accounts were opened from this address within a day; try again later, or from another network`,
    { details: { retryAfterSeconds } },
  );
}

/**
 * Deletes accounts that nobody ever used, {@link unusedAccountMs} after they were opened. A wallet that returns opens another one.
 * @returns how many
 */
export async function deleteUnusedEmployers(db: PlatformDatabase, nowMs: number): Promise<number> {
  const used = [
    'credentials',
    'submissions',
    'invitations',
    'invitation_links',
    'gate_readers',
  ] as const;
  const holders = ['subjects', 'sessions'] as const;
  const unused = db
    .selectFrom('employers')
    .select('id')
    .where('created_at', '<', new Date(nowMs - unusedAccountMs).toISOString())
    .where('wallet_limit', 'is', null)
    .where((eb) =>
      eb.and([
        ...used.map(
          (table) =>
            sql<boolean>`not exists (select 1 from ${sql.table(table)} t where t.employer_id = employers.id)`,
        ),
        ...holders.map(
          (table) =>
            sql<boolean>`not exists (select 1 from ${sql.table(table)} t where t.address = employers.address)`,
        ),
        sql<boolean>`not exists (select 1 from submissions t where t.owner = employers.address)`,
      ]),
    )
    .limit(deletedAtOnce);
  const deleted = await db.deleteFrom('employers').where('id', 'in', unused).executeTakeFirst();
  return Number(deleted.numDeletedRows);
}

/** The account of a session's wallet. @throws PoolError `employer_not_found`, `contract_on_another_chain` (409) */
export async function getEmployer(db: PlatformDatabase, holder: AccountHolder): Promise<Employer> {
  const { chainId, ...employer } = await findByAddress(db, holder.address);
  // The owner of a contract on one chain need not own the contract at the same address on another chain.
  if (chainId !== holder.contractChainId) {
    throw new PoolError(
      'contract_on_another_chain',
      'the account of this address belongs to its contract on another chain; sign in with a text that names that chain',
    );
  }
  return employer;
}

/**
 * The account of an address, for the operator. The operator must know which contract receives a credential: another
 * person may have registered a contract at the customer's address on another chain.
 * @throws PoolError `employer_not_found`, `contract_on_another_chain` (409), which names the chain
 */
export async function getEmployerOfAddress(
  db: PlatformDatabase,
  { address, contractChainId }: AccountHolder,
): Promise<Employer> {
  const { id, chainId } = await findByAddress(db, address);
  if (chainId !== contractChainId) {
    throw new PoolError(
      'contract_on_another_chain',
      chainId === undefined
        ? 'this account belongs to a wallet with a key: remove --contract-chain-id'
        : `this account belongs to the contract on chain ${chainId}: give --contract-chain-id ${chainId} once you know that your customer's wallet is on that chain`,
    );
  }
  return { id, address };
}

async function findByAddress(
  db: PlatformDatabase,
  address: AccountAddress,
): Promise<Employer & { readonly chainId: number | undefined }> {
  const employer = await db
    .selectFrom('employers')
    .select(['id', 'address', 'contract_chain_id'])
    .where('address', '=', address)
    .executeTakeFirst();
  if (employer === undefined) {
    throw new PoolError(
      'employer_not_found',
      'this wallet has no employer account: POST /api/employers/register first',
    );
  }
  const chainId = employer.contract_chain_id;
  return {
    id: employer.id,
    address: parseAccountAddress(employer.address),
    chainId: chainId === null ? undefined : Number(chainId),
  };
}
