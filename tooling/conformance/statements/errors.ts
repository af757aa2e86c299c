// Codes, statuses and limits.
import { section, shown } from '../statement.ts';
import {
  access,
  agentApp,
  agentChains,
  agentErrors,
  agentSpends,
  agentStart,
  checks,
  collectable,
  configRules,
  deployment,
  employerRoutes,
  foreignSettlement,
  lateLanding,
  lies,
  paidElsewhere,
  realChain,
  sandbox,
  sharedTurn,
  solana,
  spendChecks,
  spendCommand,
  spendKeys,
  spendLanding,
  spendRoutes,
  stellar,
  tenancy,
} from '../test-files.ts';

const on400 = 'is 400 %s on disburse, code and message alone, and leaves no job';
const refusals = 'refuses %s with %s';
const ceiling = 'names the ceiling of a batch that is too large, and keeps no job';

export const disbursementErrors = section('Errors of a disbursement', [
  [
    'error.invalid-request',
    'A malformed body is 400 `invalid_request`.',
    shown(agentErrors(on400)),
  ],
  [
    'error.invalid-chain-unknown',
    'An unknown chain key is 400 `invalid-chain`.',
    shown(agentErrors(on400), agentChains('refuses an unknown chain key')),
  ],
  [
    'error.invalid-chain-platform',
    'An unsupported platform is 400 `invalid-chain`.',
    shown(agentErrors(on400), agentChains('refuses a chain of an unsupported platform')),
  ],
  [
    'error.invalid-chain-pool',
    'A chain without the configured pool is 400 `invalid-chain`.',
    shown(
      agentErrors(on400),
      agentChains('has no pool on %s'),
      lies('refuses the chain as invalid-chain when the platform vends another %s'),
    ),
  ],
  [
    'error.invalid-chain-signer',
    'A chain without a funder signer for its curve is 400 `invalid-chain`.',
    shown(
      agentErrors(on400),
      agentChains('refuses a chain without a signer for its curve, only %j'),
    ),
  ],
  [
    'error.invalid-token',
    'A symbol the chain does not have, or an address, is 400 `invalid-token`.',
    shown(agentErrors(on400)),
  ],
  [
    'error.batch-too-large',
    'Too many recipients are 400 `batch-too-large` before proving, and the message names the ceiling.',
    shown(agentApp(ceiling), deployment('reports its ceiling when a call is too large')),
  ],
  [
    'error.invalid-amount',
    'An amount that is not a positive integer is 400 `invalid-amount`.',
    shown(agentErrors(on400), checks(refusals)),
  ],
  [
    'error.invalid-address',
    'An address that does not parse for its chain is 400 `invalid-address`.',
    shown(
      agentErrors(on400),
      checks(refusals),
      solana('is refused if @solana/addresses refuses it or finds it off the curve'),
      stellar('with one character changed is refused, as by stellar-base'),
    ),
  ],
  [
    'error.duplicate-recipient',
    'One address twice is 400 `duplicate-recipient`.',
    shown(agentErrors(on400)),
  ],
  [
    'error.unregistered-recipient',
    'A recipient without W or P is 400 `unregistered-recipient` before proving.',
    shown(
      agentErrors(on400),
      deployment('refuses a recipient who is not enrolled before anything is proved'),
    ),
  ],
  [
    'error.idempotency-conflict',
    'A key reused with another body is 409 `idempotency_conflict`.',
    shown(
      agentApp(
        'answers 409 to another body under the same key',
        'a key that another agent of the employer has used > is a conflict for another body, before anything is accepted',
      ),
      paidElsewhere(
        'fails with settled_elsewhere if the same people were paid other amounts with the same total',
      ),
    ),
  ],
  [
    'error.not-found',
    'A key never seen is 404 `not_found`.',
    shown(agentApp('GET /api/disburse/:key > answers the job, and 404 for an unknown key')),
  ],
  [
    'error.validate-lists-instead',
    'Validating answers none of these statuses: they are in `issues`, under 200.',
    shown(
      agentErrors('is one issue of a report with 200 on validate'),
      sandbox('gets five mistakes of five kinds from validation, and the first from disburse'),
    ),
  ],
]);

export const jobFailures = section('Failures of a job', [
  [
    'failure.failed',
    'A `failed` job has an error of code and message and left nothing on chain.',
    shown(
      deployment('fails a job whose recipient lost its place on the list, with nothing on chain'),
    ),
  ],
  [
    'failure.insufficient-balance',
    'A batch that the funder cannot pay fails with `insufficient_balance`, and nothing is signed.',
    shown(
      collectable(
        'fails with insufficient_balance when the funder holds too little, and signs nothing',
      ),
    ),
  ],
  [
    'failure.refused-meanwhile',
    'A refused settlement is reported while the job is `submitted`, and delays no other batch.',
    shown(
      sharedTurn(
        'is reported while the job waits: in its stage, its record and an event',
        'delays no other batch of its funder and token',
      ),
    ),
  ],
  [
    'failure.settled-elsewhere',
    'A key that is paid, or may be, on other terms (funder, pool, chain) is `settled_elsewhere`, and must not be sent again.',
    shown(
      foreignSettlement(
        'is not paid again by an agent whose funder key was rotated',
        'is not paid again by an agent that lost its store and has another pool now',
        'is not paid again on a second chain, even if the first is not configured here',
        'is not treated as dead by its deadline alone, because another pool or an unread chain may have paid it',
        'ends the job as settled_elsewhere once its own batch is dead, and does not send it again',
        'is also reported by a partial job',
      ),
      tenancy(
        'reports to an agent with a rotated funder key that a key was paid under the earlier one',
      ),
    ),
  ],
  [
    'failure.partial',
    '`partial` is a failure on chain after submission, with its reason in the batch.',
    shown(
      realChain(
        'is partial, with the decoded reason, when the transaction reverted and the deadline passed',
      ),
      lateLanding('stays submitted until its authorisation is dead, then is done and partial'),
    ),
  ],
]);

export const spendErrors = section('Errors of a spend', [
  [
    'spend-error.unknown-token',
    'A symbol the chain does not have is 400 `unknown_token`.',
    shown(spendChecks('a transfer > with %s is refused')),
  ],
  [
    'spend-error.unpinned-destination',
    'A `to` that is not a label is 400 `unpinned_destination`, and the message names the configured labels.',
    shown(spendChecks('a send > to %s is refused, and the labels are listed')),
  ],
  [
    'spend-error.ceiling',
    'An amount above the ceiling is 403 `ceiling_exceeded`.',
    shown(
      spendChecks(
        'above the ceiling by its sum is refused, before anybody is looked up',
        'has a ceiling of its own',
      ),
    ),
  ],
  [
    'spend-error.insufficient-funds',
    'An amount above the balance is 409 `insufficient_funds` with the amount that can be spent.',
    shown(
      spendRoutes('answers what can be spent beside the error'),
      agentSpends('use the chain of the holder, or one of the agent’s own that is asked for'),
    ),
  ],
  [
    'spend-error.conflict',
    'A key reused with another body is 409 `idempotency_conflict`.',
    shown(spendKeys('with another body or operation is a conflict %s')),
  ],
  [
    'spend-error.reverted',
    'A spend that settled and reverted is 422 with the whole receipt.',
    shown(
      spendRoutes('answers 422 with the whole receipt if the spend reverted'),
      spendLanding('that reverts and expires answers a reverted receipt with the reason'),
    ),
  ],
]);

export const otherErrors = section('Other errors', [
  [
    'error.wallet-mismatch',
    'Enrolling another wallet than the session’s is refused.',
    shown(employerRoutes('refuses a wallet that is not the session’s')),
  ],
  [
    'error.bearer',
    'A missing or invalid bearer is refused.',
    shown(agentApp('bearer > %s'), access('accepts only a disburse key at %s')),
  ],
  [
    'error.holder-credential',
    'A forbidden holder credential ends the start or refuses the command.',
    shown(
      configRules('refuses %s equal to %s'),
      agentStart('ends the start: %s and %s, inline and through files'),
    ),
  ],
  [
    'error.missing-viewing-key',
    'A missing escrowed viewing key ends the start.',
    shown(
      configRules('refusals > %s'),
      agentStart('reports every problem at once, of the file and of the environment'),
    ),
  ],
]);

export const limits = section('Limits', [
  [
    'limit.live-keys',
    '50 live keys per wallet.',
    shown(employerRoutes('allows 50 live keys per wallet, and another one after a revocation')),
  ],
  [
    'limit.recipients',
    'Recipients of a call: the maximum of the chain’s settings, never split.',
    shown(agentApp(ceiling), deployment('reports its ceiling when a call is too large')),
  ],
  [
    'limit.one-batch',
    'One batch per job.',
    shown(deployment('pays a roster, and every recipient opens exactly its own note')),
  ],
  [
    'limit.one-destination',
    'One destination per send.',
    shown(
      spendChecks('takes no list of recipients'),
      spendCommand('the command line > refuses %j'),
    ),
  ],
  [
    'limit.spend-ceiling',
    'A spend is bounded by its role’s ceiling, or by the requested amount.',
    shown(
      agentSpends('take ceilings from DISBURSE_TRANSFER_MAX_AMOUNT and DISBURSE_SEND_MAX_AMOUNT'),
    ),
  ],
  [
    'limit.amounts',
    'Amounts are decimal strings of positive integers in base units.',
    shown(checks(refusals)),
  ],
  [
    'limit.spend-keys',
    'The memory of spend keys is lost with the process.',
    shown(
      spendKeys('is forgotten when the process ends, and a retry pays again from different notes'),
    ),
  ],
]);
