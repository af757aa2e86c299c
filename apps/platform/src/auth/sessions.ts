/**
 * Sessions: opened by a verified sign-in, named by a random cookie that is stored hashed. A session keeps
 * the signed text and its signature, because enrolment needs them as evidence (protocol §2).
 *
 * @module
 */

import {
  type AccountAddress,
  type Hex,
  parseAccountAddress,
  parseHex,
  type Secret,
  type SignInEvidence,
} from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { lockName } from '@pool/database';
import { hashCredential } from '@pool/http-server';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { CredentialMint } from '../credentials/credential.ts';
import type { ContractWallets } from './contract-wallets.ts';
import { type SignInSettings, verifySignIn } from './verify-sign-in.ts';

/** Name of the cookie that carries a session. */
export const sessionCookie = 'sessionId';

/** The most live sessions of a wallet. One more ends the oldest. */
export const maxSessionsPerWallet = 50;

/**
 * The most live sessions that one address of the network has opened for wallets without an account. One more ends the oldest: a key
 * costs nothing, so a limit per wallet does not bound the table.
 */
export const maxThrowAwaySessions = 1_000;

type AnySession = {
  readonly address: AccountAddress;
  readonly evidence: SignInEvidence;
  readonly expiresAt: string;
};

/** A wallet with a key: its W follows from the signature. On ed25519 it is 32 bytes, for an EVM wallet a compressed point. */
export type KeySession = AnySession & {
  readonly walletPub: Hex;
  readonly contractChainId?: undefined;
};

/** A contract wallet: its contract accepted the signature at sign-in. */
export type ContractSession = AnySession & {
  readonly walletPub?: undefined;
  readonly contractChainId: number;
};

export type Session = KeySession | ContractSession;

export type SessionSettings = SignInSettings & { readonly sessionTtlSeconds: number };

export type OpenedSession = { readonly cookie: Secret; readonly session: Session };

/**
 * Verifies a sign-in and opens a session.
 * @param caller - the address that the request came from; stored hashed, for as long as the session lives
 * @throws PoolError as {@link verifySignIn}
 */
export async function openSession(
  db: PlatformDatabase,
  credentials: CredentialMint,
  settings: SessionSettings,
  contracts: ContractWallets,
  evidence: SignInEvidence,
  nowMs: () => number,
  caller: string,
): Promise<OpenedSession> {
  const { address, signer } = await verifySignIn(db, settings, contracts, evidence, nowMs);
  const openedAtMs = nowMs();
  const cookie = credentials.mintCookie();
  const idHash = hashCredential(cookie.reveal());
  const expiresAt = new Date(openedAtMs + settings.sessionTtlSeconds * 1000).toISOString();
  await db.transaction().execute(async (trx) => {
    // One sign-in at a time: two concurrent ones would not see each other's session and would end the same expired ones.
    await lockName(trx, 'sessions');
    await trx
      .deleteFrom('sessions')
      .where('expires_at', '<=', new Date(openedAtMs).toISOString())
      .execute();
    const callerHash = hashCredential(caller);
    const account = await trx
      .selectFrom('employers')
      .select('id')
      .where('address', '=', address)
      .executeTakeFirst();
    await trx
      .insertInto('sessions')
      .values({
        id_hash: idHash,
        address,
        wallet_pub: signer.walletPub ?? null,
        contract_chain_id: signer.contractChainId ?? null,
        message: evidence.message,
        signature: evidence.signature,
        expires_at: expiresAt,
        caller: callerHash,
        has_account: account !== undefined,
      })
      .execute();
    // Repeated sign-ins must not fill the table: a session lives for hours. The owner of a contract must not end the sessions of
    // another contract at the same address on another chain.
    const chainId = signer.contractChainId ?? null;
    const ofWallet = sql<boolean>`address = ${address} and contract_chain_id is not distinct from ${chainId}`;
    await endSurplus(trx, idHash, maxSessionsPerWallet, ofWallet);
    const ofCaller = sql<boolean>`caller = ${callerHash} and not has_account`;
    await endSurplus(trx, idHash, maxThrowAwaySessions, ofCaller);
  });
  return { cookie, session: { address, evidence, expiresAt, ...signer } };
}

/** Ends the oldest of the sessions that `ofSame` selects, beyond the newest `max`. */
async function endSurplus(
  trx: PlatformDatabase,
  newest: string,
  max: number,
  ofSame: Expression<SqlBool>,
): Promise<void> {
  const surplus = trx
    .selectFrom('sessions')
    .select('id_hash')
    .where(ofSame)
    .where('id_hash', '!=', newest)
    .orderBy('expires_at', 'desc')
    .orderBy('id_hash')
    .offset(max - 1);
  await trx.deleteFrom('sessions').where('id_hash', 'in', surplus).execute();
}

/** The session a cookie names; undefined for an unknown or expired one. */
export async function findSession(
  db: PlatformDatabase,
  cookie: string | undefined,
  nowMs: number,
): Promise<Session | undefined> {
  // A lookup by the hash of a 256-bit secret leaks nothing useful by its timing.
  const row =
    cookie === undefined
      ? undefined
      : await db
          .selectFrom('sessions')
          .selectAll()
          .where('id_hash', '=', hashCredential(cookie))
          .executeTakeFirst();
  if (row === undefined || Date.parse(row.expires_at) <= nowMs) {
    return undefined;
  }
  const any: AnySession = {
    address: parseAccountAddress(row.address),
    evidence: { message: row.message, signature: parseHex(row.signature) },
    expiresAt: row.expires_at,
  };
  return row.wallet_pub === null
    ? { ...any, contractChainId: Number(row.contract_chain_id) }
    : { ...any, walletPub: parseHex(row.wallet_pub) };
}

/** Ends the session that a cookie names, if there is one. */
export async function closeSession(
  db: PlatformDatabase,
  cookie: string | undefined,
): Promise<void> {
  if (cookie !== undefined) {
    await db.deleteFrom('sessions').where('id_hash', '=', hashCredential(cookie)).execute();
  }
}
