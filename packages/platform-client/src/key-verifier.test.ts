import { Secret } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createKeyVerifier } from './key-verifier.ts';

const apiKey = `pool_live_abcd1234_${'A'.repeat(44)}`;
const good = {
  valid: true,
  capability: 'disburse',
  employerId: '7c9b3f4e-6a53-4b8c-9f0e-2d1c4b5a6978',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  keyId: 7,
};

function verifierOf(answer: () => Response | Promise<Response>) {
  let calls = 0;
  const verifier = createKeyVerifier({
    verifyUrl: 'https://platform.example/api/employers/verify-key',
    edgeToken: new Secret('pool_edge_x'),
    fetch: async () => {
      calls += 1;
      return await answer();
    },
  });
  return { verifier, calls: () => calls };
}

describe('createKeyVerifier', () => {
  it('asks the platform every time and caches nothing [auth.verified-by-platform]', async () => {
    const answers: unknown[] = [good, { valid: false }, good];
    const { verifier, calls } = verifierOf(() => Response.json(answers[calls() - 1]));
    for (const answer of answers) {
      expect(await verifier.verify(apiKey)).toEqual(answer);
    }
    expect(calls()).toBe(3);
  });

  it('answers a malformed key without asking the platform', async () => {
    const { verifier, calls } = verifierOf(() => Response.json(good));
    expect(await verifier.verify('pool_live_short')).toEqual({ valid: false });
    expect(calls()).toBe(0);
  });

  it.each([
    [
      'refuses the edge token',
      () => Response.json({ code: 'unauthorized', message: '' }, { status: 401 }),
    ],
    ['is down', () => Promise.reject(new Error('ECONNREFUSED'))],
    ['answers nonsense', () => Response.json({ valid: 'yes' })],
    ['says valid without naming the employer', () => Response.json({ valid: true })],
  ])('accepts no key if the platform %s [variable.verify-url]', async (_name, answer) => {
    const { verifier } = verifierOf(answer);
    await expect(verifier.verify(apiKey)).rejects.toMatchObject({
      code: 'verification_unavailable',
      status: 503,
      retryable: true,
    });
  });

  it('reports that the edge token is refused, because a retry does not help', async () => {
    const { verifier } = verifierOf(() =>
      Response.json({ code: 'unauthorized', message: 'canary' }, { status: 401 }),
    );
    await expect(verifier.verify(apiKey)).rejects.toThrow(/edge token.*DISBURSE_PLATFORM_TOKEN/);
  });
});
