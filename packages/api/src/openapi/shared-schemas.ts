/**
 * Schemas that several services share: common fields, inputs in headers and paths, and the plain `{ok: true}`.
 *
 * @module
 */
import { chainKeySchema, described, hex32Schema, isoTimeSchema } from '@pool/core';
import * as v from 'valibot';

/** The fields that occur in most bodies, each by its meaning. */
export function text(meaning: string) {
  return described(v.string(), meaning);
}

export function flag(meaning: string) {
  return described(v.boolean(), meaning);
}

export function accountAddress(what: string) {
  return text(`${what}: EVM in EIP-55 checksum form, Solana in base58, Stellar \`G…\`.`);
}

/** A whole number from 0. */
export function count(meaning: string) {
  return described(v.pipe(v.number(), v.integer(), v.minValue(0)), meaning);
}

/** @param what - "Hash of the transaction" */
export function bytes32(what: string, more?: string) {
  return described(hex32Schema, join(`${what}: 32 bytes of 0x hex.`, more));
}

export function fieldElement(what: string, more?: string) {
  return described(hex32Schema, join(`${what}: a field element as 32 bytes of 0x hex.`, more));
}

export function isoTime(what: string, more?: string) {
  return described(isoTimeSchema, join(`${what}, ISO 8601 in UTC.`, more));
}

/** @param which - "that the notes are on" */
export function chainKey(which: string) {
  return described(chainKeySchema, `Key of the chain ${which}, for example \`base\`.`);
}

function join(meaning: string, more: string | undefined): string {
  return more === undefined ? meaning : `${meaning} ${more}`;
}

/** Bare or as a quoted string; the parser of `idempotency-key.ts` decides. */
export const idempotencyKeyHeaderSchema = described(
  v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(512),
    v.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/),
  ),
  'Name of the payment, chosen by the caller: 1 to 255 printable ASCII characters. A quoted value names the same key. One ' +
    'key of one employer pays at most once.',
);

/** A job's key as a segment of a path, percent-encoded there. */
export const jobKeyParamSchema = described(
  v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  'The Idempotency-Key of the job, without quotes, percent-encoded.',
);

/** `{ok: true}` */
export const okSchema = v.strictObject({
  ok: described(v.literal(true), 'Always true. A process that is not well answers another status.'),
});
