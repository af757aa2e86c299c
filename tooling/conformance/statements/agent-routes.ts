// The agent's HTTP routes.
import { section, shown } from '../statement.ts';
import {
  access,
  agentAccess,
  agentApp,
  agentCancel,
  agentErrors,
  agentReadiness,
  agentValidate,
  cancellation,
  cancelled,
  changedConfiguration,
  deployment,
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
