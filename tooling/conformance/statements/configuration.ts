// The agent's configuration: where it comes from, and each variable.
import { accountOperations, custody, section, shown } from '../statement.ts';
import {
  agentConfig,
  canary,
  configFile,
  configReader,
  configRules,
  deployment,
  keyVerifier,
  pipeline,
} from '../test-files.ts';

const defaults = 'needs the platform alone, and has the documented defaults';
const everyProblem = 'reports every problem at once, by name and never by value';

export const sources = section('Where configuration comes from', [
  [
    'config.environment-and-file',
    'It comes from the environment and from a flat file, and the environment outranks the file.',
    shown(configReader('precedence > %s')),
  ],
  [
    'config.which-file',
    'The file is `--env-file`, else `$AGENT_ENV`, else `agent.env` in the hidden agent directory.',
    shown(configFile('readConfigFile > %s and %o: %s')),
  ],
  [
    'config.secret-files',
    'Every credential has a `_FILE` variant, which wins.',
    shown(
      configReader(
        'exists for every credential',
        '%s: outranks the inline one, bare or as a document',
      ),
    ),
  ],
  [
    'config.secret-file-forms',
    'Such a file holds the bare secret or the JSON document that a command printed.',
    shown(configReader('%s: outranks the inline one, bare or as a document')),
  ],
]);

export const variables = section('Variables', [
  [
    'variable.platform-url',
    '`DISBURSE_PLATFORM_URL` is required: the platform’s edge.',
    shown(configRules('refusals > %s')),
  ],
  [
    'variable.platform-token',
    '`DISBURSE_PLATFORM_TOKEN` is required: the edge token.',
    shown(configRules('refusals > %s')),
  ],
  [
    'variable.verify-url',
    '`DISBURSE_PLATFORM_VERIFY_URL` points at the platform’s verify-key route.',
    shown(agentConfig(everyProblem), keyVerifier('lets nobody in when the platform %s')),
  ],
  [
    'variable.chain',
    '`DISBURSE_CHAIN` is the default chain; bootstrap may vend it.',
    shown(configReader('precedence > %s')),
  ],
  [
    'variable.gate',
    '`DISBURSE_POOL_GATE_URL` and `POOL_GATE_OAUTH_*` reach the pool-gate; bootstrap may vend them.',
    shown(agentConfig(everyProblem), canary('keeps every secret to itself')),
  ],
  [
    'variable.prover',
    '`DISBURSE_PROVER` is `wasm` by default, or `mock`, which makes no proofs.',
    shown(
      agentConfig(defaults, everyProblem),
      pipeline('fails under the mock prover before anything is signed or sent'),
    ),
  ],
  ['variable.signer', '`DISBURSE_SIGNER` is `enclave`, `custodian_b` or `custodian_a`.', custody],
  [
    'variable.signer-unset',
    'Unset, the local key signs.',
    shown(deployment('pays a roster, and every recipient opens exactly its own note')),
  ],
  [
    'variable.funder-key-warning',
    'A funder key in a production-flagged environment is warned of at start.',
    shown(configRules('warnings > %s'), canary('keeps every secret to itself')),
  ],
  [
    'variable.funder-ed25519',
    '`DISBURSE_FUNDER_ED25519_KEY` adds signing for Solana and Stellar.',
    custody,
  ],
  [
    'variable.custodians',
    '`DISBURSE_CUSTODIAN_A_*` and `DISBURSE_CUSTODIAN_B_*` connect to the custodians.',
    custody,
  ],
  [
    'variable.balance-token',
    '`DISBURSE_BALANCE_TOKEN`, a `holder.read` key, is required for the balance.',
    accountOperations,
  ],
  [
    'variable.transfer-token',
    '`DISBURSE_TRANSFER_TOKEN`, a `holder.transfer` key, is required to transfer.',
    accountOperations,
  ],
  [
    'variable.send-token',
    '`DISBURSE_SEND_TOKEN`, a `holder.send` key, is required to send.',
    accountOperations,
  ],
  [
    'variable.destinations',
    '`DISBURSE_SEND_DESTINATIONS` pins `label=address`; without it only the own wallet.',
    accountOperations,
  ],
  [
    'variable.ceilings',
    '`DISBURSE_TRANSFER_MAX_AMOUNT` and `DISBURSE_SEND_MAX_AMOUNT` bound a call; unset, the agent warns.',
    accountOperations,
  ],
  [
    'variable.token-symbol',
    '`DISBURSE_TOKEN_SYMBOL` is the token of holder commands, `USDC` by default.',
    accountOperations,
  ],
  [
    'variable.holder-signer',
    '`DISBURSE_HOLDER_SIGNER` is `local-key` by default, `enclave`, `local-ed25519` or `custodian_a`, and does not follow `DISBURSE_SIGNER`.',
    accountOperations,
  ],
  [
    'variable.holder-key',
    '`DISBURSE_HOLDER_PRIVATE_KEY` is for the local-key holder.',
    accountOperations,
  ],
  [
    'variable.viewing-key',
    '`DISBURSE_HOLDER_VIEWING_KEY` is the escrowed viewing key, required for custodian A.',
    accountOperations,
  ],
  [
    'variable.encryption-pubkey',
    '`DISBURSE_HOLDER_ENCRYPTION_PUBKEY` is a cross-check: a spend does not start when the viewing key gives another P.',
    accountOperations,
  ],
  [
    'variable.onboard-key',
    '`ONBOARD_PRIVATE_KEY` signs the session of `onboard`.',
    accountOperations,
  ],
]);
