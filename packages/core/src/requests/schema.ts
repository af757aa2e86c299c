/**
 * Building blocks of every wire schema: bounded strings and the primitives of this package as valibot
 * schemas. valibot's own messages repeat what they were given, so only what {@link describeIssues} says may reach a
 * response or a log.
 *
 * @module
 */
import * as v from 'valibot';
import { PoolError } from '../errors/pool-error.ts';
import { parseEncryptionPublicKey } from '../sign-in/sign-in.ts';
import { isAmountString } from '../values/amount.ts';
import { isEvmAddress, parseEvmAddress } from '../values/evm-address.ts';
import { parseHex, parseHex32 } from '../values/hex.ts';
import { describeIssues } from './describe-issues.ts';

/** The schema with its meaning, which the documents show and a test requires of each field. */
export function described<const S extends v.GenericSchema>(schema: S, meaning: string) {
  return v.pipe(schema, v.description(meaning));
}

/** A field that may be absent, with its meaning. */
export function optional<const S extends v.GenericSchema>(schema: S, meaning: string) {
  return v.optional(described(schema, meaning));
}

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

/** P as 32 bytes of hex. The code that decodes it checks that it is a point. */
export const encryptionPublicKeySchema = described(
  v.pipe(
    hexSchema(32),
    v.transform((value) => parseEncryptionPublicKey(value)),
  ),
  'P, the holder’s encryption public key, which notes are sealed to: a packed Baby Jubjub point, 32 bytes of ' +
    'lower-case 0x hex. The holder derives it from its viewing key. Public.',
);

/** W as the compressed point's hex. The code that decodes it checks that it is a point. */
export const walletPubSchema = described(
  hexSchema(33),
  'W, the holder’s wallet public key: a compressed secp256k1 point, 33 bytes of lower-case 0x hex. Not an address. Public.',
);

/** An address as a client spells it. The chain's adapter checks checksum and family. */
export const addressTextSchema = described(
  v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
  'Address in the format of the chain’s family, for example 0x and 40 hex digits on an EVM chain.',
);

/** An EVM address, 20 bytes, in any case. */
export const evmAddressSchema = described(
  v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/)),
  'EVM address: 0x and 20 bytes of hex.',
);

/** The address of an account's wallet, of any chain family. */
export const accountAddressSchema = described(
  v.pipe(v.string(), v.regex(/^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|G[A-Z2-7]{55})$/)),
  'Address of a wallet: EVM, Solana in base58, or Stellar `G…`.',
);

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
  v.description(
    'Whole number of base units in decimal, 1 to 2^128-1, without sign, point or leading zero.',
  ),
);

/** A canonical amount, which may be 0. */
export const amountOrZeroSchema = v.pipe(
  v.string(),
  v.maxLength(39),
  v.check((value) => value === '0' || isAmountString(value)),
);

/** A key of a chain, for example `anvil` or `base`. */
export const chainKeySchema = described(
  v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,31}$/)),
  'Key of a chain as the deployment names it, for example `base`.',
);

/** A token symbol as configured for a chain, for example `USDC`. */
export const tokenSymbolSchema = described(
  v.pipe(v.string(), v.regex(/^[A-Za-z0-9.]{1,16}$/)),
  'Symbol of a token configured for the chain, for example `USDC`. Never an address.',
);

/** Whole seconds since 1970-01-01T00:00:00Z. */
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
export const evidenceSchema = described(
  v.strictObject({
    message: described(
      v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
      'The EIP-4361 text exactly as the holder’s wallet signed it. Its one resource is `urn:pool:encryption-key:<P>`.',
    ),
    signature: described(
      hexSchema(65),
      'The wallet’s EIP-191 signature over `message`: r ‖ s ‖ v, 65 bytes of lower-case 0x hex, s in its low form, v 27 or 28. ' +
        'W is recovered from it.',
    ),
  }),
  'The holder’s sign-in, which binds P to W. The platform stores it; a payer verifies it before it seals a note to P.',
);

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
