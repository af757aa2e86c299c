/**
 * Fields that several parts of the policy file have.
 *
 * @module
 */
import { evmAddressSchema, isEvmAddress, parseEvmAddress, urlSchema } from '@pool/core';
import * as v from 'valibot';

const maxListLength = 10_000;

/** A field with the sentence that documents it. */
export function field<TSchema extends v.GenericSchema>(schema: TSchema, description: string) {
  return v.pipe(schema, v.description(description));
}

/** A field that may be absent. */
export function optionalField<TSchema extends v.GenericSchema>(
  schema: TSchema,
  description: string,
) {
  return v.optional(field(schema, description));
}

/** Whole numbers. */
export function range(min: number, max: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
}

export function list<TSchema extends v.GenericSchema>(item: TSchema, max = maxListLength) {
  return v.pipe(v.array(item), v.maxLength(max));
}

export function nonEmptyList<TSchema extends v.GenericSchema>(item: TSchema, max: number) {
  return v.pipe(v.array(item), v.minLength(1), v.maxLength(max));
}

/** Text for people or of another document. */
export function name(max: number) {
  return v.pipe(v.string(), v.minLength(1), v.maxLength(max));
}

/** A checksum address of the operator. A wrong checksum and the zero address are refused. */
export const addressSchema = v.pipe(
  evmAddressSchema,
  v.check((value) => isEvmAddress(value)),
  v.transform((value) => parseEvmAddress(value)),
);

export const chainIdSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(2 ** 48),
  v.description('EIP-155 chain id.'),
);

/** Whole seconds of a duration, at most a year. */
export const durationSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(31_536_000),
);

const custodianIdSchema = v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/));

export const walletsSchema = v.pipe(
  v.array(custodianIdSchema),
  v.maxLength(100),
  v.description(
    'Ids under which the custodian knows this wallet. A request for another wallet id is refused. Empty for an enclave.',
  ),
);
export const initiatorsSchema = v.pipe(
  v.array(custodianIdSchema),
  v.maxLength(100),
  v.description(
    'Custodian users who may ask for a signature: the agent’s own. A request of another user is refused. Empty for an enclave.',
  ),
);

export const domainSchema = v.pipe(
  v.string(),
  v.regex(/^[!-~]{1,255}$/),
  v.description('Domain of the platform, exactly as sign-in texts name it.'),
);
export const uriSchema = v.pipe(
  urlSchema,
  v.description('URI of the platform, exactly as sign-in texts name it.'),
);
