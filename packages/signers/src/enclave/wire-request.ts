/**
 * A sign request as JSON, from the adapter to the enclave. The enclave believes nothing of it: every field has a type and a bound here,
 * and what may be signed is decided later, from the manifest file.
 *
 * @module
 */
import {
  assertField,
  bytesToHex,
  configuredAddressSchema,
  disclosureContentSchema,
  fieldModulus,
  fundFileSchema,
  hex32Schema,
  hexSchema,
  hexToBytes,
  parseHex,
  parseWire,
  spendCircuits,
  spendFileSchema,
  unixSecondsSchema,
} from '@pool/core';
import type { SignRequest } from '@pool/policy';
import * as v from 'valibot';

const uintSchema = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9][0-9]{0,77})$/),
  v.transform((value): bigint => BigInt(value)),
  v.check((value) => value < 2n ** 256n),
);
const fieldSchema = v.pipe(
  uintSchema,
  v.check((value) => value < fieldModulus),
  v.transform(assertField),
);
const chainIdSchema = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 48));
const textSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
const addressSchema = configuredAddressSchema;

const expectationSchema = v.strictObject({
  chainId: chainIdSchema,
  token: addressSchema,
  pool: addressSchema,
  total: uintSchema,
});

/** @param rest - beside what every request has */
function request<
  TKind extends SignRequest['kind'],
  TPayload extends v.GenericSchema,
  TRest extends v.ObjectEntries,
>(kind: TKind, payload: TPayload, rest: TRest) {
  const externalId = v.pipe(v.string(), v.maxLength(64));
  const expectedSigner = addressSchema;
  return v.strictObject({ kind: v.literal(kind), payload, expectedSigner, externalId, ...rest });
}

const ofBatch = { file: v.exactOptional(fundFileSchema) };

const requestSchema = v.variant('kind', [
  request(
    'fund-authorization',
    v.strictObject({
      chainId: chainIdSchema,
      pool: addressSchema,
      authorization: v.strictObject({
        funder: addressSchema,
        token: addressSchema,
        total: uintSchema,
        batchRoot: fieldSchema,
        batchNonce: fieldSchema,
        sealedNotesHash: hex32Schema,
        deadline: uintSchema,
      }),
    }),
    ofBatch,
  ),
  request(
    'void',
    v.strictObject({
      chainId: chainIdSchema,
      pool: addressSchema,
      funder: addressSchema,
      batchNonce: fieldSchema,
    }),
    ofBatch,
  ),
  request(
    'permit',
    v.strictObject({
      domain: v.strictObject({
        name: textSchema,
        version: textSchema,
        chainId: chainIdSchema,
        verifyingContract: addressSchema,
      }),
      permit: v.strictObject({
        owner: addressSchema,
        spender: addressSchema,
        value: uintSchema,
        nonce: uintSchema,
        deadline: uintSchema,
      }),
      expected: expectationSchema,
    }),
    ofBatch,
  ),
  request(
    'token-approval',
    v.strictObject({
      unsignedTransaction: v.pipe(
        v.string(),
        v.maxLength(4096),
        v.regex(/^0x(?:[0-9a-f]{2})+$/),
        v.transform((value) => parseHex(value)),
      ),
      expected: expectationSchema,
    }),
    ofBatch,
  ),
  request(
    'sign-in',
    v.strictObject({
      message: textSchema,
      expected: v.strictObject({
        domain: textSchema,
        uri: textSchema,
        chainId: v.exactOptional(chainIdSchema),
      }),
    }),
    {},
  ),
  request('viewing-key', v.strictObject({ domain: textSchema }), {}),
  request(
    'spend',
    v.strictObject({
      operation: v.pipe(
        v.strictObject({
          circuit: v.picklist(spendCircuits),
          assetId: fieldSchema,
          withdrawAmount: uintSchema,
          recipient: v.exactOptional(addressSchema),
          deadline: unixSecondsSchema,
          sealedNotesHash: hex32Schema,
          outRoot: fieldSchema,
          nullifiers: v.pipe(v.array(fieldSchema), v.maxLength(16)),
        }),
        v.transform((operation) => ({ ...operation, recipient: operation.recipient })),
      ),
      salt: v.pipe(
        hexSchema(31),
        v.transform((value) => hexToBytes(value, 31)),
      ),
    }),
    { file: v.exactOptional(spendFileSchema) },
  ),
  request('disclosure', v.strictObject({ content: disclosureContentSchema }), {}),
]);

/** JSON of a request. Secret where the request is: a manifest file, a salt. Whole numbers become decimal strings, bytes hex. */
export function serializeSignRequest(request: SignRequest): unknown {
  return toWire(request);
}

/** @throws PoolError `invalid_request` that names the first fields that are wrong, never their values */
export function parseSignRequest(value: unknown): SignRequest {
  return parseWire(requestSchema, value, 'sign request');
}

function toWire(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return String(value);
  }
  if (value instanceof Uint8Array) {
    return bytesToHex(value);
  }
  if (Array.isArray(value)) {
    return value.map(toWire);
  }
  if (typeof value === 'object' && value !== null) {
    // As JSON does it: a field without a value is left out.
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, toWire(item)]));
  }
  return value;
}
