/**
 * The tokens of the co-signer's callbacks: a raw RS256 JWT in, a raw RS256 JWT out. The times in a token mean nothing (the co-signer
 * ignores them, and a replay is stopped by the durable guard), so only the signature and the content are read.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { PoolError } from '@pool/core';
import { CompactSign, compactVerify } from 'jose';
import * as v from 'valibot';

const text = v.pipe(v.string(), v.maxLength(256));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(256));
const hex = v.pipe(v.string(), v.maxLength(4_096));

/** What the gate reads. The co-signer sends more fields, which differ between the two stages. */
const callbackSchema = v.object({
  requestId: name,
  txId: v.optional(text),
  externalTxId: v.optional(text),
  operation: name,
  sourceType: v.optional(text),
  sourceId: v.union([name, v.pipe(v.number(), v.transform(String))]),
  destAddress: v.optional(text),
  amountStr: v.optional(text),
  signerId: name,
  rawTx: v.optional(
    v.pipe(v.array(v.object({ payload: hex, rawTx: v.optional(hex) })), v.maxLength(16)),
  ),
});
export type Callback = v.InferOutput<typeof callbackSchema>;

export type CallbackAnswer = {
  readonly action: 'APPROVE' | 'REJECT' | 'RETRY';
  readonly requestId: string;
  /** Public: the custodian shows it. */
  readonly rejectionReason?: string;
};

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
export async function readCallback(
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
export async function readConfigChange(token: string, cosignerKey: KeyObject): Promise<string> {
  return readRequestId(await verifyToken(token, cosignerKey));
}

function readRequestId(claims: unknown): string {
  const parsed = v.safeParse(v.object({ requestId: name }), claims);
  if (!parsed.success) {
    throw new PoolError('invalid_request', 'the callback has no requestId');
  }
  return parsed.output.requestId;
}

/** The raw token to answer with. */
export async function signAnswer(answer: CallbackAnswer, key: KeyObject): Promise<string> {
  return await new CompactSign(Buffer.from(JSON.stringify(answer)))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .sign(key);
}
