/**
 * Reading requests: JSON by schema, bearer credentials, Idempotency-Key. Errors name the place and the problem, never a
 * value.
 *
 * @module
 */
import { PoolError, parseIdempotencyKey, parseWire } from '@pool/core';
import type { Context } from 'hono';
import type { GenericSchema, InferOutput } from 'valibot';
import { readJsonBody } from '../shell/json-body.ts';

/** @throws PoolError `invalid_request` for a body that is not JSON of the schema */
export async function readJson<TSchema extends GenericSchema>(
  c: Context,
  schema: TSchema,
): Promise<InferOutput<TSchema>> {
  return parseWire(schema, await readJsonBody(c), 'request body');
}

/** The credential of `Authorization: Bearer`. @throws PoolError `unauthorized` (401) */
export function readBearer(c: Context): string {
  const header = c.req.header('authorization') ?? '';
  const credential = /^Bearer ([A-Za-z0-9_.~+/-]{1,512}=*)$/i.exec(header)?.[1];
  if (credential === undefined) {
    throw unauthorized();
  }
  return credential;
}

/** The 401 of every route. It does not say which part of a credential was wrong. */
export function unauthorized(message = 'a valid bearer credential is required'): PoolError {
  return new PoolError('unauthorized', message);
}

/**
 * The Idempotency-Key header, bare or quoted.
 * @throws PoolError `invalid_request`
 */
export function readIdempotencyKey(c: Context): string {
  return parseIdempotencyKey(c.req.header('idempotency-key'));
}
