/**
 * The two callbacks of the co-signer as text in and text out: tokens of the co-signer's key in, tokens of the gate's key out.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import type { Secret } from '@pool/core';
import type { Ledger } from '@pool/policy';
import type { GateLog } from '../gate/gate-log.ts';
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
  /** Always REJECT, and RETRY in a dry run. @throws PoolError `unauthorized`, `invalid_request` */
  answerConfigChange(token: string): Promise<string>;
};

export function createCallbackEndpoint(deps: {
  readonly cosignerPublicKey: KeyObject;
  readonly callbackKey: Secret<KeyObject>;
  readonly handler: CallbackHandler;
  readonly ledger: Ledger;
  readonly isDryRun: boolean;
  readonly nowMs: () => number;
  readonly log: GateLog;
}): CallbackEndpoint {
  const { cosignerPublicKey, callbackKey, ledger, nowMs, log } = deps;

  async function reject(requestId: string, rejectionReason: string): Promise<string> {
    const action = deps.isDryRun ? 'RETRY' : 'REJECT';
    ledger.writeAudit('callback', { requestId, action, reason: rejectionReason }, nowMs());
    if (deps.isDryRun) {
      log.info({ request: requestId, would: 'REJECT', reason: rejectionReason }, 'dry run');
    } else {
      log.warn({ request: requestId, action, reason: rejectionReason }, 'callback answered');
    }
    const answer: CallbackAnswer = deps.isDryRun
      ? { action: 'RETRY', requestId }
      : { action: 'REJECT', requestId, rejectionReason };
    return await signAnswer(answer, callbackKey.reveal());
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
