/**
 * The configuration of the simulator of custodian B: who may call it, whose keys it holds, and how its co-signer behaves.
 *
 * @module
 */
import * as v from 'valibot';

/** The provider's roles of users, in its own words. */
const roles = ['ADMIN', 'NON_SIGNING_ADMIN', 'SIGNER', 'APPROVER', 'EDITOR', 'VIEWER'] as const;

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const pem = v.pipe(v.string(), v.startsWith('-----BEGIN '), v.maxLength(8_000));
const url = v.pipe(v.string(), v.url(), v.maxLength(500));
const milliseconds = v.pipe(v.number(), v.minValue(0));
const privateKey = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));

const callbackSchema = v.strictObject({
  /** The simulator adds `/v2/tx_sign_request` and `/v2/config_change_sign_request`. */
  url,
  /** Verifies the handler's answers: SPKI PEM, RSA. */
  publicKey: pem,
});

const configSchema = v.strictObject({
  /** 0: any free port. The simulator listens on loopback only. */
  port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)), 0),
  /** The id is the API key. */
  apiUsers: v.pipe(
    v.array(v.strictObject({ id: text, role: v.picklist(roles), publicKey: pem })),
    v.minLength(1),
  ),
  vaultAccounts: v.pipe(
    v.array(
      v.strictObject({
        id: v.pipe(v.string(), v.regex(/^\d{1,6}$/)),
        name: v.optional(text, 'Vault'),
        /** secp256k1, `0x` and 64 hex digits. Secret, and only ever a test key. */
        privateKey,
        assets: v.pipe(v.array(text), v.minLength(1)),
      }),
    ),
    v.minLength(1),
  ),
  /** Where contract calls go, by asset. */
  chains: v.optional(
    v.record(
      text,
      v.strictObject({ rpcUrl: url, chainId: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
    ),
    {},
  ),
  cosigner: v.strictObject({
    id: text,
    name: v.optional(text, 'Co-signer'),
    /** Signs every callback: PKCS#8 PEM, RSA. */
    privateKey: pem,
    /** The API user that is paired with the co-signer: SIGNER or ADMIN. It is the one that approves and signs. */
    signerId: text,
    /** Without a handler the co-signer approves and signs by itself. */
    callback: v.optional(callbackSchema),
    /** Further users that are paired with the co-signer. They are listed, and nothing else. */
    otherUsers: v.optional(
      v.array(v.strictObject({ id: text, callback: v.optional(callbackSchema) })),
      () => [],
    ),
  }),
  /** The stages in which the paired user is asked. */
  stages: v.optional(v.array(v.picklist(['approval', 'signing'])), ['approval', 'signing']),
  /** `transaction`: both stages carry the transaction's id as request id. `stage`: each stage has an id of its own. */
  requestIds: v.optional(v.picklist(['transaction', 'stage']), 'transaction'),
  /** The stages whose callbacks carry `rawTx`. It is a setting of the customer's workspace. */
  rawTx: v.optional(v.picklist(['signing', 'always', 'never']), 'signing'),
  /** After RETRY. The provider's limits: 30 s to 1 h apart, at most 48 h in all. */
  retry: v.optional(
    v.strictObject({
      intervalMs: milliseconds,
      times: v.pipe(v.number(), v.integer(), v.minValue(0)),
    }),
    { intervalMs: 180_000, times: 20 },
  ),
  /** Divides the interval between retries: 1,000 makes 3 minutes 180 ms. */
  timeScale: v.optional(v.pipe(v.number(), v.gtValue(0)), 1),
  /** How long the handler may take. Not scaled. */
  callbackLimitMs: v.optional(milliseconds, 30_000),
  /** What a handler that does not answer does to a transaction. The documentation says that the request fails. */
  onNoAnswer: v.optional(v.picklist(['fail', 'retry']), 'fail'),
  /** `mixed` shows every documented form of a signature in turn. `plain`: low s, v present, no 0x. */
  signatures: v.optional(v.picklist(['mixed', 'plain']), 'mixed'),
  /** Between two looks at a broadcast transaction. */
  receiptPollMs: v.optional(milliseconds, 250),
  /** Keeps transactions over restarts. Mode 0600. */
  stateFile: v.optional(text),
});

export type CustodianBConfig = v.InferInput<typeof configSchema>;
export type ParsedConfig = v.InferOutput<typeof configSchema>;
export type ApiUser = ParsedConfig['apiUsers'][number];
export type Role = ApiUser['role'];
export type VaultAccount = ParsedConfig['vaultAccounts'][number];
export type Callback = v.InferOutput<typeof callbackSchema>;
export type Stage = ParsedConfig['stages'][number];

/** @throws Error that names the first wrong field, never its value */
export function parseConfig(input: unknown): ParsedConfig {
  const result = v.safeParse(configSchema, input);
  if (!result.success) {
    const path = v.getDotPath(result.issues[0]) ?? 'the document';
    throw new Error(`configuration of custodian B: ${path} is missing or not of its form`);
  }
  const { apiUsers, vaultAccounts, cosigner } = result.output;
  if (new Set(apiUsers.map(({ id }) => id)).size !== apiUsers.length) {
    throw new Error('configuration of custodian B: apiUsers: two users have the same id');
  }
  if (new Set(vaultAccounts.map(({ id }) => id)).size !== vaultAccounts.length) {
    throw new Error('configuration of custodian B: vaultAccounts: two accounts have the same id');
  }
  const signer = apiUsers.find(({ id }) => id === cosigner.signerId);
  if (signer?.role !== 'SIGNER' && signer?.role !== 'ADMIN') {
    throw new Error(
      'configuration of custodian B: cosigner.signerId: no API user with the role SIGNER or ADMIN has this id',
    );
  }
  return result.output;
}

/** For the control API. */
export function parseCallback(input: unknown): Callback | undefined {
  return v.parse(v.nullish(callbackSchema), input) ?? undefined;
}
