/**
 * Every variable of the agent, in the order in which the README shows them. Parsing, `disburse-agent config
 * check`, the help for mistyped names and the README's table all come from here.
 *
 * @module
 */
import { join } from 'node:path';
import { defaultBatchDeadlineSeconds } from '@pool/operations';
import { agentFaultPoints } from '../services/fault.ts';
import { destinations } from './destinations.ts';
import * as kinds from './kinds.ts';
import { listeningVariables } from './listening.ts';
import { accelerators, logLevels } from './types.ts';
import type { ConfigFamily, ConfigVariable } from './variable.ts';

const custodyRelease = 'comes with the custody release and is not in this build';

export const variables = {
  platformUrl: {
    name: 'DISBURSE_PLATFORM_URL',
    role: 'all',
    purpose: "the platform's `/agent-edge`",
    kind: kinds.serviceUrl,
    isRequired: true,
  },
  platformToken: {
    name: 'DISBURSE_PLATFORM_TOKEN',
    role: 'all',
    purpose: 'the edge token, with which the agent talks to the platform',
    kind: kinds.bearerSecret(1),
    isRequired: true,
    credential: { fields: ['token', 'edgeToken'] },
  },
  verifyUrl: {
    name: 'DISBURSE_PLATFORM_VERIFY_URL',
    role: 'disburse',
    purpose: "the platform's `POST /api/employers/verify-key`, which is asked about every API key",
    kind: kinds.serviceUrl,
    whenUnset: 'API keys are not accepted',
  },
  employerId: {
    name: 'DISBURSE_EMPLOYER_ID',
    role: 'all',
    purpose:
      "the employer's id, for a further host of the same employer. The agent refuses a platform that names another one; without it, the first bootstrap is pinned in `tenancy.json`",
    kind: kinds.uuid,
    whenUnset: 'the pinned one',
  },
  fingerprintKey: {
    name: 'DISBURSE_FINGERPRINT_KEY',
    role: 'disburse',
    purpose:
      'lets the agents of one employer tell whether a key was paid for the same request: copy `fingerprint.key` of the first agent to every further one. Never give it to the platform. Refused if it equals any other credential',
    kind: kinds.secretBytes,
    whenUnset: '`fingerprint.key` in the agent directory, made at first start',
    credential: { fields: ['fingerprintKey'] },
  },
  chain: {
    name: 'DISBURSE_CHAIN',
    role: 'disburse, holder',
    purpose: 'chain of requests that name none, and the chain of holder operations',
    kind: kinds.chainKey,
    whenUnset: 'from bootstrap',
  },
  chainsFile: {
    name: 'DISBURSE_CHAINS_FILE',
    role: 'all',
    purpose: "the agent's own chains, pools, tokens, RPCs, finality: its trust root",
    kind: kinds.path,
    fallback: (home: string) => join(home, 'chains.json'),
  },
  gateUrl: {
    name: 'DISBURSE_POOL_GATE_URL',
    role: 'all',
    purpose: 'the pool-gate; with it, the client below is needed too',
    kind: kinds.serviceUrl,
    whenUnset: 'from bootstrap',
  },
  gateTokenUrl: {
    name: 'POOL_GATE_OAUTH_TOKEN_URL',
    role: 'all',
    purpose: 'where the pool-gate gives out access tokens',
    kind: kinds.serviceUrl,
    whenUnset: 'from bootstrap',
  },
  gateClientId: {
    name: 'POOL_GATE_OAUTH_CLIENT_ID',
    role: 'all',
    purpose: 'client that may read the pool-gate',
    kind: kinds.text,
    whenUnset: 'from bootstrap',
  },
  gateClientSecret: {
    name: 'POOL_GATE_OAUTH_CLIENT_SECRET',
    role: 'all',
    purpose: "that client's secret",
    kind: kinds.opaqueSecret,
    whenUnset: 'from bootstrap',
    credential: { fields: ['clientSecret'] },
  },
  gateScope: {
    name: 'POOL_GATE_OAUTH_SCOPE',
    role: 'all',
    purpose: 'scope to ask for',
    kind: kinds.text,
    fallback: () => 'gate.read',
  },
  prover: {
    name: 'DISBURSE_PROVER',
    role: 'disburse',
    purpose:
      '`wasm` makes real proofs, on a graphics device if there is one; `mock` makes none and serves dry runs only',
    kind: kinds.choice<'wasm' | 'mock'>(['wasm', 'mock']),
    fallback: () => 'wasm' as const,
  },
  accelerator: {
    name: 'DISBURSE_ACCELERATOR',
    role: 'all',
    purpose: '`webgpu` fails where there is no graphics device',
    kind: kinds.choice(accelerators),
    fallback: () => 'auto' as const,
  },
  artifactsDir: {
    name: 'DISBURSE_ARTIFACTS_DIR',
    role: 'all',
    purpose:
      'cache of development keys; with a manifest, the folder that `pool-circuits fetch` filled',
    kind: kinds.path,
    whenUnset: "the circuits' cache",
  },
  artifactsManifest: {
    name: 'DISBURSE_ARTIFACTS_MANIFEST',
    role: 'all',
    purpose:
      'the manifest published with production keys: the agent proves with these files and nothing else, and checks each against it. It does not start with a key to which nobody contributed in secret. Needed under `NODE_ENV=production`, where development keys are refused',
    kind: kinds.path,
    whenUnset: 'development keys',
  },
  signer: {
    name: 'DISBURSE_SIGNER',
    role: 'disburse',
    purpose: `the funder's signer; each of these ${custodyRelease}`,
    kind: kinds.partialChoice<never>({
      available: [],
      missing: {
        enclave: `names the signing enclave, which ${custodyRelease}; leave it unset for the local key`,
        custodian_b: `names custodian B, which ${custodyRelease}; leave it unset for the local key`,
        custodian_a: `names custodian A, which ${custodyRelease}; leave it unset for the local key`,
      },
      expected:
        'must be enclave, custodian_b or custodian_a, none of which is in this build; leave it unset for the local key',
    }),
    whenUnset: 'the local key',
  },
  funderPrivateKey: {
    name: 'DISBURSE_FUNDER_PRIVATE_KEY',
    role: 'disburse',
    purpose: "the funder's key, for development; the agent warns of it under `NODE_ENV=production`",
    kind: kinds.privateKey,
    whenUnset: 'no chain can be paid on',
    credential: { fields: ['privateKey'] },
  },
  funderEd25519Key: {
    name: 'DISBURSE_FUNDER_ED25519_KEY',
    role: 'disburse',
    purpose:
      'for Solana and Stellar, next to any signer. No pool of theirs is in this build, so it has no effect yet',
    kind: kinds.opaqueSecret,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  balanceToken: {
    name: 'DISBURSE_BALANCE_TOKEN',
    role: 'balance',
    purpose:
      'an API key with the capability `holder.read`. Refused if it equals either spend token or `DISBURSE_PLATFORM_TOKEN`',
    kind: kinds.bearerSecret(1),
    whenUnset: 'no balance',
    credential: { fields: ['apiKey'], capability: 'holder.read' },
  },
  transferToken: {
    name: 'DISBURSE_TRANSFER_TOKEN',
    role: 'transfer',
    purpose:
      'an API key with the capability `holder.transfer`. Refused if it equals `DISBURSE_PLATFORM_TOKEN`',
    kind: kinds.bearerSecret(1),
    whenUnset: 'no transfers',
    credential: { fields: ['apiKey'], capability: 'holder.transfer' },
  },
  sendToken: {
    name: 'DISBURSE_SEND_TOKEN',
    role: 'send',
    purpose:
      'an API key with the capability `holder.send`. Refused if it equals `DISBURSE_PLATFORM_TOKEN`',
    kind: kinds.bearerSecret(1),
    whenUnset: 'no withdrawals',
    credential: { fields: ['apiKey'], capability: 'holder.send' },
  },
  sendDestinations: {
    name: 'DISBURSE_SEND_DESTINATIONS',
    role: 'send',
    purpose: 'the only places besides the own wallet that a withdrawal may go to, by label',
    kind: destinations,
    whenUnset: "the holder's own wallet only",
  },
  transferMaxAmount: {
    name: 'DISBURSE_TRANSFER_MAX_AMOUNT',
    role: 'transfer',
    purpose: 'ceiling of one transfer; the agent warns when there is none',
    kind: kinds.baseUnits,
    whenUnset: 'no ceiling',
  },
  sendMaxAmount: {
    name: 'DISBURSE_SEND_MAX_AMOUNT',
    role: 'send',
    purpose: 'ceiling of one withdrawal; the agent warns when there is none',
    kind: kinds.baseUnits,
    whenUnset: 'no ceiling',
  },
  tokenSymbol: {
    name: 'DISBURSE_TOKEN_SYMBOL',
    role: 'holder',
    purpose: 'token of holder commands that name none',
    kind: kinds.tokenSymbol,
    fallback: () => 'USDC',
  },
  holderSigner: {
    name: 'DISBURSE_HOLDER_SIGNER',
    role: 'holder, identity',
    purpose:
      "the holder's signer, chosen apart from `DISBURSE_SIGNER`; only `local-key` is in this build",
    kind: kinds.partialChoice<'local-key'>({
      available: ['local-key'],
      missing: {
        enclave: `names the signing enclave, which ${custodyRelease}; use local-key`,
        'local-ed25519':
          'names the signer for Solana and Stellar, which is not in this build: no pool of theirs is; use local-key',
        custodian_a: `names custodian A, which ${custodyRelease}; use local-key`,
      },
      impossible: {
        custodian_b: 'names custodian B, for which no holder signer exists; use local-key',
      },
      expected:
        'must be local-key, enclave, local-ed25519 or custodian_a; only local-key is in this build',
    }),
    fallback: () => 'local-key' as const,
  },
  holderPrivateKey: {
    name: 'DISBURSE_HOLDER_PRIVATE_KEY',
    role: 'holder, identity',
    purpose: "the holder's key for `local-key`, for development",
    kind: kinds.privateKey,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  holderViewingKey: {
    name: 'DISBURSE_HOLDER_VIEWING_KEY',
    role: 'holder, identity',
    purpose:
      'an escrowed viewing key, from `viewing-key new`; `custodian_a` needs one. The agent never makes one',
    kind: kinds.opaqueSecret,
    whenUnset: 'derived from a signature',
    credential: { fields: ['scalar'] },
  },
  holderEncryptionPublicKey: {
    name: 'DISBURSE_HOLDER_ENCRYPTION_PUBKEY',
    role: 'holder',
    purpose: 'the enrolled P: no spend starts with a viewing key that does not produce it',
    kind: kinds.publicKeyHex,
    whenUnset: 'not compared',
  },
  onboardPrivateKey: {
    name: 'ONBOARD_PRIVATE_KEY',
    role: 'onboard',
    purpose: 'host key that signs in to the platform. Read by `onboard` alone',
    kind: kinds.privateKey,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  home: {
    name: 'DISBURSE_HOME',
    role: 'all',
    purpose: 'the agent directory, 0700',
    kind: kinds.path,
    whenUnset: '`~/.disburse-agent`',
  },
  envFile: {
    name: 'AGENT_ENV',
    role: 'all',
    purpose:
      'the configuration file, unless `--env-file` names one. Read from the environment only',
    kind: kinds.path,
    whenUnset: '`agent.env` in the agent directory',
  },
  ...listeningVariables,
  metricsToken: {
    name: 'DISBURSE_METRICS_TOKEN',
    role: 'metrics',
    purpose: 'opens `GET /metrics` and nothing else. Refused if it equals any other credential',
    kind: kinds.bearerSecret(20),
    whenUnset: 'the loopback token only',
    credential: { fields: ['token'] },
  },
  jobStore: {
    name: 'DISBURSE_JOB_STORE',
    role: 'disburse',
    purpose: 'where jobs are kept; `memory:` forgets them',
    kind: kinds.jobStore,
    fallback: (home: string) => `sqlite:${join(home, 'jobs.sqlite')}`,
  },
  batchDeadlineSeconds: {
    name: 'DISBURSE_BATCH_DEADLINE_SECONDS',
    role: 'disburse',
    purpose: 'how long a signed batch may land',
    kind: kinds.integer(10, 86_400),
    fallback: () => defaultBatchDeadlineSeconds,
  },
  retentionDays: {
    name: 'DISBURSE_RETENTION_DAYS',
    role: 'disburse',
    purpose:
      'days after its end for which a job keeps recipients and batch seed; key, fingerprint and result stay',
    kind: kinds.integer(1, 36_500),
    fallback: () => 30,
  },
  rateLimit: {
    name: 'DISBURSE_RATE_LIMIT',
    role: 'all',
    purpose:
      'requests a second of one credential, after a burst of twice as many; the next is 429 with Retry-After',
    kind: kinds.integer(1, 100_000),
    fallback: () => 100,
  },
  logLevel: {
    name: 'DISBURSE_LOG_LEVEL',
    role: 'all',
    purpose: 'JSON lines on standard error',
    kind: kinds.choice(logLevels),
    fallback: () => 'info' as const,
  },
  nodeEnv: {
    name: 'NODE_ENV',
    role: 'all',
    purpose:
      '`production` is the production flag: development keys are refused, private keys warned of',
    kind: kinds.text,
    whenUnset: 'development',
  },
  fault: {
    name: 'DISBURSE_FAULT',
    role: 'tests',
    purpose: 'ends the process at a named point; honoured under `NODE_ENV=test` only',
    // The points have a section of their own.
    kind: { ...kinds.choice(agentFaultPoints), label: 'point' },
    whenUnset: 'none',
  },
} satisfies Record<string, ConfigVariable<unknown>>;

export const allVariables: readonly ConfigVariable<unknown>[] = Object.values(variables);

export const families: readonly ConfigFamily[] = [
  {
    prefix: 'DISBURSE_CUSTODIAN_A_',
    role: 'disburse',
    purpose: `connection to custodian A, which ${custodyRelease}`,
  },
  {
    prefix: 'DISBURSE_CUSTODIAN_B_',
    role: 'disburse',
    purpose: `connection to custodian B, which ${custodyRelease}`,
  },
];

/** Every name that means something, `_FILE` forms included. */
export const knownNames: readonly string[] = allVariables.flatMap(({ name, credential }) =>
  credential === undefined ? [name] : [name, `${name}_FILE`],
);
