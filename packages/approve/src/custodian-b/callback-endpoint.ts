/**
 * The two callbacks of the co-signer as text in and text out: tokens of the co-signer's key in, tokens of the gate's key out.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { errorCodeOf, type Secret } from '@pool/core';
import type { VotingDeps } from '../judge/judge.ts';
import type { CallbackHandler } from './callback-handler.ts';
import {
  type CallbackAnswer,
  readCallback,
  readConfigChange,
  signAnswer,
} from './callback-token.ts';

export type CallbackEndpoint = {
  /** @throws PoolError `unauthorized`, `invalid_request` */
  answerSignRequest(token: string): Promise<string>;
  /** REJECT; RETRY in a dry run, and while the ledger cannot be written. @throws PoolError `unauthorized`, `invalid_request` */
  answerConfigChange(token: string): Promise<string>;
};

export function createCallbackEndpoint(
  deps: Pick<VotingDeps, 'ledger' | 'isDryRun' | 'nowMs' | 'log'> & {
    readonly cosignerPublicKey: KeyObject;
    readonly callbackKey: Secret<KeyObject>;
    readonly handler: CallbackHandler;
  },
): CallbackEndpoint {
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
    async answerSignRequest(token) {
      const read = await readCallback(token, cosignerPublicKey);
      return read.kind === 'foreign'
        ? await reject(read.requestId, 'the callback is not of a form that this gate understands')
        : await signAnswer(await deps.handler.answer(read.callback), callbackKey.reveal());
    },
    async answerConfigChange(token) {
      const requestId = await readConfigChange(token, cosignerPublicKey);
      return await reject(requestId, 'this gate approves no change of the configuration');
    },
  };
}
