/**
 * Schemas that several services share: inputs in headers and paths, and the plain `{ok: true}`.
 *
 * @module
 */
import { described } from '@pool/core';
import * as v from 'valibot';

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
