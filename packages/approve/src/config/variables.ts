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

const custodianA = {
  aUrl: {
    name: 'APPROVE_CUSTODIAN_A_URL',
    role: 'custodian_a',
    purpose: 'base URL of custodian A',
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  aOrigin: {
    name: 'APPROVE_CUSTODIAN_A_ORIGIN',
    role: 'custodian_a',
    purpose: 'origin in the client data of user actions',
    kind: kinds.serviceUrl,
    whenUnset: 'the origin of the URL',
  },
  aHeaderPrefix: {
    name: 'APPROVE_CUSTODIAN_A_HEADER_PREFIX',
    role: 'custodian_a',
    purpose: "prefix of the provider's own headers",
    kind: kinds.headerPrefix,
    fallback: () => 'x-',
  },
  aServiceToken: {
    name: 'APPROVE_CUSTODIAN_A_SERVICE_TOKEN',
    role: 'custodian_a',
    purpose: "the approver's own service token, not the agent's",
    kind: kinds.bearerSecret(1),
    isRequired: true,
    credential: { fields: ['token'] },
  },
  aCredentialId: {
    name: 'APPROVE_CUSTODIAN_A_CREDENTIAL_ID',
    role: 'custodian_a',
    purpose: 'credential of the key that signs user actions',
    kind: kinds.providerId,
    isRequired: true,
  },
  aServiceKey: {
    name: 'APPROVE_CUSTODIAN_A_SERVICE_KEY',
    role: 'custodian_a',
    purpose: 'key that signs user actions: PKCS#8 PEM, Ed25519 or P-256',
    kind: kinds.privateKeyPem(['ed25519', 'ec']),
    isRequired: true,
    credential: { fields: ['privateKey'], isText: true },
  },
  aUserId: {
    name: 'APPROVE_CUSTODIAN_A_USER_ID',
    role: 'custodian_a',
    purpose: "the approver's user, whose votes the gate reads back",
    kind: kinds.providerId,
    isRequired: true,
  },
  aWebhookSecret: {
    name: 'APPROVE_CUSTODIAN_A_WEBHOOK_SECRET',
    role: 'custodian_a',
    purpose: 'secret of webhooks, which only wake the poller',
    kind: kinds.bearerSecret(16),
    credential: { fields: ['token'] },
    whenUnset: 'no webhooks',
  },
  aPollSeconds: {
    name: 'APPROVE_CUSTODIAN_A_POLL_SECONDS',
    role: 'custodian_a',
    purpose: 'pause between two looks at the pending approvals, in seconds',
    kind: integer(1, 3_600),
    fallback: () => 5,
  },
} satisfies Record<string, ConfigVariable<unknown>>;

const custodianB = {
  bUrl: {
    name: 'APPROVE_CUSTODIAN_B_URL',
    role: 'custodian_b',
    purpose: 'base URL of custodian B',
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  bApiKey: {
    name: 'APPROVE_CUSTODIAN_B_API_KEY',
    role: 'custodian_b',
    purpose: "the gate's own API user, which may only read",
    kind: kinds.bearerSecret(1),
    isRequired: true,
    credential: { fields: ['token'] },
  },
  bApiSecret: {
    name: 'APPROVE_CUSTODIAN_B_API_SECRET',
    role: 'custodian_b',
    purpose: 'key of that API user: PKCS#8 PEM, RSA',
    kind: kinds.privateKey(['rsa']),
    isRequired: true,
    credential: { fields: ['privateKey'], isText: true },
  },
  bCallbackUrl: {
    name: 'APPROVE_CUSTODIAN_B_CALLBACK_URL',
    role: 'custodian_b',
    purpose: "this gate's address, as configured at the co-signer",
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  bCallbackPrivateKey: {
    name: 'APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY',
    role: 'custodian_b',
    purpose: 'key that signs the answers of callbacks: PKCS#8 PEM, RSA',
    kind: kinds.privateKey(['rsa']),
    isRequired: true,
    credential: { fields: ['privateKey'], isText: true },
  },
  bCosignerPublicKey: {
    name: 'APPROVE_CUSTODIAN_B_COSIGNER_PUBLIC_KEY',
    role: 'custodian_b',
    purpose: 'key that the co-signer signs its callbacks with: SPKI PEM, RSA',
    kind: kinds.rsaPublicKey,
    isRequired: true,
    credential: { fields: ['publicKey'], isText: true },
  },
  bSignerId: {
    name: 'APPROVE_CUSTODIAN_B_SIGNER_ID',
    role: 'custodian_b',
    purpose: 'the API user that is paired with the co-signer',
    kind: kinds.providerId,
    isRequired: true,
  },
  bCosignerId: {
    name: 'APPROVE_CUSTODIAN_B_COSIGNER_ID',
    role: 'custodian_b',
    purpose: 'the co-signer whose configuration `doctor` reads',
    kind: kinds.providerId,
    isRequired: true,
  },
  bRetrySeconds: {
    name: 'APPROVE_CUSTODIAN_B_RETRY_SECONDS',
    role: 'custodian_b',
    purpose: 'pause after which the co-signer asks again, in seconds',
    kind: integer(30, 3_600),
    fallback: () => 180,
  },
  bRetryTimes: {
    name: 'APPROVE_CUSTODIAN_B_RETRY_TIMES',
    role: 'custodian_b',
    purpose: 'how often the co-signer asks again',
    kind: integer(1, 5_760),
    fallback: () => 20,
  },
} satisfies Record<string, ConfigVariable<unknown>>;

export const variables = {
  home: {
    name: 'APPROVE_HOME',
    role: 'all',
    purpose: "the gate's directory, mode 0700: ledger, manifests, audit log",
    kind: path,
    whenUnset: '`~/.pool-approve`',
  },
  envFile: {
    name: 'APPROVE_ENV',
    role: 'all',
    purpose: 'the configuration file, unless `--env-file` names one. From the environment only',
    kind: path,
    whenUnset: "`approve.env` in the gate's directory",
  },
  custodian: {
    name: 'APPROVE_CUSTODIAN',
    role: 'all',
    purpose: 'the custodian whose requests are judged',
    kind: choice(custodians),
    isRequired: true,
  },
  policyFile: {
    name: 'APPROVE_POLICY_FILE',
    role: 'all',
    purpose: 'the policy. SIGHUP reads it again',
    kind: path,
    fallback: (home) => join(home, 'policy.json'),
  },
  chainsFile: {
    name: 'APPROVE_CHAINS_FILE',
    role: 'all',
    purpose: "the gate's own chain settings, with an RPC of its own",
    kind: path,
    fallback: (home) => join(home, 'chains.json'),
  },
  artifactsDir: {
    name: 'APPROVE_ARTIFACTS_DIR',
    role: 'all',
    purpose: "folder of `pool-circuits fetch`, for each circuit's `verification-key.json`",
    kind: path,
    whenUnset: 'the development keys, which only chains 31337 and 1337 may have',
  },
  artifactsManifest: {
    name: 'APPROVE_ARTIFACTS_MANIFEST',
    role: 'all',
    purpose: "manifest that pins those keys. The gate votes only for pools with these keys' code",
    kind: path,
    whenUnset: 'the development keys, which only chains 31337 and 1337 may have',
  },
  manifestToken: {
    name: 'APPROVE_MANIFEST_TOKEN',
    role: 'all',
    purpose: "opens `POST /v1/manifests`; the agent's `DISBURSE_APPROVE_TOKEN`",
    kind: kinds.bearerSecret(20),
    isRequired: true,
    credential: { fields: ['token'] },
  },
  voteLimitSeconds: {
    name: 'APPROVE_VOTE_LIMIT_SECONDS',
    role: 'all',
    purpose: "how long a vote may take: the agent's `DISBURSE_VOTE_LIMIT_SECONDS`",
    kind: integer(60, 604_800),
    fallback: () => 86_400,
  },
  retentionDays: {
    name: 'APPROVE_RETENTION_DAYS',
    role: 'all',
    purpose: 'days after which a past or never approved manifest is erased',
    kind: integer(1, 36_500),
    fallback: () => 90,
  },
  host: {
    name: 'APPROVE_HOST',
    role: 'all',
    purpose: 'address to listen on',
    kind: listenHost,
    fallback: () => '127.0.0.1',
  },
  port: {
    name: 'APPROVE_PORT',
    role: 'all',
    purpose: 'port to listen on; 0 chooses a free one',
    kind: integer(0, 65_535),
    fallback: () => 8788,
  },
  allowPublicBind: {
    name: 'APPROVE_ALLOW_PUBLIC_BIND',
    role: 'all',
    purpose: 'a proxy in front terminates TLS; required off loopback',
    kind: choice(['behind-tls-proxy']),
    whenUnset: 'loopback only',
  },
  allowedHosts: {
    name: 'APPROVE_ALLOWED_HOSTS',
    role: 'all',
    purpose: 'further names in `Host`, besides that of `APPROVE_CUSTODIAN_B_CALLBACK_URL`',
    kind: hostNames,
    fallback: (): readonly string[] => [],
  },
  metricsToken: {
    name: 'APPROVE_METRICS_TOKEN',
    role: 'all',
    purpose: 'opens `GET /metrics` and the details of `GET /healthz`',
    kind: kinds.bearerSecret(20),
    credential: { fields: ['token'] },
    whenUnset: 'no metrics, and `GET /healthz` says only whether it votes',
  },
  logLevel: {
    name: 'APPROVE_LOG_LEVEL',
    role: 'all',
    purpose: 'level of the log on standard error. From `debug` on, a command shows stacks',
    kind: choice(logLevels),
    fallback: () => 'info' as const,
  },
  fault: {
    name: 'APPROVE_FAULT',
    role: 'tests',
    purpose: 'ends the process at a named point; only has an effect under `NODE_ENV=test`',
    kind: choice(faultPoints),
    whenUnset: 'none',
  },
  ...custodianA,
  ...custodianB,
} as const satisfies Record<string, ConfigVariable<unknown>>;
