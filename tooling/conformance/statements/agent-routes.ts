// The agent's HTTP routes.
import { accountOperations, section, shown } from '../statement.ts';
import {
  access,
  agentAccess,
  agentApp,
  agentCancel,
  agentErrors,
  agentReadiness,
  agentValidate,
  balanceCommand,
  balanceRoute,
  balanceStack,
  cancellation,
  cancelled,
  changedConfiguration,
  deployment,
  edgeRoutes,
  holderSync,
  paidElsewhere,
  realChain,
  relayerHealth,
  sandbox,
  validation,
} from '../test-files.ts';

const onlyDisburse = 'accepts only a disburse key at %s';
const original =
  'answers the same key and body with the original job, another body with a conflict';

export const disburseRoute = section('POST /api/disburse', [
  [
    'disburse.bearer',
    'It requires a bearer credential.',
    shown(agentApp('bearer > %s'), access(onlyDisburse)),
  ],
  [
    'disburse.idempotency-key',
    'It requires an Idempotency-Key.',
    shown(agentApp('POST /api/disburse > refuses %s')),
  ],
  [
    'disburse.json',
    'It accepts JSON by its content type.',
    shown(
      agentApp('refuses %s without repeating it', 'accepts a good request as JSON only, not as %s'),
    ),
  ],
  [
    'disburse.202',
    'A new job answers 202 with key, state `accepted` and statusUrl.',
    shown(agentApp('accepts a good request with 202 and wakes the worker')),
  ],
  [
    'disburse.200-terminal',
    'A key whose job has ended answers 200.',
    shown(agentApp('answers 200 once the job has ended'), deployment(original)),
  ],
  [
    'disburse.replay-same-body',
    'The same key with the same body answers the original job.',
    shown(
      agentApp(
        'answers the same key and body with the original job, without checking again',
        'treats fields in another order as the same body, and a quoted key as the same key',
        'creates one job for many requests at once',
      ),
      sandbox('pays once with repeated requests, and the same pay run again pays nobody'),
    ),
  ],
  [
    'disburse.replay-other-body',
    'The same key with another body answers 409.',
    shown(agentApp('answers 409 to another body under the same key'), deployment(original)),
  ],
  [
    'disburse.first-issue-alone',
    'It stops at the first issue and answers code and message alone.',
    shown(
      sandbox('gets five mistakes of five kinds from validation, and the first from disburse'),
      agentErrors(
        'is 400 %s on disburse, code and message alone, and leaves no job',
        'is body, chain, token, size, amount, address, duplicate, registration',
      ),
    ),
  ],
  [
    'disburse.no-split',
    'A list that is too large is refused up front and never split.',
    shown(deployment('reports its ceiling when a call is too large')),
  ],
  [
    'disburse.key-outlives-credential',
    'Another credential of the same employer does not make another job of the same key.',
    shown(
      agentAccess('pays once when a key is rotated and the request is sent again'),
      access('pays once when the key is rotated between a request and its retry'),
    ),
  ],
  [
    'disburse.one-payment-a-key',
    'A key is paid once, also when another agent of the employer, or one without memory, is given it.',
    shown(
      paidElsewhere(
        'ends done from the chain and the platform row, with the same notes',
        'waits for another agent that is underway instead of proving',
      ),
      realChain('does not pay again when an agent with an empty store gets the same key'),
      deployment('pays nobody twice when a second agent with an empty job store gets the same key'),
    ),
  ],
  [
    'disburse.new-key-new-attempt',
    'After a failure a new key makes a fresh attempt; the old key answers the failed job.',
    shown(
      agentApp('makes a fresh attempt under a new key, and none under the key of a failed job'),
    ),
  ],
]);

export const jobRoute = section('GET /api/disburse/:key', [
  [
    'poll.job',
    'It answers the job of the key, to its end.',
    shown(
      agentApp('GET /api/disburse/:key > answers the job, and 404 for an unknown key'),
      deployment('pays a roster, and every recipient opens exactly its own note'),
    ),
  ],
  [
    'poll.unknown',
    'A key never seen answers 404 `not_found`.',
    shown(agentApp('GET /api/disburse/:key > answers the job, and 404 for an unknown key')),
  ],
  [
    'poll.bearer',
    'It requires a bearer credential.',
    shown(agentApp('bearer > %s'), access(onlyDisburse)),
  ],
]);

export const cancelRoute = section('DELETE /api/disburse/:key', [
  [
    'cancel.answer',
    'It answers the job at its end: cancelled, or paid before that. A key never seen answers 404 `not_found`.',
    shown(
      agentCancel(
        'stores the request, notifies the worker and answers the job at its end',
        'does not answer while the outcome of the job is uncertain',
        'answers a job that has ended unchanged, and stores nothing',
        'answers 404 to an unknown key, and to a key of another employer',
      ),
      agentAccess('gives a %s key the access of its capability'),
    ),
  ],
  [
    'cancel.before-release',
    'Before its batch is released, a job that is cancelled fails with `cancelled` and sends nothing.',
    shown(
      cancellation('ends without any work if it had not started', 'at %s sends nothing'),
      cancelled('before its batch was sent ends at once, and moves nothing'),
    ),
  ],
  [
    'cancel.other-settings',
    'A job that the settings of the agent no longer fit is 409 `configuration_changed`, and the request to cancel is kept.',
    shown(
      agentCancel(
        'answers 409 when the job cannot be ended with the settings of this agent, and keeps the request',
      ),
      changedConfiguration(
        'is cancelled if nothing of it was signed',
        'is not reported as cancelled while its authorisation can still settle, and records the request',
        'is finished when the setting is restored, and paid once',
      ),
    ),
  ],
  [
    'cancel.after-release',
    'After that its funder withdraws the authorisation, and the job ends when a final block shows the outcome.',
    shown(
      cancellation(
        'is withdrawn by its funder, and ends when a final block shows that',
        'ends done when the batch settles first',
        'waits for the deadline while %s',
        'and crashes at %s, continues to cancel after a restart',
      ),
      cancelled(
        'after it was refused for missing tokens is withdrawn by its funder, and never paid',
      ),
    ),
  ],
]);

export const validateRoute = section('POST /api/validate', [
  [
    'validate.same-checks',
    'It accepts the body of a disbursement and makes its checks.',
    shown(agentErrors('is one issue of a report with 200 on validate')),
  ],
  [
    'validate.proves-nothing',
    'It proves, stores and submits nothing.',
    shown(
      agentValidate('passes a good request without an Idempotency-Key, and stores nothing of it'),
      validation('passes a good request, without a preflight field'),
    ),
  ],
  [
    'validate.always-200',
    'It answers 200 for all results.',
    shown(
      agentValidate(
        'has one issue for %s',
        'reports a platform that does not answer, before bootstrap and after',
      ),
    ),
  ],
  [
    'validate.every-issue',
    'It lists every issue, not only the first.',
    shown(
      agentValidate(
        'lists different problems at once',
        'reports all issues next to a bad memo and in a list that is too long',
      ),
      sandbox('gets five mistakes of five kinds from validation, and the first from disburse'),
    ),
  ],
  [
    'validate.bearer',
    'It requires a bearer credential.',
    shown(
      agentValidate(
        'reports nothing to a caller without a valid credential, not even a malformed body',
      ),
      access(onlyDisburse),
    ),
  ],
]);

export const healthRoutes = section('Health', [
  [
    'health.readyz',
    '`/api/readyz` reports whether accelerator, signer, pool-gate and platform are reachable.',
    shown(
      agentReadiness(
        'answers without a credential with the finding of each part, CPU proving included',
        'is 503 while the %s is down, and says so',
      ),
      access(
        'is ready with all its parts, and not ready without its gate',
        'accepts no API key while the platform does not answer',
      ),
      relayerHealth(
        'is reported by a dry run and by readiness, and later pays a batch that was sent meanwhile',
      ),
    ),
  ],
  [
    'health.readyz-open',
    '`/api/readyz` requires no credential.',
    shown(
      agentReadiness(
        'answers without a credential with the finding of each part, CPU proving included',
      ),
    ),
  ],
  [
    'health.livez',
    '`/api/livez` reports that the agent is alive and requires no credential.',
    shown(agentApp('can read livez without a credential')),
  ],
]);

const balanceLine = 'is printed by the command as one line, and quiet in a pipe';

export const holderRoutes = section('Balance, transfer, send', [
  [
    'balance.route',
    '`GET /api/balance?token=` answers the amount that the holder can spend, and moves nothing.',
    shown(
      balanceStack('is what the holder was paid, in whichever batch'),
      balanceRoute(
        'answers total, symbol, notes, largest note and chain, amounts as decimal strings',
      ),
    ),
  ],
  [
    'transfer.route',
    '`POST /api/transfer` moves value to holders inside the pool.',
    accountOperations,
  ],
  [
    'transfer.listed-only',
    'A transfer can pay any W on the eligibility list, and no other.',
    accountOperations,
  ],
  [
    'transfer.body',
    'A transfer has token, recipients of walletPub and amount, and optionally dryRun.',
    accountOperations,
  ],
  ['send.route', '`POST /api/send` withdraws value out of the pool.', accountOperations],
  [
    'send.body',
    'A send has token, amount, optionally `to`, and optionally dryRun.',
    accountOperations,
  ],
  [
    'send.own-wallet',
    'Without `to` the withdrawal goes to the holder’s own wallet.',
    accountOperations,
  ],
  [
    'send.label-only',
    '`to` is a pinned label; an address is refused, even a pinned one.',
    accountOperations,
  ],
  ['send.one-destination', 'A send has exactly one destination.', accountOperations],
  ['spend.no-chain', 'A spend accepts no chain: it uses the holder’s own.', accountOperations],
  ['spend.dry-run', 'A dry run makes the whole proof and submits nothing.', accountOperations],
  [
    'spend.synchronous',
    'A spend answers its receipt with 200 on the same connection.',
    accountOperations,
  ],
  ['spend.idempotency-key', 'A spend requires an Idempotency-Key.', accountOperations],
  [
    'spend.retry-attaches',
    'A retry under the same key attaches to the spend underway.',
    accountOperations,
  ],
  ['spend.other-body', 'The key with another body answers 409.', accountOperations],
  ['spend.memory-per-process', 'The memory of keys ends with the process.', accountOperations],
  [
    'receipt.fields',
    'A receipt has operation, status, txHash, nullifiers and changeAmount.',
    accountOperations,
  ],
  [
    'receipt.reverted',
    'The receipt of a reverted spend has its txHash and the reason.',
    accountOperations,
  ],
  [
    'balance.line',
    'The command prints total, symbol, count of notes, largest note and chain in one line.',
    shown(
      balanceStack(balanceLine),
      balanceCommand(
        'prints total, symbol, number of notes, the largest and the chain in one line',
      ),
    ),
  ],
  [
    'balance.total',
    'The total is of the notes this holder can decrypt, in base units.',
    shown(
      holderSync('sums the holder’s own notes over all batches and pages'),
      balanceStack('is what the holder was paid, in whichever batch'),
    ),
  ],
  [
    'balance.note-count',
    'The count of notes is that of the inputs which a spend of everything proves over.',
    shown(holderSync('counts no note that a final spend used up, and counts its change')),
  ],
  [
    'balance.largest-note',
    'The largest note bounds a spend that consolidates nothing first.',
    shown(holderSync('counts only the larger of two notes with one nullifier')),
  ],
  [
    'balance.served-by-p',
    'The platform serves a holder the notes sealed to its registered P, and no others.',
    shown(
      edgeRoutes(
        'serves a holder only its own notes, once the batch is final',
        'serves only notes of the registered key: notes from before a rotation are not served',
      ),
    ),
  ],
  [
    'balance.other-p',
    'A holder with another P than the enrolled sees an empty balance.',
    shown(balanceStack('is empty for a viewing key whose P is not enrolled')),
  ],
]);
