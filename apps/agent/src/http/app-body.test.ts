// A body that two readers could understand differently pays nobody, and is one issue of a report.
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../fixtures/test-app.ts';

const { holders } = createTestApp();
const [{ address } = { address: '' }] = holders;
function bodyWith(entry: string, rest = ''): string {
  return `{"token":"USDC","recipients":[{"recipientAddress":"${address}",${entry}}]${rest}}`;
}
const latin1 = Uint8Array.from(Buffer.from(bodyWith('"amount":"5","memo":"caf\xe9"'), 'latin1'));

const ambiguous: [string, string | Uint8Array][] = [
  ['an amount twice', bodyWith('"amount":"5","amount":"7000000"')],
  ['the same amount twice', bodyWith('"amount":"5","amount":"5"')],
  ['a field twice, once escaped', bodyWith('"amount":"5","am\\u006funt":"6"')],
  ['two lists of recipients', bodyWith('"amount":"5"', ',"recipients":[]')],
  ['bytes that are not UTF-8', latin1],
  ['nesting without end', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['an unpaired surrogate in a memo', bodyWith('"amount":"5","memo":"\\ud83d"')],
];

describe.each(ambiguous)('%s', (_what, body) => {
  it('is refused by disburse, without repeating it', async () => {
    const { post, get } = createTestApp();
    const answer = await post('june', body);
    expect(answer.status).toBe(400);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request' });
    expect(text).not.toMatch(/7000000|caf/);
    expect((await get('/api/disburse/june')).status).toBe(404);
  });

  it('is one issue of a report', async () => {
    const { validate } = createTestApp();
    const answer = await validate(body);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      ok: false,
      issues: [{ code: 'invalid_request' }],
    });
  });
});

it.each([
  ['colons, quotes and backslashes in strings', '"amount":"5","memo":"a:b \\"c\\":\\\\"'],
  ['a memo outside ASCII', '"amount":"5","memo":"Café 🙂"'],
  ['spaces around colons', '"amount" : "5"'],
])('accepts %s', async (_what, entry) => {
  const { post } = createTestApp();
  expect((await post('june', bodyWith(entry))).status).toBe(202);
});

it('accepts the same fields in each of several objects', async () => {
  const { post, request } = createTestApp();
  expect((await post('june', request)).status).toBe(202);
});

it('answers the conflict to a used key with a body that cannot have been accepted', async () => {
  const { post, request } = createTestApp();
  await post('june', request);
  const [one] = request.recipients;
  const many = { ...request, recipients: Array.from({ length: 300 }, () => one) };
  for (const body of [many, { ...request, extra: 1 }, { ...request, recipients: [] }, [], 'x']) {
    const answer = await post('june', body === 'x' ? '"x"' : body);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'idempotency_conflict' });
  }
});

it('lists every issue of a roster far above the ceiling', async () => {
  const { validate } = createTestApp();
  const recipients = Array.from({ length: 1_300 }, () => ({ recipientAddress: 'me', amount: '0' }));
  const answer = await validate({ token: 'USDC', recipients });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const report = (await answer.json()) as { issues: { requestIndex: number; code: string }[] };
  expect(report).toMatchObject({ ok: false, allowanceState: expect.any(String) });
  expect(report.issues.map(({ requestIndex, code }) => `${requestIndex} ${code}`)).toEqual([
    '-1 batch-too-large',
    ...recipients.flatMap((_entry, index) => [
      `${index} invalid-amount`,
      `${index} invalid-address`,
    ]),
  ]);
});
