/**
 * Reads EIP-712 typed data of a custodian's request. The four documents of the pool are recognised by their exact types; the primary
 * type is fixed here and never taken from the request, because custodian A's has none.
 *
 * @module
 */
import {
  disclosureStatementSchema,
  disclosureTypes,
  fundAuthorizationTypes,
  parseEvmAddress,
  parseField,
  parseHex32,
  permitTypes,
  type TypedData,
  voidBatchTypes,
} from '@pool/core';
import * as v from 'valibot';
import { foreign, type Preimage, type Reading } from './preimage.ts';

const typeName = v.pipe(v.string(), v.maxLength(64));

const typesSchema = v.record(
  typeName,
  v.pipe(v.array(v.strictObject({ name: typeName, type: typeName })), v.maxLength(16)),
);

/** A uint: a safe JSON number, or canonical decimal text. Any other form could be read as two numbers. */
const uint = v.pipe(
  v.union([
    v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]{0,77})$/)),
  ]),
  v.transform((value) => BigInt(value)),
  v.check((value) => value < 2n ** 256n),
);

const chainId = v.pipe(
  uint,
  v.check((value) => value >= 1n && value <= 2n ** 48n),
  v.transform((value) => Number(value)),
);

const address = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-fA-F]{40}$/),
  v.transform((text) => parseEvmAddress(text)),
);

const word = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/), v.toLowerCase());
const hex32 = v.pipe(
  word,
  v.transform((value) => parseHex32(value)),
);
const field = v.pipe(
  word,
  v.transform((value) => parseField(value)),
);

const domainSchema = v.strictObject({
  name: v.pipe(v.string(), v.maxLength(64)),
  version: v.pipe(v.string(), v.maxLength(8)),
  chainId,
  verifyingContract: address,
});

const domainType = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

const authorizationSchema = v.strictObject({
  funder: address,
  token: address,
  total: uint,
  batchRoot: field,
  batchNonce: field,
  sealedNotesHash: hex32,
  deadline: uint,
});

const voidSchema = v.strictObject({ funder: address, batchNonce: field });

const permitSchema = v.strictObject({
  owner: address,
  spender: address,
  value: uint,
  nonce: uint,
  deadline: uint,
});

const seconds = v.pipe(
  uint,
  v.check((value) => value <= 2n ** 48n),
  v.transform((value) => Number(value)),
);

/** Every other rule is that of the document's own schema. */
const disclosureSchema = v.strictObject({
  role: v.string(),
  discloser: address,
  token: address,
  purpose: v.string(),
  challenge: v.string(),
  issuedAt: seconds,
  expiresAt: seconds,
  document: hex32,
});

export type TypedDataWire = {
  readonly types: unknown;
  readonly domain: unknown;
  readonly message: unknown;
  /** Absent in custodian A's requests. */
  readonly primaryType?: unknown;
};

/** Never throws. */
export function readTypedData({ types, domain, message, primaryType }: TypedDataWire): Reading {
  const parsedTypes = safeParse(typesSchema, types);
  const parsedDomain = safeParse(domainSchema, domain);
  if (parsedTypes === undefined || parsedDomain === undefined) {
    return foreign('the typed data has an unknown field, or a domain of another form');
  }
  const { EIP712Domain: written, ...rest } = parsedTypes;
  if (written !== undefined && !isSameType(written, domainType)) {
    return foreign('the type of the domain is not the usual one');
  }
  const document = documents.find(({ name, type }) => {
    const fields = rest[name];
    return fields !== undefined && Object.keys(rest).length === 1 && isSameType(fields, type);
  });
  if (document === undefined) {
    return foreign(
      'the types are not those of an authorisation, a withdrawal, a permit or a disclosure',
    );
  }
  if (primaryType !== undefined && primaryType !== document.name) {
    return foreign('the primary type is not the one of the document');
  }
  return (
    document.parse(parsedDomain, message) ??
    foreign(`the message is not a ${document.name} with every field in its usual form`)
  );
}

type Document = {
  readonly name: string;
  readonly type: readonly { readonly name: string; readonly type: string }[];
  parse(domain: TypedData['domain'], message: unknown): Preimage | undefined;
};

const documents: readonly Document[] = [
  {
    name: 'FundAuthorization',
    type: fundAuthorizationTypes['FundAuthorization'] ?? [],
    parse(domain, message) {
      const authorization = safeParse(authorizationSchema, message);
      const { chainId, verifyingContract: pool } = domain;
      return authorization === undefined || !isPoolDomain(domain)
        ? undefined
        : { kind: 'fund-authorization', chainId, pool, authorization };
    },
  },
  {
    name: 'VoidBatch',
    type: voidBatchTypes['VoidBatch'] ?? [],
    parse(domain, message) {
      const fields = safeParse(voidSchema, message);
      const { chainId, verifyingContract: pool } = domain;
      return fields === undefined || !isPoolDomain(domain)
        ? undefined
        : { kind: 'void', chainId, pool, ...fields };
    },
  },
  {
    name: 'Permit',
    type: permitTypes['Permit'] ?? [],
    parse(domain, message) {
      const permit = safeParse(permitSchema, message);
      return permit === undefined ? undefined : { kind: 'permit', domain, permit };
    },
  },
  {
    name: 'Disclosure',
    type: disclosureTypes['Disclosure'] ?? [],
    parse({ name, version, chainId, verifyingContract: pool }, message) {
      const fields = safeParse(disclosureSchema, message);
      if (fields === undefined || name !== 'PoolDisclosure' || version !== '1') {
        return undefined;
      }
      const { challenge, ...rest } = fields;
      // An absent challenge is the empty string.
      const named = challenge === '' ? {} : { challenge };
      const statement = safeParse(disclosureStatementSchema, { chainId, pool, ...rest, ...named });
      return statement === undefined ? undefined : { kind: 'disclosure', statement };
    },
  },
];

function isPoolDomain({ name, version }: TypedData['domain']): boolean {
  return name === 'ShieldedPool' && version === '1';
}

/** The order of fields is part of a type's hash. */
function isSameType(
  fields: readonly { readonly name: string; readonly type: string }[],
  expected: Document['type'],
): boolean {
  return (
    fields.length === expected.length &&
    fields.every(
      ({ name, type }, index) => name === expected[index]?.name && type === expected[index]?.type,
    )
  );
}

function safeParse<TSchema extends v.GenericSchema>(
  schema: TSchema,
  value: unknown,
): v.InferOutput<TSchema> | undefined {
  try {
    const result = v.safeParse(schema, value);
    return result.success ? result.output : undefined;
  } catch {
    // A transformation refused a value, for example an address with a wrong checksum or a field element above r.
    return undefined;
  }
}
