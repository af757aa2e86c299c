/**
 * Invitations: the wallets that an employer lets enrol, where the deployment requires invitations (decision 6). An
 * employer may invite once the operator has issued an edge token to it. It has a limit, because all employers share one tree.
 *
 * @module
 */
import type { Invitation } from '@pool/api';
import { isPoolError, PoolError, parseAccountAddress, peerCode } from '@pool/core';
import { lockEmployer, type PlatformDatabase } from '@pool/database';
import { sql } from 'kysely';
import type { Employer } from './employers.ts';

export type InvitationConfig = {
  readonly walletsPerEmployer: number;
  readonly invitationDays: number;
};

export type InvitationQuota = { readonly walletLimit: number; readonly walletsTaken: number };

export const dayMs = 86_400_000;

/**
 * Invites all of these addresses or none. An address that is already invited gets a new expiry.
 * @throws PoolError `invalid-address` (400), `invitation_quota_exhausted` (403)
 */
export async function inviteWallets(
  db: PlatformDatabase,
  config: InvitationConfig,
  employer: Employer,
  addresses: readonly string[],
  nowMs: number,
): Promise<InvitationQuota> {
  const wallets = [...new Set(addresses.map(parseInvited))];
  return await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    const now = new Date(nowMs).toISOString();
    await forgetExpired(trx, employer, nowMs);
    const expiresAt = new Date(nowMs + config.invitationDays * dayMs).toISOString();
    await trx
      .insertInto('invitations')
      .values(
        wallets.map((address) => ({
          employer_id: employer.id,
          address,
          created_at: now,
          expires_at: expiresAt,
          enrolled_at: null,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['employer_id', 'address']).doUpdateSet({ expires_at: expiresAt }),
      )
      .execute();
    return await assertQuota(trx, config, employer, nowMs);
  });
}

/** Deletes the invitations of an employer that ended unused. */
export async function forgetExpired(
  trx: PlatformDatabase,
  employer: Employer,
  nowMs: number,
): Promise<void> {
  await trx
    .deleteFrom('invitations')
    .where('employer_id', '=', employer.id)
    .where('enrolled_at', 'is', null)
    .where('expires_at', '<=', new Date(nowMs).toISOString())
    .execute();
}

/** @throws PoolError `invitation_quota_exhausted` (403), which rolls back what was invited */
export async function assertQuota(
  trx: PlatformDatabase,
  config: InvitationConfig,
  employer: Employer,
  nowMs: number,
): Promise<InvitationQuota> {
  const quota = await readInvitationQuota(trx, config, employer, nowMs);
  if (quota.walletLimit === 0) {
    throw mayNotInvite();
  }
  if (quota.walletsTaken > quota.walletLimit) {
    throw quotaExhausted(quota.walletLimit);
  }
  return quota;
}

/** How many wallets the employer may have invited and enrolled, and how many it has. */
export async function readInvitationQuota(
  db: PlatformDatabase,
  config: InvitationConfig,
  employer: Employer,
  nowMs: number,
): Promise<InvitationQuota> {
  const { wallets } = await db
    .selectFrom('employers')
    .select(walletLimitOf(config).as('wallets'))
    .where('employers.id', '=', employer.id)
    .executeTakeFirstOrThrow();
  const { taken } = await db
    .selectFrom('invitations')
    .select((eb) => eb.fn.countAll().as('taken'))
    .where('employer_id', '=', employer.id)
    .where(isLive(nowMs))
    .executeTakeFirstOrThrow();
  const { open } = await db
    .selectFrom('invitation_links')
    .select((eb) => eb.fn.countAll().as('open'))
    .where('employer_id', '=', employer.id)
    .where('address', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', new Date(nowMs).toISOString())
    .executeTakeFirstOrThrow();
  return { walletLimit: Number(wallets), walletsTaken: Number(taken) + Number(open) };
}

/** Open and used invitations of an employer, by address. */
export async function listInvitations(
  db: PlatformDatabase,
  employer: Employer,
  nowMs: number,
): Promise<Invitation[]> {
  const rows = await db
    .selectFrom('invitations')
    .selectAll()
    .where('employer_id', '=', employer.id)
    .where(isLive(nowMs))
    .orderBy('address')
    .execute();
  return rows.map((row) => ({
    address: row.address,
    createdAt: row.created_at,
    ...(row.enrolled_at === null ? { expiresAt: row.expires_at } : { enrolledAt: row.enrolled_at }),
  }));
}

/**
 * Withdraws an unused invitation.
 * @throws PoolError `invalid-address` (400), `not_found` (404), `invitation_used` (409)
 */
export async function cancelInvitation(
  db: PlatformDatabase,
  employer: Employer,
  text: string,
): Promise<void> {
  if (!(await withdrawInvitation(db, employer, parseAccountAddress(text)))) {
    throw new PoolError('not_found', 'this address is not invited');
  }
}

/**
 * A used invitation has a leaf of the tree: withdrawing it would let the employer invite another wallet while the leaf stays taken.
 * @returns false if the address is not invited
 * @throws PoolError `invitation_used` (409)
 */
export async function withdrawInvitation(
  db: PlatformDatabase,
  employer: Employer,
  address: string,
): Promise<boolean> {
  const cancelled = await db
    .deleteFrom('invitations')
    .where('employer_id', '=', employer.id)
    .where('address', '=', address)
    .where('enrolled_at', 'is', null)
    .returning('address')
    .executeTakeFirst();
  if (cancelled !== undefined) {
    return true;
  }
  const used = await db
    .selectFrom('invitations')
    .select('address')
    .where('employer_id', '=', employer.id)
    .where('address', '=', address)
    .executeTakeFirst();
  if (used === undefined) {
    return false;
  }
  throw new PoolError(
    'invitation_used',
    'this wallet is enrolled; ask the operator of the platform to remove it from the eligibility list',
  );
}

/**
 * Uses the oldest open invitation of an address whose employer may still invite.
 * @throws PoolError `not_invited` (403)
 */
export async function claimInvitation(
  trx: PlatformDatabase,
  config: InvitationConfig,
  address: string,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs).toISOString();
  const oldest = await trx
    .selectFrom('invitations')
    .innerJoin('employers', 'employers.id', 'invitations.employer_id')
    .select('invitations.employer_id')
    .where('invitations.address', '=', address)
    .where('invitations.enrolled_at', 'is', null)
    .where('invitations.expires_at', '>', now)
    .where(walletLimitOf(config), '>', 0)
    .orderBy('invitations.created_at')
    .orderBy('invitations.employer_id')
    .executeTakeFirst();
  const claimed =
    oldest === undefined
      ? undefined
      : await trx
          .updateTable('invitations')
          .set({ enrolled_at: now })
          .where('employer_id', '=', oldest.employer_id)
          .where('address', '=', address)
          .where('enrolled_at', 'is', null)
          .returning('address')
          .executeTakeFirst();
  if (claimed === undefined) {
    throw new PoolError(
      'not_invited',
      'this wallet is not invited, or its invitation has ended: ask your employer to invite its address, then enrol again',
    );
  }
}

// The operator's limit for this employer; without one, the default for an employer with a live edge token of the operator.
export function walletLimitOf({ walletsPerEmployer }: InvitationConfig) {
  return sql<number>`coalesce(employers.wallet_limit, case when exists (
    select 1 from credentials c where c.employer_id = employers.id and c.revoked_at is null
      and c.issued_by = 'operator')
    then ${sql.lit(walletsPerEmployer)} else 0 end)`;
}

function isLive(nowMs: number) {
  return sql<boolean>`(enrolled_at is not null or expires_at > ${new Date(nowMs).toISOString()})`;
}

function parseInvited(text: string, index: number): string {
  try {
    return parseAccountAddress(text);
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    throw new PoolError(peerCode(error.code), `addresses[${index}]: ${error.message}`);
  }
}

function mayNotInvite(): PoolError {
  return new PoolError(
    'invitation_quota_exhausted',
    'this employer may not invite wallets: ask the operator of the platform for an edge token, or for a limit',
  );
}

function quotaExhausted(walletLimit: number): PoolError {
  return new PoolError(
    'invitation_quota_exhausted',
    `this employer may have ${walletLimit} wallets invited and enrolled: cancel unused invitations, or ask the operator of the platform for more`,
  );
}
