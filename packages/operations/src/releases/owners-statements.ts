/**
 * What the entries of the owners of a contract wallet say in the release log: their statements, written and read here.
 *
 * @module
 */
import {
  amountSchema,
  computeTypedDataDigest,
  configuredAddressSchema,
  type Hex,
  hex32Schema,
  PoolError,
  parseHex,
  parseStrictJson,
  parseWire,
  unixSecondsSchema,
} from '@pool/core';
import type { NewReleaseEntry, ReleaseEntry } from '@pool/policy';
import type { OwnersRequest } from '@pool/signers';
import * as v from 'valibot';

const text = v.pipe(v.string(), v.maxLength(255));
const chainId = v.pipe(v.number(), v.integer(), v.minValue(1));

const requestSchema = v.strictObject({
  id: text,
  kind: v.picklist(['fund-authorization', 'void']),
  wallet: configuredAddressSchema,
  chainId,
  batch: v.strictObject({ key: text, chain: text, token: configuredAddressSchema }),
  total: amountSchema,
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
  deadline: unixSecondsSchema,
  digest: hex32Schema,
  data: v.strictObject({
    domain: v.strictObject({
      name: text,
      version: text,
      chainId,
      verifyingContract: configuredAddressSchema,
    }),
    types: v.record(text, v.array(v.strictObject({ name: text, type: text }))),
    primaryType: text,
    message: v.record(text, text),
  }),
});

const signatureSchema = v.pipe(
  v.string(),
  v.regex(/^0x(?:[0-9a-f]{2})+$/),
  v.transform((value) => parseHex(value)),
);
const signedSchema = v.strictObject({ id: text, signature: signatureSchema });
const withdrawnSchema = v.strictObject({ id: text });

/** An entry of the owners as it was read. */
export type OwnersEntry =
  | { readonly event: 'owners-asked'; readonly id: string; readonly request: OwnersRequest }
  | { readonly event: 'owners-signed'; readonly id: string; readonly signature: Hex }
  | { readonly event: 'owners-withdrawn'; readonly id: string };

type Statement = Pick<NewReleaseEntry, 'event' | 'statement'>;

export function stateAsked({ data, ...request }: OwnersRequest): Statement {
  const message = Object.entries(data.message).map(
    ([name, value]) => [name, value.toString()] as const,
  );
  const content = { ...request, data: { ...data, message: Object.fromEntries(message) } };
  return { event: 'owners-asked', statement: JSON.stringify(content) };
}

export function stateSigned(id: string, signature: Hex): Statement {
  return { event: 'owners-signed', statement: JSON.stringify({ id, signature }) };
}

export function stateWithdrawn(id: string): Statement {
  return { event: 'owners-withdrawn', statement: JSON.stringify({ id }) };
}

/**
 * Undefined: it is no entry of the owners.
 * @throws PoolError `store_damaged` if it is not as it was written
 */
export function readOwnersEntry(entry: ReleaseEntry): OwnersEntry | undefined {
  const { event, number, key } = entry;
  try {
    switch (event) {
      case 'owners-asked': {
        const request = parseRequest(entry);
        return { event, id: request.id, request };
      }
      case 'owners-signed':
        return { event, ...parseWire(signedSchema, parseStatement(entry), event) };
      case 'owners-withdrawn':
        return { event, ...parseWire(withdrawnSchema, parseStatement(entry), event) };
      default:
        return undefined;
    }
  } catch (cause) {
    // The statement of a stranger may stop the encoder in any way.
    throw new PoolError(
      'store_damaged',
      `entry ${number} of the release log (${event}, payment ${key}) is damaged, and nothing of this payment is signed; run "disburse-agent release verify", and restore the log from a backup`,
      { cause },
    );
  }
}

function parseStatement({ statement = '', event }: ReleaseEntry): unknown {
  return parseStrictJson(statement, event);
}

/** What people are shown is compared with what they sign. */
function parseRequest(entry: ReleaseEntry): OwnersRequest {
  const request = parseWire(requestSchema, parseStatement(entry), entry.event);
  const { kind, data, digest, wallet, total, count, batch, deadline } = request;
  const { message, domain } = data;
  const agrees =
    computeTypedDataDigest(data) === digest &&
    domain.chainId === request.chainId &&
    message['funder'] === wallet &&
    entry.key === batch.key &&
    entry.chain === batch.chain &&
    entry.total === total &&
    entry.count === count &&
    (kind === 'void' ||
      (message['total'] === total &&
        message['token'] === batch.token &&
        message['deadline'] === String(deadline)));
  if (!agrees) {
    throw new PoolError('store_damaged', 'the request is not what its digest says');
  }
  return request;
}
