/**
 * The two callbacks of the co-signer as text in and text out: tokens of the co-signer's key in, tokens of the gate's key out.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { errorCodeOf, PoolError, type Secret } from '@pool/core';
import { CompactSign, compactVerify } from 'jose';
import * as v from 'valibot';
import type { VotingDeps } from '../judge/judge.ts';
import type { CallbackHandler } from './callback-handler.ts';
import { type Callback, type CallbackAnswer, callbackSchema } from './wire.ts';

// The tokens of the co-signer's callbacks: a raw RS256 JWT in, a raw RS256 JWT out. The times in a token mean nothing (the co-signer
// ignores them, and a replay is stopped by the durable guard), so only the signature and the content are read.

/**
 * @returns the claims, which the co-signer signed
 * @throws PoolError `unauthorized` for anything but a token of the co-signer's key
 */
async function verifyToken(token: string, cosignerKey: KeyObject): Promise<unknown> {
  try {
    const { payload } = await compactVerify(token.trim(), cosignerKey, { algorithms: ['RS256'] });
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch (cause) {
    throw new PoolError('unauthorized', 'the body is not a token of the co-signer', { cause });
  }
}

/**
 * @throws PoolError `unauthorized`, `invalid_request` if it is the co-signer's and names no request
 */
async function readCallback(
  token: string,
  cosignerKey: KeyObject,
): Promise<
  | { readonly kind: 'callback'; readonly callback: Callback }
  /** Signed by the co-signer, and not a request that this gate understands. */
  | { readonly kind: 'foreign'; readonly requestId: string }
> {
  const claims = await verifyToken(token, cosignerKey);
  const parsed = v.safeParse(callbackSchema, claims);
  if (parsed.success) {
    return { kind: 'callback', callback: parsed.output };
  }
  return { kind: 'foreign', requestId: readRequestId(claims) };
}

/** Of a change of the workspace's configuration. @throws PoolError `unauthorized`, `invalid_request` */
async function readConfigChange(token: string, cosignerKey: KeyObject): Promise<string> {
  return readRequestId(await verifyToken(token, cosignerKey));
}

function readRequestId(claims: unknown): string {
  const parsed = v.safeParse(
    v.object({ requestId: v.pipe(v.string(), v.minLength(1), v.maxLength(256)) }),
    claims,
  );
  if (!parsed.success) {
    throw new PoolError('invalid_request', 'the callback has no requestId');
  }
  return parsed.output.requestId;
}

/** The raw token to answer with. */
async function signAnswer(answer: CallbackAnswer, key: KeyObject): Promise<string> {
  return await new CompactSign(Buffer.from(JSON.stringify(answer)))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .sign(key);
}

export type CallbackEndpoint = ReturnType<typeof createCallbackEndpoint>;

export function createCallbackEndpoint(
  deps: Pick<VotingDeps, 'ledger' | 'isDryRun' | 'nowMs' | 'log'> & {
    readonly cosignerPublicKey: KeyObject;
    readonly callbackKey: Secret<KeyObject>;
    readonly handler: CallbackHandler;
  },
) {
  const { cosignerPublicKey, callbackKey, ledger, nowMs, log } = deps;

  async function reject(requestId: string, rejectionReason: string): Promise<string> {
    const isFinal = !deps.isDryRun && tryAudit(requestId, rejectionReason);
    const answer: CallbackAnswer = isFinal
      ? { action: 'REJECT', requestId, rejectionReason }
      : { action: 'RETRY', requestId };
    if (deps.isDryRun) {
      log.info({ request: requestId, would: 'REJECT', reason: rejectionReason }, 'dry run');
    } else {
      const { action } = answer;
      log.warn({ request: requestId, action, reason: rejectionReason }, 'callback answered');
    }
    return await signAnswer(answer, callbackKey.reveal());
  }

  /** What cannot be written is not answered for good. */
  function tryAudit(requestId: string, reason: string): boolean {
    try {
      ledger.writeAudit('callback', { requestId, action: 'REJECT', reason }, nowMs());
      return true;
    } catch (error) {
      log.error(
        { request: requestId, error: errorCodeOf(error) ?? 'unknown' },
        'the ledger cannot be written',
      );
      return false;
    }
  }

  return {
    /** @throws PoolError `unauthorized`, `invalid_request` */
    async answerSignRequest(token: string): Promise<string> {
      const read = await readCallback(token, cosignerPublicKey);
      return read.kind === 'foreign'
        ? await reject(read.requestId, 'the callback is not of a form that this gate understands')
        : await signAnswer(await deps.handler.answer(read.callback), callbackKey.reveal());
    },
    /** REJECT; RETRY in a dry run, and while the ledger cannot be written. @throws PoolError `unauthorized`, `invalid_request` */
    async answerConfigChange(token: string): Promise<string> {
      const requestId = await readConfigChange(token, cosignerPublicKey);
      return await reject(requestId, 'this gate approves no change of the configuration');
    },
  };
}
