// Who may prepare a payment under a release policy: over HTTP as on the command line.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReleaseLog } from '@pool/operations';
import { parseReleasePolicy } from '@pool/policy';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiKey, createTestApp } from '../fixtures/test-app.ts';

const publicKey = `0x${'11'.repeat(32)}`;
const policyJson = {
  ...{ version: 1, name: 'payroll', waitHours: 72 },
  people: [
    { name: 'Ada', prepares: ['loopback'] },
    { name: 'Ben', publicKey },
  ],
  rules: [{ chain: 'anvil', token: 'USDC', from: '0', required: 1, people: ['Ben'] }],
};

const reportSchema = v.looseObject({ ok: v.boolean() });

function createApp(changes: object = {}) {
  const policy = parseReleasePolicy(JSON.stringify({ ...policyJson, ...changes }));
  return createTestApp({ releases: { policy } });
}

describe('POST /api/disburse under a release policy', () => {
  it('refuses a credential that the policy lists for nobody, and accepts one that it lists', async () => {
    const { post, request } = createApp();
    expect((await post('june', request)).status).toBe(202);
    const headers = { authorization: `Bearer ${apiKey('disburse')}` };
    const answer = await post('july', request, headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      code: 'release_policy_refused',
      message: expect.stringContaining('api-key:1'),
    });
    const listed = createApp({
      people: [...policyJson.people, { name: 'C', prepares: ['api-key:1'] }],
    });
    expect((await listed.post('july', listed.request, headers)).status).toBe(202);
  });

  it('refuses a token without a rule', async () => {
    const { post, request } = createApp();
    const answer = await post('june', { ...request, token: 'EURC' });
    expect(await answer.json()).toMatchObject({
      code: 'release_policy_refused',
      message: expect.stringContaining('no rule for this amount of EURC on anvil'),
    });
  });
});

describe('POST /api/validate under a release policy', () => {
  it('names the rule, the people and the amount of the day, and refuses what the policy refuses', async () => {
    const policy = parseReleasePolicy(
      JSON.stringify({
        ...policyJson,
        rules: [
          { ...policyJson.rules[0], required: 0 },
          { ...policyJson.rules[0], from: '0.004' },
        ],
      }),
    );
    const home = mkdtempSync(join(tmpdir(), 'validate-'));
    const log = await openReleaseLog({ home, jobs: { url: 'memory:' } });
    onTestFinished(() => log.close());
    const { request, clock, ...app } = createTestApp({ releases: { policy, log } });
    const validate = async (headers: Record<string, string> = {}) =>
      v.parse(reportSchema, await (await app.validate(request, headers)).json());
    expect(await validate()).not.toHaveProperty('preflight');

    const batch = { key: 'k', chain: 'anvil', token: 'USDC', count: 1, policy: policy.sha256 };
    const at = new Date(clock.nowMs() - 86_000_000).toISOString();
    await log.append({ ...batch, total: '4000', event: 'prepare', by: 'loopback', at }, 'p');
    const found = await validate();
    expect(found).toMatchObject({
      ok: true,
      preflight: [
        {
          code: 'release_required',
          severity: 'warning',
          message: expect.stringMatching(
            /^1 of Ben must release within 72 hours.* 0\.00401 USDC, and the rule from 0\.004 /,
          ),
        },
      ],
    });
    const headers = { authorization: `Bearer ${apiKey('disburse')}` };
    expect(await validate(headers)).toMatchObject({
      ok: false,
      preflight: [
        { code: 'release_policy_refused', message: expect.stringContaining('api-key:1') },
      ],
    });
  });
});
