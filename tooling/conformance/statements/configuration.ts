// The agent's configuration: its sources, and each variable.
import { section, shown } from '../statement.ts';
import {
  access,
  agentChains,
  agentConfig,
  agentSpends,
  agentStart,
  balanceRoute,
  canary,
  configFile,
  configReader,
  configRules,
  configWarnings,
  custodyConfig,
  deployment,
  ed25519Funder,
  ed25519Onboarding,
  ed25519Wallets,
  gateSource,
  identityCommand,
  keyVerifier,
  onboarding,
  pipeline,
  servedNotes,
  spendCommand,
} from '../test-files.ts';

const defaults = 'requires the platform only, and has the documented defaults';
const everyProblem = 'reports every problem at once, by name and never by value';

export const sources = section('Where configuration comes from', [
  [
    'config.environment-and-file',
    'It comes from the environment and from a flat file, and the environment has precedence over the file.',
    shown(
      configReader('precedence > %s'),
      agentStart(
        'reads the file of --env-file, else of AGENT_ENV, else of the agent directory',
        'reports every problem at once, of the file and of the environment',
      ),
    ),
  ],
  [
    'config.flat-file',
    'The file is flat: one `NAME=value` per line. Nothing in it is skipped, cut or merged without a message.',
    shown(
      configFile(
        'reads %s',
        'does not cut a secret at a number sign inside it',
        'never reads the next line as the value of an empty variable',
        'refuses %s by its line, without showing it',
        'refuses a name that is set twice, and names both lines',
      ),
      agentStart('reads unusual but valid files, and shows none of their secrets'),
    ),
  ],
  [
    'config.which-file',
    'The file is `--env-file`, else `$AGENT_ENV`, else `agent.env` in the hidden agent directory.',
    shown(
      configFile(
        'readConfigFile > %s and %o: %s',
        'needs no default file, and fails without a named file',
      ),
      agentStart(
        'reads the file of --env-file, else of AGENT_ENV, else of the agent directory',
        'fails if a named file does not exist',
      ),
    ),
  ],
  [
    'config.secret-files',
    'Every credential has a `_FILE` variant, which has precedence.',
    shown(
      configReader(
        'exists for every credential',
        '%s: has precedence over the inline form, bare or as a document',
        'has precedence in the configuration file over an inline variable of the environment',
      ),
      configRules('reads each file once, because a pipe is empty at the second read'),
    ),
  ],
  [
    'config.secret-file-forms',
    'Such a file holds the bare secret or the JSON document that a command printed.',
    shown(
      configReader(
        '%s: has precedence over the inline form, bare or as a document',
        '%s: reports the problem and shows no content',
      ),
      agentStart('ends the start: %s and %s, inline and through files'),
    ),
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
    shown(agentConfig(everyProblem), keyVerifier('accepts no key if the platform %s')),
  ],
  [
    'variable.chain',
    '`DISBURSE_CHAIN` is the default chain; bootstrap may vend it.',
    shown(
      agentChains('routes the chain with a pool by name, by default and as vended'),
      access('pays on the chain that bootstrap vends if DISBURSE_CHAIN is not set'),
    ),
  ],
  [
    'variable.gate',
    '`DISBURSE_POOL_GATE_URL` and `POOL_GATE_OAUTH_*` reach the pool-gate; bootstrap may vend them.',
    shown(
      configRules('refusals > %s'),
      gateSource(
        'uses the configured gate, whatever is vended',
        'uses the gate that is vended now, also for a job that began with another one',
      ),
      deployment('pays a roster, and every recipient opens exactly its own note'),
    ),
  ],
  [
    'variable.prover',
    '`DISBURSE_PROVER` is `wasm` by default, or `mock`, which makes no proofs.',
    shown(
      agentConfig(defaults, everyProblem),
      pipeline('fails under the mock prover before anything is signed or sent'),
    ),
  ],
  [
    'variable.signer',
    '`DISBURSE_SIGNER` is `enclave`, `custodian_b` or `custodian_a`.',
    shown(custodyConfig('%s=%s > is complete, without a warning', '%s=%s > requires %s by name')),
  ],
  [
    'variable.signer-unset',
    'Unset, the local key signs.',
    shown(deployment('pays a roster, and every recipient opens exactly its own note')),
  ],
  [
    'variable.funder-key-warning',
    'A funder key in a production-flagged environment causes a warning at start.',
    shown(configWarnings('warnings > %s'), canary('prints, answers and stores no secret')),
  ],
  [
    'variable.without-effect',
    'The agent warns by name of variables without effect: the ed25519 funder key, for which there is no pool, and those of a signer that is not configured.',
    shown(configWarnings('warnings > %s'), custodyConfig('warnings > name %s')),
  ],
  [
    'variable.funder-ed25519',
    '`DISBURSE_FUNDER_ED25519_KEY` adds signing for Solana and Stellar.',
    shown(
      ed25519Funder('signs a batch, and the library of the chain verifies it: $family, $network'),
      agentChains('has no pool on %s'),
      configRules('refusals > %s'),
      configWarnings('warnings > %s'),
    ),
  ],
  [
    'variable.custodians',
    '`DISBURSE_CUSTODIAN_A_*` and `DISBURSE_CUSTODIAN_B_*` connect to the custodians.',
    shown(
      custodyConfig('%s=%s > is complete, without a warning', 'the funder > refuses %s'),
      custodyConfig('funder and holder at custodian A > share an account, and no wallet'),
    ),
  ],
  [
    'variable.balance-token',
    '`DISBURSE_BALANCE_TOKEN`, a `holder.read` key, is required for the balance.',
    shown(
      servedNotes('is not read without DISBURSE_BALANCE_TOKEN, which the message names'),
      balanceRoute('answers 503 with the variable if the role’s own key is not configured'),
    ),
  ],
  [
    'variable.transfer-token',
    '`DISBURSE_TRANSFER_TOKEN`, a `holder.transfer` key, is required to transfer.',
    shown(
      agentSpends('need the key of their own role: %s'),
      spendCommand('names the variable of a missing key'),
    ),
  ],
  [
    'variable.send-token',
    '`DISBURSE_SEND_TOKEN`, a `holder.send` key, is required to send.',
    shown(
      agentSpends('need the key of their own role: %s'),
      spendCommand('names the variable of a missing key'),
    ),
  ],
  [
    'variable.destinations-form',
    '`DISBURSE_SEND_DESTINATIONS` is `label=address` pairs; a label that may be an address, an invalid address, or a repeated label ends the start.',
    shown(
      configRules(
        'pinned destinations > refuses %s',
        'names every invalid entry',
        'accepts valid values',
      ),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  [
    'variable.destinations',
    '`DISBURSE_SEND_DESTINATIONS` pins `label=address`; without it only the own wallet.',
    shown(
      agentSpends(
        'take destinations from DISBURSE_SEND_DESTINATIONS, and without it only the own wallet',
      ),
    ),
  ],
  [
    'variable.ceilings-form',
    '`DISBURSE_TRANSFER_MAX_AMOUNT` and `DISBURSE_SEND_MAX_AMOUNT` are base units; unset beside the credential of their role, the agent warns.',
    shown(
      configRules('refusals > %s', 'accepts valid values'),
      configWarnings('warnings > %s'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  [
    'variable.ceilings',
    '`DISBURSE_TRANSFER_MAX_AMOUNT` and `DISBURSE_SEND_MAX_AMOUNT` bound a call.',
    shown(
      agentSpends('take ceilings from DISBURSE_TRANSFER_MAX_AMOUNT and DISBURSE_SEND_MAX_AMOUNT'),
    ),
  ],
  [
    'variable.token-symbol-default',
    '`DISBURSE_TOKEN_SYMBOL` is a symbol, never an address, and `USDC` by default.',
    shown(configRules('accepts valid values', 'refusals > %s')),
  ],
  [
    'variable.token-symbol',
    '`DISBURSE_TOKEN_SYMBOL` is the token of holder commands that name none.',
    shown(spendCommand('takes the token of DISBURSE_TOKEN_SYMBOL, and --token before it')),
  ],
  [
    'variable.holder-signer-choice',
    '`DISBURSE_HOLDER_SIGNER` is `local-key` by default and does not follow `DISBURSE_SIGNER`; there is none for custodian B.',
    shown(configRules('reads the holder’s signer independently of the funder’s', 'refusals > %s')),
  ],
  [
    'variable.holder-signer',
    '`DISBURSE_HOLDER_SIGNER` may be `enclave` or `custodian_a`.',
    shown(custodyConfig('%s=%s > is complete, without a warning', '%s=%s > requires %s by name')),
  ],
  [
    'variable.enclave-deterministic',
    '`DISBURSE_ENCLAVE_DETERMINISTIC` and `DISBURSE_HOLDER_ENCLAVE_DETERMINISTIC` are `false` for a key in a PKCS#11 token.',
    shown(custodyConfig('%s=enclave > says of a key in a token that its signatures do not repeat')),
  ],
  [
    'variable.holder-signer-ed25519',
    '`DISBURSE_HOLDER_SIGNER` may be `local-ed25519`, for Solana and Stellar.',
    shown(
      configRules('has an ed25519 holder beside any funder'),
      identityCommand('takes the family from DISBURSE_CHAIN=%s'),
      ed25519Onboarding('enrols it on %s, and says that it cannot be paid here'),
      ed25519Wallets(
        'signs in, registers and enrols as `eligibility_disabled`, takes no leaf, and leaves evidence',
      ),
    ),
  ],
  [
    'variable.holder-forms',
    'An invalid holder’s key, P or host key ends the start.',
    shown(configRules('refusals > %s')),
  ],
  [
    'variable.holder-key',
    '`DISBURSE_HOLDER_PRIVATE_KEY` is for the local-key holder.',
    shown(
      identityCommand(
        'prints address, W and P of a local key, without a platform, and writes nothing',
        'refuses %s',
      ),
    ),
  ],
  [
    'variable.viewing-key',
    '`DISBURSE_HOLDER_VIEWING_KEY` is the escrowed viewing key.',
    shown(
      configRules('refusals > %s'),
      identityCommand(
        'uses an escrowed viewing key, bare or as the document that made it, and needs no chains.json',
      ),
    ),
  ],
  [
    'variable.viewing-key-required',
    'A holder in custodian A’s custody requires it: without it, the start ends.',
    shown(
      configRules('refusals > %s'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
  [
    'variable.encryption-pubkey',
    '`DISBURSE_HOLDER_ENCRYPTION_PUBKEY` is a cross-check: a spend does not start when the viewing key gives another P.',
    shown(
      agentSpends(
        'do not start if the viewing key does not give DISBURSE_HOLDER_ENCRYPTION_PUBKEY',
      ),
    ),
  ],
  [
    'variable.onboard-key',
    '`ONBOARD_PRIVATE_KEY` signs the session of `onboard`.',
    shown(
      onboarding(
        'signs the session with the host key by default, and lists no P where nothing is enrolled',
      ),
    ),
  ],
]);
