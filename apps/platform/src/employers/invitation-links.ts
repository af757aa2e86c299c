/**
 * Invitation links (decision 6): an employer invites a person who has no wallet yet, by a code that one wallet may use once. The platform knows the
 * person by the employer's reference only. A link counts as an invitation; the wallet that accepts it gets a row of `invitations`, and
 * enrols by it as every invited wallet does.
 *
 * Whoever accepts, revokes or replaces locks the employer first, so that of two such calls the later one sees what the earlier one did.
 *
 * @module
 */
import type { InvitationLink, OpenedInvitation } from '@pool/api';
import { type AccountAddress, PoolError, type Secret } from '@pool/core';
import { lockEmployer, type PlatformDatabase } from '@pool/database';
import { hashCredential, isSameHash } from '@pool/http-server';
import { type CredentialMint, inviteCodePrefix, parsePublicId } from '../credentials/credential.ts';
import type { Employer } from './employers.ts';
import {
  assertQuota,
  dayMs,
  forgetExpired,
  type InvitationConfig,
  type InvitationQuota,
  walletLimitOf,
  withdrawInvitation,
} from './invitations.ts';

/** A new link. Its code is available only here. */
export type CreatedLink = {
  readonly reference: string;
  readonly code: Secret;
  readonly expiresAt: string;
};

export type CreatedLinks = {
  readonly quota: InvitationQuota;
  readonly links: readonly CreatedLink[];
};

/** Expired and revoked links of an employer that are kept, so that it sees what became of them. */
const maxEndedLinks = 1_000;

/**
 * Makes all of these links or none. The unused link of a reference is replaced.
 * @param days - until they expire; absent: as long as an invitation lasts
 * @throws PoolError `invalid_request` (400), `invitation_quota_exhausted` (403), `invitation_taken` (409)
 */
export async function createInvitationLinks(
  db: PlatformDatabase,
  config: InvitationConfig,
  credentials: CredentialMint,
  employer: Employer,
  {
    references,
    days = config.invitationDays,
  }: { readonly references: readonly string[]; readonly days?: number | undefined },
  nowMs: number,
): Promise<CreatedLinks> {
  if (days > config.invitationDays) {
    throw new PoolError(
      'invalid_request',
      `days is ${days}, and an invitation lasts ${config.invitationDays} days at most here`,
    );
  }
  const now = new Date(nowMs).toISOString();
  const expiresAt = new Date(nowMs + days * dayMs).toISOString();
  const made = [...new Set(references)].map((reference) => ({
    reference,
    ...credentials.mint(inviteCodePrefix),
  }));
  return await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    await forgetExpired(trx, employer, nowMs);
    await trx
      .deleteFrom('invitation_links')
      .where('employer_id', '=', employer.id)
      .where(
        'reference',
        'in',
        made.map(({ reference }) => reference),
      )
      .where((eb) => eb.or([eb('address', 'is', null), eb('revoked_at', 'is not', null)]))
      .execute();
    const inserted = await trx
      .insertInto('invitation_links')
      .values(
        made.map(({ reference, publicId, hash }) => ({
          public_id: publicId,
          code_hash: hash,
          employer_id: employer.id,
          reference,
          created_at: now,
          expires_at: expiresAt,
        })),
      )
      .onConflict((conflict) => conflict.columns(['employer_id', 'reference']).doNothing())
      .returning('reference')
      .execute();
    const isNew = new Set(inserted.map(({ reference }) => reference));
    const accepted = made.find(({ reference }) => !isNew.has(reference));
    if (accepted !== undefined) {
      throw new PoolError(
        'invitation_taken',
        `a wallet has accepted the link ${accepted.reference}: revoke it first, or use another reference`,
      );
    }
    const quota = await assertQuota(trx, config, employer, nowMs);
    await forgetEnded(trx, employer, now);
    const links = made.map(({ reference, credential: code }) => ({ reference, code, expiresAt }));
    return { quota, links };
  });
}

async function forgetEnded(trx: PlatformDatabase, employer: Employer, now: string): Promise<void> {
  const surplus = trx
    .selectFrom('invitation_links')
    .select('public_id')
    .where('employer_id', '=', employer.id)
    .where((eb) =>
      eb.or([
        eb('revoked_at', 'is not', null),
        eb.and([eb('address', 'is', null), eb('expires_at', '<=', now)]),
      ]),
    )
    .orderBy('expires_at', 'desc')
    .orderBy('public_id')
    .offset(maxEndedLinks);
  await trx.deleteFrom('invitation_links').where('public_id', 'in', surplus).execute();
}

/** The links of an employer, oldest first, and what became of each. */
export async function listInvitationLinks(
  db: PlatformDatabase,
  employer: Employer,
  nowMs: number,
): Promise<InvitationLink[]> {
  const rows = await db
    .selectFrom('invitation_links as links')
    .leftJoin('subjects', 'subjects.address', 'links.address')
    .selectAll('links')
    .select('subjects.readiness')
    .where('links.employer_id', '=', employer.id)
    .orderBy('links.created_at')
    .orderBy('links.reference')
    .execute();
  const now = new Date(nowMs).toISOString();
  return rows.map((row) => ({
    reference: row.reference,
    state: stateOf(row, now),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.opened_at === null ? {} : { openedAt: row.opened_at }),
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.accepted_at === null ? {} : { acceptedAt: row.accepted_at }),
  }));
}

type LinkRow = {
  readonly address: string | null;
  readonly expires_at: string;
  readonly opened_at: string | null;
  readonly revoked_at: string | null;
};

function stateOf(
  row: LinkRow & { readonly readiness: string | null },
  now: string,
): InvitationLink['state'] {
  if (row.revoked_at !== null) {
    return 'revoked';
  }
  if (row.readiness !== null) {
    return row.readiness === 'ready' ? 'eligible' : 'enrolled';
  }
  if (row.expires_at <= now) {
    return 'expired';
  }
  if (row.address !== null) {
    return 'accepted';
  }
  return row.opened_at === null ? 'created' : 'opened';
}

/**
 * Revokes a link, and the unused invitation of the wallet that accepted it.
 * @throws PoolError `not_found` (404), `invitation_used` (409)
 */
export async function revokeInvitationLink(
  db: PlatformDatabase,
  employer: Employer,
  reference: string,
  nowMs: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employer.id);
    const link = await trx
      .selectFrom('invitation_links')
      .select(['public_id', 'address', 'revoked_at'])
      .where('employer_id', '=', employer.id)
      .where('reference', '=', reference)
      .executeTakeFirst();
    if (link === undefined) {
      throw new PoolError('not_found', 'there is no link of this reference');
    }
    if (link.revoked_at !== null) {
      return;
    }
    if (link.address !== null) {
      await withdrawInvitation(trx, employer, link.address);
    }
    await trx
      .updateTable('invitation_links')
      .set({ revoked_at: new Date(nowMs).toISOString() })
      .where('public_id', '=', link.public_id)
      .execute();
  });
}

/** What the holder of a code is told, without the pools of the deployment. */
export type FoundInvitation = Pick<
  OpenedInvitation,
  'state' | 'expiresAt' | 'employerAddress' | 'employerName'
>;

type LinkDeps = {
  readonly db: PlatformDatabase;
  readonly admission: InvitationConfig;
  readonly credentials: CredentialMint;
  readonly nowMs: () => number;
};

/** Marks the link as opened. @throws PoolError `not_found` (404) */
export async function openInvitation(deps: LinkDeps, code: string): Promise<FoundInvitation> {
  const link = await findLink(deps, code);
  const now = new Date(deps.nowMs()).toISOString();
  const found = describeFound(link, now);
  if (found.state === 'open' && link.opened_at === null) {
    await deps.db
      .updateTable('invitation_links')
      .set({ opened_at: now })
      .where('public_id', '=', link.public_id)
      .where('opened_at', 'is', null)
      .execute();
  }
  return found;
}

/**
 * Binds a link to a wallet, which is invited from then on.
 * @throws PoolError `not_found` (404), `invitation_taken`, `invitation_ended` (409)
 */
export async function acceptInvitation(
  deps: LinkDeps,
  address: AccountAddress,
  code: string,
): Promise<FoundInvitation> {
  const { employer_id: employerId } = await findLink(deps, code);
  return await deps.db.transaction().execute(async (trx) => {
    await lockEmployer(trx, employerId);
    // Again, under the lock.
    const link = await findLink({ ...deps, db: trx }, code);
    const now = new Date(deps.nowMs()).toISOString();
    const found = describeFound(link, now);
    if (found.state === 'accepted' && link.address === address) {
      return found;
    }
    if (found.state === 'accepted') {
      throw new PoolError(
        'invitation_taken',
        'another wallet has accepted this invitation: sign in with that one, or ask your employer for a new link',
      );
    }
    if (found.state !== 'open') {
      throw new PoolError(
        'invitation_ended',
        `this invitation has ${found.state === 'expired' ? 'expired' : 'been withdrawn'}: ask your employer for a new link`,
      );
    }
    await assertFirstLink(trx, employerId, address);
    await trx
      .updateTable('invitation_links')
      .set({ address, accepted_at: now, opened_at: link.opened_at ?? now })
      .where('public_id', '=', link.public_id)
      .execute();
    await trx
      .insertInto('invitations')
      .values({
        employer_id: employerId,
        address,
        created_at: now,
        expires_at: link.expires_at,
        enrolled_at: null,
      })
      .onConflict((conflict) =>
        conflict.columns(['employer_id', 'address']).doUpdateSet((eb) => ({
          // An invitation of the address itself may last longer.
          expires_at: eb.fn('greatest', ['invitations.expires_at', 'excluded.expires_at']),
        })),
      )
      .execute();
    return { ...found, state: 'accepted' };
  });
}

/** One wallet, one reference: an employer that pays by reference would pay the wallet twice. */
async function assertFirstLink(
  trx: PlatformDatabase,
  employerId: string,
  address: string,
): Promise<void> {
  const other = await trx
    .selectFrom('invitation_links')
    .select('public_id')
    .where('employer_id', '=', employerId)
    .where('address', '=', address)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (other !== undefined) {
    throw new PoolError(
      'invitation_taken',
      'this wallet has accepted another invitation of this employer; this one is for another person',
    );
  }
}

/** The link of a code, its employer, and whether that one may still invite. @throws PoolError `not_found` (404) */
async function findLink({ db, admission, credentials }: LinkDeps, code: string) {
  // A guess is recognised without a query.
  const publicId = credentials.isOurs(inviteCodePrefix, code)
    ? parsePublicId(inviteCodePrefix, code)
    : undefined;
  const link =
    publicId === undefined
      ? undefined
      : await db
          .selectFrom('invitation_links as links')
          .innerJoin('employers', 'employers.id', 'links.employer_id')
          .selectAll('links')
          .select(['employers.address as employer_address', 'employers.name as employer_name'])
          .select(walletLimitOf(admission).as('wallet_limit'))
          .where('links.public_id', '=', publicId)
          .executeTakeFirst();
  if (link === undefined || !isSameHash(link.code_hash, hashCredential(code))) {
    throw new PoolError(
      'not_found',
      'no invitation has this code: the link is incomplete, or was replaced; ask your employer for a new one',
    );
  }
  return link;
}

function describeFound(link: Awaited<ReturnType<typeof findLink>>, now: string): FoundInvitation {
  const { employer_name: name } = link;
  return {
    state: foundState(link, now),
    expiresAt: link.expires_at,
    employerAddress: link.employer_address,
    ...(name === null ? {} : { employerName: name }),
  };
}

function foundState(
  link: LinkRow & { readonly wallet_limit: number },
  now: string,
): FoundInvitation['state'] {
  // An employer from which the operator took the right to invite speaks to nobody through its links any more.
  if (link.revoked_at !== null || Number(link.wallet_limit) === 0) {
    return 'revoked';
  }
  if (link.address !== null) {
    return 'accepted';
  }
  return link.expires_at <= now ? 'expired' : 'open';
}
