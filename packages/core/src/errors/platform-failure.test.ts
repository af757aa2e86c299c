// A revoked token and an answer that is not understood are distinguished from an outage.
import { expect, it } from 'vitest';
import { explainPlatformFailure } from './platform-failure.ts';
import { PoolError } from './pool-error.ts';

function explain(cause: unknown) {
  return explainPlatformFailure(cause, 'the look-up', 'no answer');
}

it.each([
  [401, 'unauthorized'],
  [403, 'forbidden'],
] as const)('reports for %s %s that the edge token is refused, and what to do', (status, code) => {
  const error = explain(new PoolError(code, 'canary', { status }));
  expect(error).toMatchObject({ code: 'edge_token_refused', status: 503, retryable: false });
  expect(error.message).toContain('platform edge-token create');
  expect(error.message).toContain('DISBURSE_PLATFORM_TOKEN');
  expect(error.message).not.toContain('canary');
});

it('names the problem of an answer', () => {
  const message = "the platform's answer is malformed: recipients[0].address: missing";
  const error = explain(new PoolError('platform_invalid_response', message));
  expect(error).toMatchObject({ code: 'platform_invalid_response', status: 503 });
  expect(error.message).toContain(`the look-up: ${message}`);
});

it.each([
  [400, 'invalid_request'],
  [403, 'forbidden_host'],
  [404, 'not_found'],
] as const)('reports for %s %s that the platform refuses the request', (status, code) => {
  const error = explain(new PoolError(code, 'canary', { status }));
  expect(error).toMatchObject({ code: 'platform_invalid_response', status: 503 });
  expect(error.message).toContain(`refuses the look-up of this agent with ${code}`);
  expect(error.message).not.toContain('canary');
});

it.each([
  new PoolError('platform_unreachable', 'canary'),
  new PoolError('rate_limited', 'canary'),
  new Error('canary'),
])('treats every other failure as an outage', (cause) => {
  expect(explain(cause)).toMatchObject({
    code: 'platform_unreachable',
    message: 'no answer',
    status: 503,
    retryable: true,
  });
});
