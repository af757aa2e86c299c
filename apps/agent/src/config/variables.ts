/**
 * Every variable of the agent, in the order of the README. The parser, `disburse-agent config check`, the suggestions
 * for mistyped names and the README's table are derived from this table.
 *
 * @module
 */
import { join } from 'node:path';
import type { ConfigVariable } from '@pool/configuration';
import {
  bearerSecret,
  choice,
  hostNames,
  integer,
  listenHost,
  logLevels,
  opaqueSecret,
  path,
  privateKey,
  serviceUrl,
  text,
} from '@pool/configuration';
import { defaultBatchDeadlineSeconds } from '@pool/operations';
import { approveVariables, funderKeys, holderVariables, signerVariables } from '@pool/signers';
import * as kinds from './kinds.ts';
import { proverVariables } from './prover-variables.ts';

export const variables = {
  platformUrl: {
    name: 'DISBURSE_PLATFORM_URL',
    role: 'all',
    purpose: "the platform's `/agent-edge`",
    kind: kinds.edgeUrl,
    isRequired: true,
  },
  platformToken: {
    name: 'DISBURSE_PLATFORM_TOKEN',
    role: 'all',
    purpose: 'the edge token: authenticates the agent to the platform',
    kind: bearerSecret(1),
    isRequired: true,
    credential: { fields: ['token', 'edgeToken'] },
  },
  verifyUrl: {
    name: 'DISBURSE_PLATFORM_VERIFY_URL',
    role: 'disburse',
    purpose: "the platform's `POST /api/employers/verify-key`, asked for every API key",
    kind: serviceUrl,
    whenUnset: 'API keys are not accepted',
  },
  employerId: {
    name: 'DISBURSE_EMPLOYER_ID',
    role: 'all',
    purpose:
      "the employer's id; set it on a further host of the same employer. Another employer is refused",
    kind: kinds.employerId,
    whenUnset: 'the pinned one',
  },
  fingerprintKey: {
    name: 'DISBURSE_FINGERPRINT_KEY',
    role: 'disburse',
    purpose:
      'equal on all agents of one employer: copy `fingerprint.key` of the first, never to the platform',
    kind: kinds.secretBytes,
    whenUnset: '`fingerprint.key` in the agent directory, created at first start',
    credential: { fields: ['fingerprintKey'] },
  },
  chain: {
    name: 'DISBURSE_CHAIN',
    role: 'disburse, holder, identity',
    purpose: 'default chain of requests, chain of holder operations, and family of `identity`',
    kind: kinds.chainKey,
    whenUnset: 'from bootstrap',
  },
  chainsFile: {
    name: 'DISBURSE_CHAINS_FILE',
    role: 'all',
    purpose: "chains, pools, tokens, RPCs and finality: the agent's trust root",
    kind: path,
    fallback: (home: string) => join(home, 'chains.json'),
  },
  gateUrl: {
    name: 'DISBURSE_POOL_GATE_URL',
    role: 'all',
    purpose: 'the pool-gate; needs the `POOL_GATE_OAUTH_*` client',
    kind: serviceUrl,
    whenUnset: 'from bootstrap',
  },
  gateTokenUrl: {
    name: 'POOL_GATE_OAUTH_TOKEN_URL',
    role: 'all',
    purpose: 'where the pool-gate issues access tokens',
    kind: serviceUrl,
    whenUnset: 'from bootstrap',
  },
  gateClientId: {
    name: 'POOL_GATE_OAUTH_CLIENT_ID',
    role: 'all',
    purpose: 'OAuth client with read access to the pool-gate',
    kind: text,
    whenUnset: 'from bootstrap',
  },
  gateClientSecret: {
    name: 'POOL_GATE_OAUTH_CLIENT_SECRET',
    role: 'all',
    purpose: "that client's secret",
    kind: opaqueSecret,
    whenUnset: 'from bootstrap',
    credential: { fields: ['clientSecret'] },
  },
  gateScope: {
    name: 'POOL_GATE_OAUTH_SCOPE',
    role: 'all',
    purpose: 'OAuth scope to request',
    kind: text,
    fallback: () => 'gate.read',
  },
  ...proverVariables,
  signer: {
    name: 'DISBURSE_SIGNER',
    role: 'disburse',
    purpose:
      "the funder's signer, with its own variables and without `DISBURSE_FUNDER_PRIVATE_KEY`",
    kind: kinds.funderSigner,
    whenUnset: 'the local key',
  },
  funderPrivateKey: funderKeys.secp256k1,
  funderEd25519Key: funderKeys.ed25519,
  balanceToken: {
    name: 'DISBURSE_BALANCE_TOKEN',
    role: 'balance',
    purpose: 'an API key with the capability `holder.read`',
    kind: bearerSecret(1),
    whenUnset: 'no balance',
    credential: { fields: ['apiKey'], capability: 'holder.read' },
  },
  transferToken: {
    name: 'DISBURSE_TRANSFER_TOKEN',
    role: 'transfer',
    purpose: 'an API key with the capability `holder.transfer`',
    kind: bearerSecret(1),
    whenUnset: 'no transfers',
    credential: { fields: ['apiKey'], capability: 'holder.transfer' },
  },
  sendToken: {
    name: 'DISBURSE_SEND_TOKEN',
    role: 'send',
    purpose: 'an API key with the capability `holder.send`',
    kind: bearerSecret(1),
    whenUnset: 'no withdrawals',
    credential: { fields: ['apiKey'], capability: 'holder.send' },
  },
  sendDestinations: {
    name: 'DISBURSE_SEND_DESTINATIONS',
    role: 'send',
    purpose: "destinations of withdrawals besides the holder's own wallet",
    kind: kinds.destinations,
    whenUnset: "the holder's own wallet only",
  },
  transferMaxAmount: {
    name: 'DISBURSE_TRANSFER_MAX_AMOUNT',
    role: 'transfer',
    purpose: 'ceiling of one transfer',
    kind: kinds.baseUnits,
    whenUnset: 'no ceiling',
  },
  sendMaxAmount: {
    name: 'DISBURSE_SEND_MAX_AMOUNT',
    role: 'send',
    purpose: 'ceiling of one withdrawal',
    kind: kinds.baseUnits,
    whenUnset: 'no ceiling',
  },
  gasPrivateKey: {
    name: 'DISBURSE_GAS_PRIVATE_KEY',
    role: 'send --self-submit',
    purpose:
      'pays the gas. Its address becomes public beside the withdrawal: use an account that nobody connects with the holder',
    kind: privateKey,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  gasMaxCost: {
    name: 'DISBURSE_GAS_MAX_COST_COIN',
    role: 'send --self-submit',
    purpose: 'the most that the gas of one withdrawal may cost',
    kind: kinds.coinAmount,
    whenUnset: '`0.05`',
  },
  tokenSymbol: {
    name: 'DISBURSE_TOKEN_SYMBOL',
    role: 'holder',
    purpose: 'default token of holder commands',
    kind: kinds.tokenSymbol,
    fallback: () => 'USDC',
  },
  ...holderVariables,
  voteLimitSeconds: {
    name: 'DISBURSE_VOTE_LIMIT_SECONDS',
    role: 'disburse',
    purpose:
      "how long people may take to approve a batch, in seconds; at most the platform's `PLATFORM_VOTE_LIMIT_SECONDS`",
    kind: integer(60, 2_592_000),
    fallback: () => 86_400,
  },
  holderVoteLimitSeconds: {
    name: 'DISBURSE_HOLDER_VOTE_LIMIT_SECONDS',
    role: 'transfer, send',
    purpose:
      'how long people may take to approve a spend, in seconds; its notes stay locked until then',
    kind: integer(60, 604_800),
    fallback: () => 3_600,
  },
  approveUrl: approveVariables.url,
  approveToken: approveVariables.token,
  releasePolicy: {
    name: 'DISBURSE_RELEASE_POLICY',
    role: 'disburse',
    purpose:
      'who prepares payments, and who releases them before they are signed: a file (docs/operations/release.md)',
    kind: path,
    whenUnset: 'a payment waits for nobody',
  },
  onboardPrivateKey: {
    name: 'ONBOARD_PRIVATE_KEY',
    role: 'onboard',
    purpose: 'key that signs in to the platform, unless `onboard --login` names another signer',
    kind: privateKey,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  home: {
    name: 'DISBURSE_HOME',
    role: 'all',
    purpose: 'the agent directory, mode 0700',
    kind: path,
    whenUnset: '`~/.disburse-agent`',
  },
  envFile: {
    name: 'AGENT_ENV',
    role: 'all',
    purpose: 'the configuration file, unless `--env-file` names one. From the environment only',
    kind: path,
    whenUnset: '`agent.env` in the agent directory',
  },
  host: {
    name: 'DISBURSE_HOST',
    role: 'all',
    purpose: 'address to listen on',
    kind: listenHost,
    fallback: () => '127.0.0.1',
  },
  port: {
    name: 'DISBURSE_PORT',
    role: 'all',
    purpose: 'port to listen on; 0 chooses a free one',
    kind: integer(0, 65_535),
    fallback: () => 8787,
  },
  allowPublicBind: {
    name: 'DISBURSE_ALLOW_PUBLIC_BIND',
    role: 'all',
    purpose: 'a proxy in front terminates TLS; required off loopback',
    kind: choice(['behind-tls-proxy']),
    whenUnset: 'loopback only',
  },
  maxConnections: {
    name: 'DISBURSE_MAX_CONNECTIONS',
    role: 'all',
    purpose: 'open connections of all peers together',
    kind: integer(1, 65_535),
    fallback: () => 512,
  },
  maxConnectionsPerPeer: {
    name: 'DISBURSE_MAX_CONNECTIONS_PER_PEER',
    role: 'all',
    purpose:
      'open connections of one IPv4 address or IPv6 /64; 0: no maximum. Behind a proxy, set it there',
    kind: integer(0, 65_535),
    fallback: () => 0,
  },
  allowedHosts: {
    name: 'DISBURSE_ALLOWED_HOSTS',
    role: 'all',
    purpose: 'further names in `Host` and `Origin`',
    kind: hostNames,
    whenUnset: 'loopback names and `DISBURSE_HOST`',
  },
  metricsToken: {
    name: 'DISBURSE_METRICS_TOKEN',
    role: 'metrics',
    purpose: 'opens `GET /metrics` only',
    kind: bearerSecret(20),
    whenUnset: 'the loopback token only',
    credential: { fields: ['token'] },
  },
  jobStore: {
    name: 'DISBURSE_JOB_STORE',
    role: 'disburse',
    purpose:
      'where jobs are stored. Agents on several machines share a PostgreSQL database; `memory:` loses the jobs',
    kind: kinds.jobStore,
    fallback: (home: string) => `sqlite:${join(home, 'jobs.sqlite')}`,
  },
  jobStorePassword: {
    name: 'DISBURSE_JOB_STORE_PASSWORD',
    role: 'disburse',
    purpose: 'password of the PostgreSQL user in `DISBURSE_JOB_STORE`',
    kind: opaqueSecret,
    whenUnset: 'no password',
    credential: { fields: ['password'] },
  },
  spendJournal: {
    name: 'DISBURSE_SPEND_JOURNAL',
    role: 'transfer, send',
    purpose:
      'Idempotency-Keys of spends. With `memory:` a retry after a restart pays again. Back the file up with `spends.sqlite`',
    kind: kinds.spendJournal,
    fallback: () => 'memory:',
  },
  webhooksFile: {
    name: 'DISBURSE_WEBHOOKS_FILE',
    role: 'disburse',
    purpose: 'receivers of webhooks with their secrets: JSON, mode 0600',
    kind: path,
    whenUnset: 'no webhooks',
  },
  webhooksLoopback: {
    name: 'DISBURSE_WEBHOOKS_LOOPBACK',
    role: 'disburse',
    purpose: 'a receiver may be on this machine, and may be http there',
    kind: choice(['allow']),
    whenUnset: 'public https addresses only',
  },
  webhooksRetentionDays: {
    name: 'DISBURSE_WEBHOOKS_RETENTION_DAYS',
    role: 'disburse',
    purpose: 'days after which a webhook delivery is erased, taken by its receiver or not',
    kind: integer(7, 36_500),
    fallback: () => 30,
  },
  batchDeadlineSeconds: {
    name: 'DISBURSE_BATCH_DEADLINE_SECONDS',
    role: 'disburse',
    purpose: 'time in which a signed batch can settle, in seconds',
    kind: integer(10, 86_400),
    fallback: () => defaultBatchDeadlineSeconds,
  },
  retentionDays: {
    name: 'DISBURSE_RETENTION_DAYS',
    role: 'disburse',
    purpose: "days after a job's end until recipients and batch seed are erased",
    kind: integer(1, 36_500),
    fallback: () => 30,
  },
  disclosureYears: {
    name: 'DISBURSE_DISCLOSURE_YEARS',
    role: 'disburse, holder',
    purpose:
      'years for which openings are kept, encrypted, so that `disclose payer` can prove a payment',
    kind: integer(1, 100),
    fallback: () => 7,
  },
  rateLimit: {
    name: 'DISBURSE_RATE_LIMIT',
    role: 'all',
    purpose: 'requests per second of one credential, after a burst of twice as many',
    kind: integer(1, 100_000),
    fallback: () => 100,
  },
  logLevel: {
    name: 'DISBURSE_LOG_LEVEL',
    role: 'all',
    purpose: 'level of the log: JSON lines on standard error',
    kind: choice(logLevels),
    fallback: () => 'info' as const,
  },
  nodeEnv: {
    name: 'NODE_ENV',
    role: 'all',
    purpose: '`production` refuses development keys and warns of private keys',
    kind: text,
    whenUnset: 'development',
  },
  fault: {
    name: 'DISBURSE_FAULT',
    role: 'tests',
    purpose: 'ends the process at a failpoint, under `NODE_ENV=test` only',
    kind: kinds.faultPoint,
    whenUnset: 'none',
  },
} satisfies Record<string, ConfigVariable<unknown>>;

/** Those of the signers outside this process follow the ones that all of them share. */
export const allVariables: readonly ConfigVariable<unknown>[] = Object.values(variables).flatMap(
  (variable: ConfigVariable<unknown>) =>
    variable === variables.approveToken ? [variable, ...signerVariables] : [variable],
);
