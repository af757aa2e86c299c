/**
 * The sign-in text that waits for a vote, in a file of the agent directory. A command that is run again goes on with the same text, so
 * the custodian has one request, and a vote that came meanwhile is not lost. The text is no secret: its signature is.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isPoolError, parseSignInMessage } from '@pool/core';
import { replaceDurableFile } from '@pool/storage';
import * as v from 'valibot';

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
export function readExpirationMs(message: string): number {
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
