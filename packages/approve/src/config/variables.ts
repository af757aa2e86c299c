/**
 * The gate's variables, in one table. The README's and the operations page's tables follow it. None of them is an agent's variable:
 * the two processes share no secret but the token of manifests.
 *
 * @module
 */
import { join } from 'node:path';
import {
  type ConfigVariable,
  choice,
  hostNames,
  integer,
  listenHost,
  logLevels,
  path,
} from '@pool/configuration';
import * as kinds from './kinds.ts';

export const custodians = ['custodian_a', 'custodian_b'] as const;
export type CustodianName = (typeof custodians)[number];

/** Named points at which a test ends the process. */
export const faultPoints = [
  'vote.after-decide',
  'vote.before-send',
  'vote.after-send',
  'vote.after-read-back',
  'callback.after-decide',
  'callback.before-answer',
] as const;
export type FaultPoint = (typeof faultPoints)[number];

type Unassigned = Record<string, Omit<ConfigVariable<unknown>, 'role'>>;

/** The same variables, each with the role in which the gate needs it. */
function withRole<TTable extends Unassigned>(role: string, table: TTable) {
  const entries = Object.entries(table).map(([key, variable]) => [key, { ...variable, role }]);
  return Object.fromEntries(entries) as {
    readonly [TKey in keyof TTable]: TTable[TKey] & { readonly role: string };
  };
}

const ofCustodianA = {
  aUrl: {
    name: 'APPROVE_CUSTODIAN_A_URL',
    purpose: 'base URL of custodian A',
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  aOrigin: {
    name: 'APPROVE_CUSTODIAN_A_ORIGIN',
    purpose: 'origin in the client data of user actions',
    kind: kinds.serviceUrl,
    whenUnset: 'the origin of the URL',
  },
  aHeaderPrefix: {
    name: 'APPROVE_CUSTODIAN_A_HEADER_PREFIX',
    purpose: "prefix of the provider's own headers",
    kind: kinds.headerPrefix,
    fallback: () => 'x-',
  },
  aServiceToken: {
    name: 'APPROVE_CUSTODIAN_A_SERVICE_TOKEN',
    purpose: "the approver's own service token, not the agent's",
    kind: kinds.bearerSecret(1),
    isRequired: true,
    credential: { fields: ['token'] },
  },
  aCredentialId: {
    name: 'APPROVE_CUSTODIAN_A_CREDENTIAL_ID',
    purpose: 'credential of the key that signs user actions',
    kind: kinds.providerId,
    isRequired: true,
  },
  aServiceKey: {
    name: 'APPROVE_CUSTODIAN_A_SERVICE_KEY',
    purpose: 'key that signs user actions: PKCS#8 PEM, Ed25519 or P-256',
    kind: kinds.privateKeyPem(['ed25519', 'ec']),
    isRequired: true,
    credential: { fields: ['privateKey'], isText: true },
  },
  aUserId: {
    name: 'APPROVE_CUSTODIAN_A_USER_ID',
    purpose: "the approver's user, whose votes the gate reads back",
    kind: kinds.providerId,
    isRequired: true,
  },
  aWebhookSecret: {
    name: 'APPROVE_CUSTODIAN_A_WEBHOOK_SECRET',
    purpose: 'secret of webhooks, which only wake the poller',
    kind: kinds.bearerSecret(16),
    credential: { fields: ['token'] },
    whenUnset: 'no webhooks',
  },
  aPollSeconds: {
    name: 'APPROVE_CUSTODIAN_A_POLL_SECONDS',
    purpose: 'pause between two looks at the pending approvals, in seconds',
    kind: integer(1, 3_600),
    fallback: () => 5,
  },
} satisfies Unassigned;

const ofCustodianB = {
  bUrl: {
    name: 'APPROVE_CUSTODIAN_B_URL',
    purpose: 'base URL of custodian B',
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  bApiKey: {
    name: 'APPROVE_CUSTODIAN_B_API_KEY',
    purpose: "the gate's own API user, which may only read",
    kind: kinds.bearerSecret(1),
    isRequired: true,
    credential: { fields: ['token'] },
  },
  bApiSecret: {
    name: 'APPROVE_CUSTODIAN_B_API_SECRET',
    purpose: 'key of that API user: PKCS#8 PEM, RSA',
    kind: kinds.privateKey(['rsa']),
    isRequired: true,
    credential: { fields: ['privateKey'], isText: true },
  },
  bCallbackUrl: {
    name: 'APPROVE_CUSTODIAN_B_CALLBACK_URL',
    purpose: "this gate's address, as configured at the co-signer",
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  bCallbackPrivateKey: {
    name: 'APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY',
    purpose: 'key that signs the answers of callbacks: PKCS#8 PEM, RSA',
    kind: kinds.privateKey(['rsa']),
    isRequired: true,
    credential: { fields: ['privateKey'], isText: true },
  },
  bCosignerPublicKey: {
    name: 'APPROVE_CUSTODIAN_B_COSIGNER_PUBLIC_KEY',
    purpose: 'key that the co-signer signs its callbacks with: SPKI PEM, RSA',
    kind: kinds.rsaPublicKey,
    isRequired: true,
    credential: { fields: ['publicKey'], isText: true },
  },
  bSignerId: {
    name: 'APPROVE_CUSTODIAN_B_SIGNER_ID',
    purpose: 'the API user that is paired with the co-signer',
    kind: kinds.providerId,
    isRequired: true,
  },
  bCosignerId: {
    name: 'APPROVE_CUSTODIAN_B_COSIGNER_ID',
    purpose: 'the co-signer whose configuration `doctor` reads',
    kind: kinds.providerId,
    isRequired: true,
  },
  bRetrySeconds: {
    name: 'APPROVE_CUSTODIAN_B_RETRY_SECONDS',
    purpose: 'pause after which the co-signer asks again, in seconds',
    kind: integer(30, 3_600),
    fallback: () => 180,
  },
  bRetryTimes: {
    name: 'APPROVE_CUSTODIAN_B_RETRY_TIMES',
    purpose: 'how often the co-signer asks again',
    kind: integer(1, 5_760),
    fallback: () => 20,
  },
} satisfies Unassigned;

const ofAll = {
  home: {
    name: 'APPROVE_HOME',
    purpose: "the gate's directory, mode 0700: ledger, manifests, audit log",
    kind: path,
    whenUnset: '`~/.pool-approve`',
  },
  envFile: {
    name: 'APPROVE_ENV',
    purpose: 'the configuration file, unless `--env-file` names one. From the environment only',
    kind: path,
    whenUnset: "`approve.env` in the gate's directory",
  },
  custodian: {
    name: 'APPROVE_CUSTODIAN',
    purpose: 'the custodian whose requests are judged',
    kind: choice(custodians),
    isRequired: true,
  },
  policyFile: {
    name: 'APPROVE_POLICY_FILE',
    purpose: 'the policy. SIGHUP reads it again',
    kind: path,
    fallback: (home) => join(home, 'policy.json'),
  },
  chainsFile: {
    name: 'APPROVE_CHAINS_FILE',
    purpose: "the gate's own chain settings, with an RPC of its own",
    kind: path,
    fallback: (home) => join(home, 'chains.json'),
  },
  artifactsDir: {
    name: 'APPROVE_ARTIFACTS_DIR',
    purpose: "folder of `pool-circuits fetch`, for each circuit's `verification-key.json`",
    kind: path,
    whenUnset: 'the development keys, which only chains 31337 and 1337 may have',
  },
  artifactsManifest: {
    name: 'APPROVE_ARTIFACTS_MANIFEST',
    purpose: "manifest that pins those keys. The gate votes only for pools with these keys' code",
    kind: path,
    whenUnset: 'the development keys, which only chains 31337 and 1337 may have',
  },
  manifestToken: {
    name: 'APPROVE_MANIFEST_TOKEN',
    purpose: "opens `POST /v1/manifests`; the agent's `DISBURSE_APPROVE_TOKEN`",
    kind: kinds.bearerSecret(20),
    isRequired: true,
    credential: { fields: ['token'] },
  },
  voteLimitSeconds: {
    name: 'APPROVE_VOTE_LIMIT_SECONDS',
    purpose: "how long a vote may take: the agent's `DISBURSE_VOTE_LIMIT_SECONDS`",
    kind: integer(60, 604_800),
    fallback: () => 86_400,
  },
  retentionDays: {
    name: 'APPROVE_RETENTION_DAYS',
    purpose: 'days after which a past or never approved manifest is erased',
    kind: integer(1, 36_500),
    fallback: () => 90,
  },
  host: {
    name: 'APPROVE_HOST',
    purpose: 'address to listen on',
    kind: listenHost,
    fallback: () => '127.0.0.1',
  },
  port: {
    name: 'APPROVE_PORT',
    purpose: 'port to listen on; 0 chooses a free one',
    kind: integer(0, 65_535),
    fallback: () => 8788,
  },
  allowPublicBind: {
    name: 'APPROVE_ALLOW_PUBLIC_BIND',
    purpose: 'a proxy in front terminates TLS; required off loopback',
    kind: choice(['behind-tls-proxy']),
    whenUnset: 'loopback only',
  },
  allowedHosts: {
    name: 'APPROVE_ALLOWED_HOSTS',
    purpose: 'further names in `Host`, besides that of `APPROVE_CUSTODIAN_B_CALLBACK_URL`',
    kind: hostNames,
    fallback: (): readonly string[] => [],
  },
  metricsToken: {
    name: 'APPROVE_METRICS_TOKEN',
    purpose: 'opens `GET /metrics` and the details of `GET /healthz`',
    kind: kinds.bearerSecret(20),
    credential: { fields: ['token'] },
    whenUnset: 'no metrics, and `GET /healthz` says only whether it votes',
  },
  logLevel: {
    name: 'APPROVE_LOG_LEVEL',
    purpose: 'level of the log on standard error. From `debug` on, a command shows stacks',
    kind: choice(logLevels),
    fallback: () => 'info' as const,
  },
} satisfies Unassigned;

const ofTests = {
  fault: {
    name: 'APPROVE_FAULT',
    purpose: 'ends the process at a named point; only has an effect under `NODE_ENV=test`',
    kind: choice(faultPoints),
    whenUnset: 'none',
  },
} satisfies Unassigned;

export const variables = {
  ...withRole('all', ofAll),
  ...withRole('tests', ofTests),
  ...withRole('custodian_a', ofCustodianA),
  ...withRole('custodian_b', ofCustodianB),
};
