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
  type Kind,
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

/** One in several lines, for example a key in PEM. */
const [token, pem, publicPem] = [
  { credential: { fields: ['token'] } },
  { credential: { fields: ['privateKey'], isText: true } },
  { credential: { fields: ['publicKey'], isText: true } },
] as const;
const required = { isRequired: true } as const;

/** Rows of one role. @param name - whole, so that a search finds it */
function rowsOf(role: string) {
  return <T, TRest extends Partial<ConfigVariable<T>> = object>(
    name: string,
    purpose: string,
    kind: Kind<T>,
    rest?: TRest & Partial<ConfigVariable<T>>,
  ) => ({ name, role, purpose, kind, ...(rest as TRest) });
}

const variable = rowsOf('all');
const ofA = rowsOf('custodian_a');
const ofB = rowsOf('custodian_b');

/** Every variable, by the part of the gate that needs it. In a group, by the name of its value in the configuration. */
export const variables = {
  all: {
    home: variable(
      'APPROVE_HOME',
      "the gate's directory, mode 0700: ledger, manifests, audit log",
      path,
      { whenUnset: '`~/.pool-approve`' },
    ),
    envFile: variable(
      'APPROVE_ENV',
      'the configuration file, unless `--env-file` names one. From the environment only',
      path,
      { whenUnset: "`approve.env` in the gate's directory" },
    ),
    custodian: variable(
      'APPROVE_CUSTODIAN',
      'the custodian whose requests are judged',
      choice(custodians),
      required,
    ),
    policyFile: variable('APPROVE_POLICY_FILE', 'the policy. SIGHUP reads it again', path, {
      fallback: (home) => join(home, 'policy.json'),
    }),
    chainsFile: variable(
      'APPROVE_CHAINS_FILE',
      "the gate's own chain settings, with an RPC of its own",
      path,
      { fallback: (home) => join(home, 'chains.json') },
    ),
    artifactsDir: variable(
      'APPROVE_ARTIFACTS_DIR',
      "folder of `pool-circuits fetch`, for each circuit's `verification-key.json`",
      path,
      { whenUnset: 'the development keys, which only chains 31337 and 1337 may have' },
    ),
    artifactsManifest: variable(
      'APPROVE_ARTIFACTS_MANIFEST',
      "manifest that pins those keys. The gate votes only for pools with these keys' code",
      path,
      { whenUnset: 'the development keys, which only chains 31337 and 1337 may have' },
    ),
    manifestToken: variable(
      'APPROVE_MANIFEST_TOKEN',
      "opens `POST /v1/manifests`; the agent's `DISBURSE_APPROVE_TOKEN`",
      kinds.bearerSecret(20),
      { ...token, ...required },
    ),
    voteLimitSeconds: variable(
      'APPROVE_VOTE_LIMIT_SECONDS',
      "how long a vote may take: the agent's `DISBURSE_VOTE_LIMIT_SECONDS`",
      integer(60, 604_800),
      { fallback: () => 86_400 },
    ),
    retentionDays: variable(
      'APPROVE_RETENTION_DAYS',
      'days after which a past or never approved manifest is erased',
      integer(1, 36_500),
      { fallback: () => 90 },
    ),
    host: variable('APPROVE_HOST', 'address to listen on', listenHost, {
      fallback: () => '127.0.0.1',
    }),
    port: variable('APPROVE_PORT', 'port to listen on; 0 chooses a free one', integer(0, 65_535), {
      fallback: () => 8788,
    }),
    allowPublicBind: variable(
      'APPROVE_ALLOW_PUBLIC_BIND',
      'a proxy in front terminates TLS; required off loopback',
      choice(['behind-tls-proxy']),
      { whenUnset: 'loopback only' },
    ),
    allowedHosts: variable(
      'APPROVE_ALLOWED_HOSTS',
      'further names in `Host`, besides that of `APPROVE_CUSTODIAN_B_CALLBACK_URL`',
      hostNames,
      { fallback: (): readonly string[] => [] },
    ),
    metricsToken: variable(
      'APPROVE_METRICS_TOKEN',
      'opens `GET /metrics` and the details of `GET /healthz`',
      kinds.bearerSecret(20),
      { ...token, whenUnset: 'no metrics, and `GET /healthz` says only whether it votes' },
    ),
    logLevel: variable(
      'APPROVE_LOG_LEVEL',
      'level of the log on standard error. From `debug` on, a command shows stacks',
      choice(logLevels),
      { fallback: () => 'info' as const },
    ),
  },
  custodian_a: {
    url: ofA('APPROVE_CUSTODIAN_A_URL', 'base URL of custodian A', kinds.serviceUrl, required),
    origin: ofA(
      'APPROVE_CUSTODIAN_A_ORIGIN',
      'origin in the client data of user actions',
      kinds.serviceUrl,
      { whenUnset: 'the origin of the URL' },
    ),
    headerPrefix: ofA(
      'APPROVE_CUSTODIAN_A_HEADER_PREFIX',
      "prefix of the provider's own headers",
      kinds.headerPrefix,
      { fallback: () => 'x-' },
    ),
    serviceToken: ofA(
      'APPROVE_CUSTODIAN_A_SERVICE_TOKEN',
      "the approver's own service token, not the agent's",
      kinds.bearerSecret(1),
      { ...token, ...required },
    ),
    credentialId: ofA(
      'APPROVE_CUSTODIAN_A_CREDENTIAL_ID',
      'credential of the key that signs user actions',
      kinds.providerId,
      required,
    ),
    serviceKey: ofA(
      'APPROVE_CUSTODIAN_A_SERVICE_KEY',
      'key that signs user actions: PKCS#8 PEM, Ed25519 or P-256',
      kinds.privateKeyPem(['ed25519', 'ec']),
      { ...pem, ...required },
    ),
    userId: ofA(
      'APPROVE_CUSTODIAN_A_USER_ID',
      "the approver's user, whose votes the gate reads back",
      kinds.providerId,
      required,
    ),
    webhookSecret: ofA(
      'APPROVE_CUSTODIAN_A_WEBHOOK_SECRET',
      'secret of webhooks, which only wake the poller',
      kinds.bearerSecret(16),
      { ...token, whenUnset: 'no webhooks' },
    ),
    pollSeconds: ofA(
      'APPROVE_CUSTODIAN_A_POLL_SECONDS',
      'pause between two looks at the pending approvals, in seconds',
      integer(1, 3_600),
      { fallback: () => 5 },
    ),
  },
  custodian_b: {
    url: ofB('APPROVE_CUSTODIAN_B_URL', 'base URL of custodian B', kinds.serviceUrl, required),
    apiKey: ofB(
      'APPROVE_CUSTODIAN_B_API_KEY',
      "the gate's own API user, which may only read",
      kinds.bearerSecret(1),
      { ...token, ...required },
    ),
    apiSecret: ofB(
      'APPROVE_CUSTODIAN_B_API_SECRET',
      'key of that API user: PKCS#8 PEM, RSA',
      kinds.privateKey(['rsa']),
      { ...pem, ...required },
    ),
    callbackUrl: ofB(
      'APPROVE_CUSTODIAN_B_CALLBACK_URL',
      "this gate's address, as configured at the co-signer",
      kinds.serviceUrl,
      required,
    ),
    callbackKey: ofB(
      'APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY',
      'key that signs the answers of callbacks: PKCS#8 PEM, RSA',
      kinds.privateKey(['rsa']),
      { ...pem, ...required },
    ),
    cosignerPublicKey: ofB(
      'APPROVE_CUSTODIAN_B_COSIGNER_PUBLIC_KEY',
      'key that the co-signer signs its callbacks with: SPKI PEM, RSA',
      kinds.rsaPublicKey,
      { ...publicPem, ...required },
    ),
    signerId: ofB(
      'APPROVE_CUSTODIAN_B_SIGNER_ID',
      'the API user that is paired with the co-signer',
      kinds.providerId,
      required,
    ),
    cosignerId: ofB(
      'APPROVE_CUSTODIAN_B_COSIGNER_ID',
      'the co-signer whose configuration `doctor` reads',
      kinds.providerId,
      required,
    ),
    retrySeconds: ofB(
      'APPROVE_CUSTODIAN_B_RETRY_SECONDS',
      'pause after which the co-signer asks again, in seconds',
      integer(30, 3_600),
      { fallback: () => 180 },
    ),
    retryTimes: ofB(
      'APPROVE_CUSTODIAN_B_RETRY_TIMES',
      'how often the co-signer asks again',
      integer(1, 5_760),
      { fallback: () => 20 },
    ),
  },
  tests: {
    fault: rowsOf('tests')(
      'APPROVE_FAULT',
      'ends the process at a named point; only has an effect under `NODE_ENV=test`',
      choice(faultPoints),
      { whenUnset: 'none' },
    ),
  },
};
