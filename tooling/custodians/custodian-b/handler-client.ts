/**
 * The co-signer's HTTP side: it posts a JWT to the callback handler and reads a JWT back. It ignores the times of both.
 *
 * @module
 */
import { generateKeyPairSync } from 'node:crypto';
import {
  CompactSign,
  type CryptoKey,
  compactVerify,
  importPKCS8,
  importSPKI,
  UnsecuredJWT,
} from 'jose';
import * as v from 'valibot';
import type { CallbackPayload } from './callback-payload.ts';
import type { Callback, ParsedConfig, Stage } from './config.ts';
import type { CallbackEffect } from './faults.ts';

/** Characters of an answer that is kept for the control API. */
const keptBody = 10_000;

const answerSchema = v.object({
  action: v.picklist(['APPROVE', 'REJECT', 'RETRY', 'IGNORE']),
  requestId: v.string(),
  rejectionReason: v.optional(v.string()),
});

export type HandlerAnswer =
  | {
      readonly action: 'APPROVE' | 'REJECT' | 'RETRY' | 'IGNORE';
      readonly rejectionReason: string | undefined;
    }
  /** No answer, or one that the co-signer cannot accept. */
  | { readonly action: 'NONE'; readonly problem: string };

/** One POST to the handler, for the control API. */
export type CallbackRecord = {
  readonly index: number;
  readonly path: '/v2/tx_sign_request' | '/v2/config_change_sign_request';
  readonly stage: Stage | undefined;
  readonly payload: CallbackPayload;
  readonly jwt: string;
  readonly sentAtMs: number;
  status?: number;
  body?: string;
  answer?: HandlerAnswer;
};

export type Callout = {
  readonly path: CallbackRecord['path'];
  readonly stage: Stage | undefined;
  readonly payload: CallbackPayload;
  readonly effect: CallbackEffect | undefined;
};

export type HandlerClient = {
  callback(): Callback | undefined;
  setCallback(callback: Callback | undefined): void;
  /** @throws Error without a handler */
  post(callout: Callout): Promise<HandlerAnswer>;
  /** Posts the bytes of an earlier callback again. @throws Error for an unknown index */
  replay(index: number): Promise<HandlerAnswer>;
  records(): readonly CallbackRecord[];
  reset(): void;
  /** Ends the calls that are under way. */
  stop(): void;
};

export function createHandlerClient(
  config: Pick<ParsedConfig, 'cosigner' | 'callbackLimitMs'>,
  nowMs: () => number,
): HandlerClient {
  const { cosigner, callbackLimitMs } = config;
  const stopping = new AbortController();
  const cosignerKey = importPKCS8(cosigner.privateKey, 'RS256');
  // A wrong key fails where it is used.
  cosignerKey.catch(() => undefined);
  let callback = cosigner.callback;
  let records: CallbackRecord[] = [];

  async function send(record: CallbackRecord): Promise<HandlerAnswer> {
    records.push(record);
    const answer = await exchange(record);
    record.answer = answer;
    return answer;
  }

  async function exchange(record: CallbackRecord): Promise<HandlerAnswer> {
    if (callback === undefined) {
      throw new Error('the co-signer has no callback handler');
    }
    try {
      const response = await fetch(`${callback.url.replace(/\/$/, '')}${record.path}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: record.jwt,
        redirect: 'error',
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(callbackLimitMs)]),
      });
      record.status = response.status;
      record.body = (await response.text()).slice(0, keptBody);
    } catch (error) {
      const name = error instanceof Error ? error.name : 'error';
      return { action: 'NONE', problem: `the handler did not answer (${name})` };
    }
    if (record.status !== 200) {
      return { action: 'NONE', problem: `the handler answered with status ${record.status}` };
    }
    return await readAnswer(record.body, callback.publicKey, record.payload['requestId']);
  }

  return {
    callback: () => callback,
    setCallback(next) {
      callback = next;
    },
    async post({ path, stage, payload, effect }) {
      const jwt = await signPayload(payload, await cosignerKey, effect, records.length);
      const sentAtMs = nowMs();
      return await send({ index: records.length, path, stage, payload, jwt, sentAtMs });
    },
    async replay(index) {
      const record = records[index];
      if (record === undefined) {
        throw new Error(`no callback has the index ${index}`);
      }
      const { path, stage, payload, jwt } = record;
      return await send({
        index: records.length,
        path,
        stage,
        payload,
        jwt,
        sentAtMs: nowMs(),
      });
    },
    records: () => records,
    reset() {
      records = [];
    },
    stop: () => stopping.abort(),
  };
}

async function readAnswer(
  body: string,
  publicKey: string,
  requestId: unknown,
): Promise<HandlerAnswer> {
  let document: unknown;
  try {
    const key = await importSPKI(publicKey, 'RS256');
    // The bytes have to be the token, as they came: a JSON string around it is not one.
    const { payload } = await compactVerify(body, key, { algorithms: ['RS256'] });
    document = JSON.parse(Buffer.from(payload).toString('utf8'));
  } catch {
    return { action: 'NONE', problem: 'the answer is no JWT of the handler' };
  }
  const answer = v.safeParse(answerSchema, document);
  if (!answer.success) {
    return { action: 'NONE', problem: 'the answer lacks action or requestId' };
  }
  if (answer.output.requestId !== requestId) {
    return { action: 'NONE', problem: 'the answer is for another requestId' };
  }
  return { action: answer.output.action, rejectionReason: answer.output.rejectionReason };
}

async function signPayload(
  payload: CallbackPayload,
  cosignerKey: CryptoKey,
  effect: CallbackEffect | undefined,
  count: number,
): Promise<string> {
  const claims = { ...payload, ...uselessTimes(count) };
  if (effect === 'unsigned') {
    return new UnsecuredJWT(claims).encode();
  }
  const key = effect === 'foreign-key' ? await importPKCS8(foreignKey(), 'RS256') : cosignerKey;
  return await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ typ: 'JWT', alg: 'RS256' })
    .sign(key);
}

/** In turn: no times at all, as documented; times long past; times to come. A handler may rely on none of them. */
function uselessTimes(count: number): { readonly iat?: number; readonly exp?: number } {
  const forms = [{}, { iat: 1_500_000_000, exp: 1_500_000_030 }, { iat: 4_000_000_000 }];
  return forms[count % forms.length] ?? {};
}

function foreignKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return privateKey;
}
