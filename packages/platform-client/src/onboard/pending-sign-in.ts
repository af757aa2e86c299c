/**
 * The sign-in text that waits for a vote, in a file of the agent directory. A command that is run again goes on with the same text, so
 * the custodian has one request, and a vote that came meanwhile is not lost. The text is no secret: its signature is.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, isPoolError, PoolError, parseSignInMessage } from '@pool/core';
import type { HolderSigner, HolderSignIn } from '@pool/signers';
import { replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';

// A sign-in text that people or a policy vote on. The command waits as long as the platform accepts the text, through outages of the
// custodian.

/** What the command waits for. */
export type SignInWait = {
  readonly state: 'submitted' | 'awaiting-approval' | 'signing' | 'unreachable';
  /** The custodian's id of the request, where it answered. */
  readonly providerId?: string;
  /** Code of the outage. */
  readonly code?: string;
};

export type VoteOptions = {
  readonly signal: AbortSignal;
  readonly onWait: (wait: SignInWait) => void;
  /** Pause between two tries of a custodian that does not answer, milliseconds. */
  readonly retryMs: number;
};

/** @throws PoolError `signer_expired` if the text is no longer valid; `signer_refused` with the reason */
export async function signInByVote(
  signer: HolderSigner,
  request: HolderSignIn,
  { signal, onWait, retryMs }: VoteOptions,
): Promise<Hex> {
  const expiresAtMs = readExpirationMs(request.message);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(expiresAtMs - Date.now(), 2 ** 31 - 1));
  try {
    for (;;) {
      try {
        return await signer.signIn(request, {
          signal: AbortSignal.any([signal, late.signal]),
          onProgress: ({ state, providerId }) => onWait({ state, providerId }),
        });
      } catch (error) {
        if (late.signal.aborted) {
          throw createExpired(expiresAtMs);
        }
        if (signal.aborted || !isPoolError(error) || !error.retryable) {
          throw error;
        }
        onWait({ state: 'unreachable', code: error.code });
      }
      await sleep(retryMs, undefined, { signal });
    }
  } finally {
    clearTimeout(timer);
  }
}

function createExpired(expiresAtMs: number): PoolError {
  return new PoolError(
    'signer_expired',
    `the vote on the sign-in did not end before ${new Date(expiresAtMs).toISOString()}, when the platform stops to accept it. Run the command again for a new request, or ask the operator of the platform for more time (PLATFORM_NONCE_TTL_SECONDS)`,
  );
}

/** What the text is for. Another platform, wallet or P needs another text. */
export type SignInPurpose = {
  readonly platformUrl: string;
  readonly address: string;
  /** P that the text lists. Undefined: none. */
  readonly encryptionPublicKey: string | undefined;
};

export type PendingSignIn = {
  /** A stored text for this purpose that has not expired. */
  read(nowMs: number): string | undefined;
  /** The text is on disk when it returns. */
  keep(message: string): void;
  forget(): void;
};

const fileSchema = v.strictObject({
  version: v.literal(1),
  platformUrl: v.string(),
  address: v.string(),
  encryptionPublicKey: v.optional(v.string()),
  message: v.pipe(v.string(), v.maxLength(4_096)),
});

/** @param home - the agent directory, which exists */
export function openPendingSignIn(home: string, purpose: SignInPurpose): PendingSignIn {
  const path = join(home, `onboard-sign-in-${hashPurpose(purpose)}.json`);
  return {
    read(nowMs) {
      const stored = readStored(path);
      const isSame =
        stored?.platformUrl === purpose.platformUrl &&
        stored.address === purpose.address &&
        stored.encryptionPublicKey === purpose.encryptionPublicKey;
      return isSame && !isExpired(stored.message, nowMs) ? stored.message : undefined;
    },
    keep(message) {
      replaceDurableFile(path, `${JSON.stringify({ version: 1, ...purpose, message }, null, 2)}\n`);
    },
    forget: () => rmSync(path, { force: true }),
  };
}

/** Of platform and wallet: another onboarding has another file. */
function hashPurpose({ platformUrl, address }: SignInPurpose): string {
  return createHash('sha256').update(`${platformUrl}\n${address}`).digest('hex').slice(0, 16);
}

/**
 * Whether a text is of no use after this error: its vote ended without a signature, or the platform refused it. After an outage or an
 * answer that cannot be read it may still be used, and people have perhaps voted on it.
 *
 * @param isSigned - the platform has the signature, so a refusal is the platform's
 */
export function endsSignIn(error: unknown, isSigned: boolean): boolean {
  if (!isPoolError(error) || error.retryable) {
    return false;
  }
  return isSigned
    ? error.status >= 400 && error.status < 500
    : error.code === 'signer_refused' || error.code === 'signer_expired';
}

/** The time after which the platform refuses the text, milliseconds since the epoch. @throws PoolError for another text */
function readExpirationMs(message: string): number {
  return parseSignInMessage(message).expirationTimeMs ?? Number.POSITIVE_INFINITY;
}

function isExpired(message: string, nowMs: number): boolean {
  try {
    return readExpirationMs(message) <= nowMs;
  } catch {
    return true;
  }
}

/** Undefined: there is no file, or it is not one of ours. It is replaced then. */
function readStored(path: string): v.InferOutput<typeof fileSchema> | undefined {
  try {
    const parsed = v.safeParse(fileSchema, JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
