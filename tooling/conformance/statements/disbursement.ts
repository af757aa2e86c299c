// Request, job and report of a disbursement, and the states of its job.
import { section, shown } from '../statement.ts';
import {
  access,
  agentApp,
  agentChains,
  agentConfig,
  agentErrors,
  agentValidate,
  checks,
  deployment,
  lateLanding,
  pipeline,
  realChain,
  relayerHealth,
  rpcOutage,
  unreleased,
  validation,
  wire,
} from '../test-files.ts';

const refusals = 'refuses %s with %s';
const pays = 'pays a roster, and every recipient opens exactly its own note';

export const request = section('Disbursement request', [
  [
    'request.fields',
    '`token` and `recipients` are required, `chain` and `unregistered` are not, and no other field is accepted.',
    shown(
      wire(
        'without %s: only where it may be left out',
        'refuses an unknown field, and a value that is not an object',
      ),
    ),
  ],
  [
    'request.token-symbol',
    '`token` is the symbol of a token configured for the chain; an address is never accepted.',
    shown(checks(refusals)),
  ],
  [
    'request.default-chain',
    '`chain` can be omitted: the default is the agent’s default chain.',
    shown(
      deployment(pays),
      access('pays on the chain that bootstrap vends if DISBURSE_CHAIN is not set'),
    ),
  ],
  [
    'request.chain-setting-outranks',
    'The agent’s own `DISBURSE_CHAIN` is that default, with precedence over bootstrap.',
    shown(
      agentChains(
        'routes the chain with a pool by name, by default and as vended',
        'refuses a default chain without a pool',
      ),
      access('pays on the chain that bootstrap vends if DISBURSE_CHAIN is not set'),
    ),
  ],
  [
    'request.recipients',
    'Every recipient has an address in the chain’s format and an amount; the list is required.',
    shown(checks(refusals), wire('limits > refuse %s')),
  ],
  [
    'request.amounts',
    'An amount is a string of a positive integer in base units, never a float.',
    shown(checks(refusals)),
  ],
  [
    'request.unregistered-fail',
    'By default an unregistered recipient fails the whole call.',
    shown(deployment('refuses a recipient who is not enrolled before anything is proved')),
  ],
  [
    'request.unregistered-skip',
    'Under `skip` such a recipient is left out and reported in `skipped`.',
    shown(
      checks('skips unregistered recipients on request, with a reason, but never all recipients'),
      validation('lists who would be skipped, also with other issues'),
      deployment('skips and reports that recipient if the request allows it'),
    ),
  ],
  [
    'request.unregistered-values',
    '`unregistered` is `fail` or `skip`.',
    shown(wire('limits > refuse %s')),
  ],
]);

export const job = section('Disbursement job', [
  [
    'job.key',
    'A job’s `key` is its Idempotency-Key.',
    shown(agentApp('accepts a good request with 202 and wakes the worker')),
  ],
  [
    'job.states',
    'Its `state` is `accepted`, `submitted`, `done` or `failed`.',
    shown(
      deployment(
        pays,
        'fails a job whose recipient lost its place on the list, with nothing on chain',
      ),
      lateLanding('stays submitted until its authorisation is dead, then is done and partial'),
    ),
  ],
  [
    'job.status-url',
    'The acceptance carries `statusUrl`, the path `/api/disburse/<key>`.',
    shown(agentApp('accepts a good request with 202 and wakes the worker')),
  ],
  ['job.stage', 'While `submitted`, `stage` may name the step.', shown(deployment(pays))],
  ['job.result-when-done', '`result` is there when the job is `done`.', shown(deployment(pays))],
  [
    'job.error-when-failed',
    '`error` with code and message is there when the job `failed`, and no `result`.',
    shown(
      deployment('fails a job whose recipient lost its place on the list, with nothing on chain'),
    ),
  ],
]);

const paysThree = 'pays three people in one batch and reports what was paid';
const partialOnChain =
  'is partial, with the decoded reason, when the transaction reverted and the deadline passed';

export const result = section('Result of a job', [
  [
    'result.completed',
    '`completed`: `fund()` is confirmed on chain.',
    shown(pipeline(paysThree, 'reports a batch as settled only after finality')),
  ],
  [
    'result.partial',
    '`partial`: `fund()` was submitted and reverted or failed, and nothing of the batch settled.',
    shown(
      realChain(partialOnChain),
      pipeline('late landing > ends done / partial when dead with a reverted transaction of ours'),
      lateLanding('stays submitted until its authorisation is dead, then is done and partial'),
    ),
  ],
  [
    'result.one-batch',
    '`batches` has exactly one entry, index 0, with txHash, recipientCount and status.',
    shown(pipeline(paysThree)),
  ],
  ['result.batch-error', 'On `partial` that entry has `error`.', shown(realChain(partialOnChain))],
  [
    'result.notes',
    '`notes` has for each recipient its index in the request, address, commitment, amount and status.',
    shown(pipeline(paysThree)),
  ],
  [
    'result.skipped',
    '`skipped` lists the recipients that were left out.',
    shown(deployment('skips and reports that recipient if the request allows it')),
  ],
  [
    'result.allowance',
    '`allowance.state` is `sufficient`, `insufficient` or `unknown`.',
    shown(
      pipeline(
        paysThree,
        'reports the allowance it saw before proving, and leaves a sufficient one alone',
        'reports unknown when the advisory read fails, and pays',
      ),
    ),
  ],
  [
    'result.failed-batch-index',
    '`failedBatchIndex` is in the schema of the result for future jobs of several batches.',
    shown(wire('takes a good value')),
  ],
  [
    'result.allowance-as-observed',
    'The state is the result of a read before proving, and the outcome does not change it.',
    shown(
      pipeline(
        paysThree,
        'reports the allowance it saw before proving, and leaves a sufficient one alone',
      ),
    ),
  ],
  [
    'result.completed-though-insufficient',
    '`completed` together with `insufficient` is normal: the agent grants the missing allowance.',
    shown(deployment(pays)),
  ],
  [
    'result.allowance-unknown',
    '`unknown` means that no read succeeded; the batch is still proved and paid.',
    shown(
      pipeline('reports unknown when the advisory read fails, and pays'),
      rpcOutage(
        'proves and pays although the allowance could not be read, and reports it as unknown',
        'reports the allowance as unknown also if the RPC hangs at this read only',
      ),
    ),
  ],
  [
    'result.allowance-advisory',
    'The read before proving decides nothing: the granted allowance follows from the chain at settlement.',
    shown(
      rpcOutage(
        'proves and pays although the allowance could not be read, and reports it as unknown',
      ),
      pipeline('approves nothing more for a mined batch, even if the platform has lost it'),
    ),
  ],
]);

const relayerDown =
  'is reported by a dry run and by readiness, and later pays a batch that was sent meanwhile';

export const report = section('Validation report', [
  [
    'report.ok',
    '`ok` is true if there is no issue and the batch would be paid.',
    shown(
      validation('passes a good request, without a preflight field'),
      agentValidate('reports what would stop the batch in addition to its issues'),
      relayerHealth(relayerDown),
    ),
  ],
  [
    'report.allowance-state',
    '`allowanceState` is `sufficient`, `insufficient` or `unknown`.',
    shown(
      validation(
        'passes a good request, without a preflight field',
        'reports sufficient, insufficient or unknown from the chain',
      ),
      rpcOutage('reports the allowance as unknown in a dry run while its RPC %s'),
    ),
  ],
  [
    'report.issues',
    'An issue has requestIndex, code, message and severity.',
    shown(
      validation('lists every issue with its index and severity, also after a bad amount'),
      agentErrors('is one issue of a report with 200 on validate'),
    ),
  ],
]);

export const jobStates = section('States of a job', [
  [
    'state.accepted',
    '`accepted`: the body is validated, and neither proving nor settlement has begun.',
    shown(agentApp('answers the job, and 404 for an unknown key')),
  ],
  [
    'state.submitted',
    '`submitted`: proving and settlement are underway.',
    shown(
      pipeline(
        'late landing > keeps a reverted job submitted, and resends the same authorisation when it can land',
      ),
    ),
  ],
  [
    'state.done-means-attempted',
    '`done`: a settlement was attempted on chain, and `result.status` is its outcome.',
    shown(pipeline(paysThree), realChain(partialOnChain)),
  ],
  [
    'state.failed-means-no-effect',
    '`failed`: nothing is or will be on chain.',
    shown(
      deployment('fails a job whose recipient lost its place on the list, with nothing on chain'),
      pipeline(
        'late landing > fails with settlement_expired only after a final block past the deadline',
      ),
      unreleased(
        'waits until a newly found authorisation of another agent is dead',
        'ends done when another agent has paid the key in the meantime',
        'stays unfinished while the platform cannot say whether the key was posted',
        'stays unfinished while the chain cannot say whether the key was paid',
      ),
    ),
  ],
  [
    'state.terminal',
    '`done` and `failed` are final: asking again answers the same job and runs nothing.',
    shown(
      deployment(
        'answers the same key and body with the original job, another body with a conflict',
      ),
      agentApp('answers 200 once the job has ended'),
    ),
  ],
  [
    'state.mock-prover',
    'The mock prover settles nothing.',
    shown(
      pipeline('fails under the mock prover before anything is signed or sent'),
      agentConfig('requires the platform only, and has the documented defaults'),
    ),
  ],
]);
