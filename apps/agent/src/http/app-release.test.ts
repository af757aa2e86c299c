// Who may prepare a payment under a release policy: over HTTP as on the command line.
import { parseReleasePolicy } from '@pool/policy';
import { describe, expect, it } from 'vitest';
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
