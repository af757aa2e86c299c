/**
 * The protocol between adapter and enclave: three methods, one answer for each. It has no method that signs a digest, reads the key,
 * changes the policy or the ledger, or releases a batch: whoever reaches the socket may only ask.
 *
 * @module
 */
import { hexSchema, parseWalletPub } from '@pool/core';
import * as v from 'valibot';

const idSchema = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 48));

const hexBytesSchema = v.pipe(
  v.string(),
  v.maxLength(2 + 2 * 16_384),
  v.regex(/^0x(?:[0-9a-f]{2})*$/),
);

export const callSchema = v.variant('method', [
  v.strictObject({ id: idSchema, method: v.literal('publicKey') }),
  /** The nonce is 32 fresh random bytes of the caller. */
  v.strictObject({ id: idSchema, method: v.literal('attest'), nonce: hexSchema(32) }),
  v.strictObject({ id: idSchema, method: v.literal('sign'), request: v.unknown() }),
]);
export type EnclaveCall = v.InferOutput<typeof callSchema>;

const reasonSchema = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/));
const messageSchema = v.pipe(v.string(), v.maxLength(512));

/** The enclave's answer to `sign`. */
export const signAnswerSchema = v.variant('state', [
  /** r ‖ s ‖ v, 65 bytes. */
  v.strictObject({ state: v.literal('signed'), signature: hexSchema(65) }),
  /** Final for this request under this policy. */
  v.strictObject({ state: v.literal('refused'), reason: reasonSchema, message: messageSchema }),
  /** Nothing was signed: ask again. */
  v.strictObject({ state: v.literal('later'), reason: reasonSchema, message: messageSchema }),
]);
export type SignAnswer = v.InferOutput<typeof signAnswerSchema>;

export const publicKeyAnswerSchema = v.strictObject({
  publicKey: v.pipe(
    hexSchema(33),
    v.check((value) => isWalletPub(value)),
    v.transform((value) => parseWalletPub(value)),
  ),
});
export const attestAnswerSchema = v.strictObject({ document: hexBytesSchema });

/** Every answer has the id of its call. An error is about the call, never about what was to be signed. */
export const answerSchema = v.union([
  v.strictObject({ id: idSchema, result: v.unknown() }),
  v.strictObject({ id: idSchema, error: messageSchema }),
]);

function isWalletPub(value: string): boolean {
  try {
    return parseWalletPub(value) !== undefined;
  } catch {
    return false;
  }
}
