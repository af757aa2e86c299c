/**
 * Building blocks of every wire schema: bounded strings and the primitives of this package as valibot
 * schemas. valibot's own messages repeat what they were given, so only what {@link describeIssues} says may reach a
 * response or a log.
 *
 * @module
 */
import * as v from 'valibot';
import { isAmountString } from './amount.ts';
import { describeIssues } from './describe-issues.ts';
import { PoolError } from './errors/pool-error.ts';
import { isEvmAddress, parseEvmAddress } from './evm-address.ts';
import { parseHex, parseHex32 } from './hex.ts';
import { parseEncryptionPublicKey } from './sign-in.ts';

/** 0x-prefixed lower-case hex of exactly `byteLength` bytes. */
export function hexSchema(byteLength: number) {
  return v.pipe(
    v.string(),
    v.length(2 + 2 * byteLength),
    v.regex(/^0x[0-9a-f]*$/),
    v.transform((value) => parseHex(value, byteLength)),
  );
}

/** 0x-prefixed lower-case hex of exactly 32 bytes. */
export const hex32Schema = v.pipe(
  hexSchema(32),
  v.transform((value) => parseHex32(value)),
);

/** P as 32 bytes of hex. Whether it is a point is checked by whoever decodes it. */
export const encryptionPublicKeySchema = v.pipe(
  hexSchema(32),
  v.transform((value) => parseEncryptionPublicKey(value)),
);

/** An address as a client spells it; checksum and family are checked by the chain's adapter. */
export const addressTextSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(128));

/** A checksummed or lower-case EVM address, 20 bytes. */
export const evmAddressSchema = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/));

/** An EVM address of the operator's configuration: a wrong checksum and the zero address are refused. Checksum form. */
export const configuredAddressSchema = v.pipe(
  evmAddressSchema,
  v.check<string>(isEvmAddress),
  v.transform((value) => parseEvmAddress(value)),
);

/** A canonical positive amount (decimal string). */
export const amountSchema = v.pipe(
  v.string(),
  v.maxLength(39),
  v.check((value) => isAmountString(value)),
);

/** A key of a chain, for example `anvil` or `base`. */
export const chainKeySchema = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,31}$/));

/** A token symbol as configured for a chain, for example `USDC`. */
export const tokenSymbolSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9.]{1,16}$/));

export const unixSecondsSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(2 ** 48),
);

/** ISO 8601 UTC time. */
export const isoTimeSchema = v.pipe(v.string(), v.isoTimestamp());

/** An http(s) URL of bounded length. */
export const urlSchema = v.pipe(v.string(), v.maxLength(2048), v.url(), v.regex(/^https?:/));

/** `{message, signature}` of a sign-in, as kept and served by the platform. */
export const evidenceSchema = v.strictObject({
  message: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  signature: hexSchema(65),
});

/**
 * Parses an untrusted value. The error says where the first three problems are and what they are, never the value.
 *
 * @param what - what is being parsed, for the message ("request body", "platform response")
 * @throws PoolError `invalid_request`
 */
export function parseWire<TSchema extends v.GenericSchema>(
  schema: TSchema,
  value: unknown,
  what: string,
): v.InferOutput<TSchema> {
  const result = v.safeParse(schema, value);
  if (result.success) {
    return result.output;
  }
  throw new PoolError('invalid_request', `${what} is malformed: ${describeIssues(result.issues)}`);
}
