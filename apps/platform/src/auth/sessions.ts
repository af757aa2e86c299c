/**
 * Sessions: opened by a verified sign-in, named by a random cookie that is stored hashed. A session keeps
 * the signed text and its signature, because enrolment needs them as evidence (protocol §2).
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  computeWalletAddress,
  type EvmAddress,
  maxEvidenceSkewMs,
  PoolError,
  parseSignInMessage,
  recoverWalletPub,
  Secret,
  type SignInEvidence,
  type SignInMessage,
  type WalletPub,
} from '@pool/core';
import { hashCredential } from '../accounts/credential.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { claimSignInNonce } from './sign-in-nonces.ts';

/** Name of the cookie that carries a session. */
export const sessionCookie = 'sessionId';

export type Session = {
  readonly address: EvmAddress;
  readonly walletPub: WalletPub;
  readonly evidence: SignInEvidence;
  readonly expiresAt: string;
};

export type SessionSettings = {
  /** Exactly what a sign-in text must say. */
  readonly domain: string;
  readonly uri: string;
  readonly chainIds: readonly number[];
  readonly nonceTtlSeconds: number;
  readonly sessionTtlSeconds: number;
};

export type OpenedSession = { readonly cookie: Secret; readonly session: Session };

/**
 * Verifies a sign-in and opens a session.
 * @throws PoolError `invalid_sign_in` (401), `invalid_signature` (401), `contract_wallet_unsupported` (401)
 */
export async function openSession(
  db: PlatformDatabase,
  settings: SessionSettings,
  evidence: SignInEvidence,
  nowMs: number,
): Promise<OpenedSession> {
  const message = parseSignInMessage(evidence.message);
  // The nonce goes first: whatever else is wrong, it is used up.
  if (!(await claimSignInNonce(db, message.nonce, nowMs))) {
    throw refused('its nonce is unknown, used or expired; ask for a new one');
  }
  assertAcceptable(message, settings, nowMs);
  assertWalletKeySignature(evidence.signature);
  const walletPub = recoverWalletPub(evidence.message, evidence.signature);
  if (computeWalletAddress(walletPub) !== message.address) {
    throw refused(
      'it was not signed by the key of the wallet it names (a contract wallet has no such key and cannot sign in)',
    );
  }
  const cookie = randomBytes(32).toString('base64url');
  const expiresAt = new Date(nowMs + settings.sessionTtlSeconds * 1000).toISOString();
  await db.transaction().execute(async (trx) => {
    const now = new Date(nowMs).toISOString();
    await trx.deleteFrom('sessions').where('expires_at', '<=', now).execute();
    await trx
      .insertInto('sessions')
      .values({
        id_hash: hashCredential(cookie),
        address: message.address,
        wallet_pub: walletPub,
        message: evidence.message,
        signature: evidence.signature,
        expires_at: expiresAt,
      })
      .execute();
  });
  return {
    cookie: new Secret(cookie),
    session: { address: message.address, walletPub, evidence, expiresAt },
  };
}

/** The session a cookie names; undefined for an unknown or expired one. */
export async function findSession(
  db: PlatformDatabase,
  cookie: string | undefined,
  nowMs: number,
): Promise<Session | undefined> {
  // Looking up by the hash of a 256-bit secret leaks nothing an attacker could climb by timing.
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
  return {
    address: row.address,
    walletPub: row.wallet_pub as WalletPub,
    evidence: { message: row.message, signature: row.signature as `0x${string}` },
    expiresAt: row.expires_at,
  };
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

function assertAcceptable(message: SignInMessage, settings: SessionSettings, nowMs: number): void {
  if (message.domain !== settings.domain || message.uri !== settings.uri) {
    throw refused('its domain or URI is not this platform');
  }
  if (!settings.chainIds.includes(message.chainId)) {
    throw refused('its chain is not one of this platform');
  }
  const { issuedAtMs, expirationTimeMs } = message;
  const maxAgeMs = settings.nonceTtlSeconds * 1000 + maxEvidenceSkewMs;
  const issuedInTime = issuedAtMs >= nowMs - maxAgeMs && issuedAtMs <= nowMs + maxEvidenceSkewMs;
  // Written so that a date that does not parse (NaN) is refused too.
  if (!issuedInTime || !(expirationTimeMs === undefined || expirationTimeMs > nowMs)) {
    throw refused('it is expired or its time is wrong');
  }
}

// W is recovered from the signature, and notes are bound to W: a contract's word (ERC-1271) proves no key.
function assertWalletKeySignature(signature: string): void {
  if (signature.length !== 2 + 2 * 65) {
    throw new PoolError(
      'contract_wallet_unsupported',
      'a contract wallet cannot sign in: it has no public key that notes could be bound to; use a wallet with a key of its own',
      { status: 401 },
    );
  }
}

function refused(reason: string): PoolError {
  return new PoolError('invalid_sign_in', `sign-in refused: ${reason}`, { status: 401 });
}
