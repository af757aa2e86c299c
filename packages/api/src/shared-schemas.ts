/**
 * Inputs that stand outside bodies, in headers and paths, as the documents describe them.
 *
 * @module
 */
import * as v from 'valibot';

/** Bare or as a quoted string; the parser of `idempotency-key.ts` decides. */
export const idempotencyKeyHeaderSchema = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(512),
  v.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/),
  v.description('1 to 255 printable ASCII characters; a quoted value names the same key.'),
);

/** A job's key as a segment of a path, percent-encoded there. */
export const jobKeyParamSchema = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(255),
  v.description('The Idempotency-Key of the job, bare.'),
);

/** `{ok: true}` */
export const okSchema = v.strictObject({ ok: v.literal(true) });
