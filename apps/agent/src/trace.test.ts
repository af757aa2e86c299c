// Every log line about a paid key, from the first on, contains a trace id and not the key.
import { deriveTraceId } from '@pool/core';
import { expect, it } from 'vitest';
import { createTestApp, loopbackToken } from './fixtures/test-app.ts';

it('writes the trace id into every line about a job, and its key into no line', async () => {
  const { app, logged, request } = createTestApp();
  const key = 'payroll-2026-11';
  const call = (method: string, path: string, body?: unknown) =>
    app.request(`http://agent.example${path}`, {
      method,
      headers: {
        host: 'agent.example',
        authorization: `Bearer ${loopbackToken}`,
        'idempotency-key': key,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  expect((await call('POST', '/api/disburse', request)).status).toBe(202);
  expect((await call('POST', '/api/disburse', request)).status).toBe(202);
  const changed = { ...request, recipients: request.recipients.slice(1) };
  expect((await call('POST', '/api/disburse', changed)).status).toBe(409);
  expect((await call('POST', '/api/disburse', { ...request, token: 7 })).status).toBe(409);
  expect((await call('GET', `/api/disburse/${key}`)).status).toBe(200);
  expect((await call('GET', `/api/disburse/${key}/trace`)).status).toBe(200);

  const lines = logged.map((line) => JSON.parse(line) as { message: string; trace?: string });
  const messages = new Set(lines.map(({ message }) => message));
  expect([...messages].sort()).toEqual(['disbursement accepted', 'request']);
  for (const line of lines) {
    expect([line.message, line.trace]).toEqual([line.message, deriveTraceId(key)]);
  }
  expect(logged.join('\n')).not.toContain(key);
});

it('gives two keys different ids', () => {
  expect(deriveTraceId('may')).not.toBe(deriveTraceId('june'));
});
