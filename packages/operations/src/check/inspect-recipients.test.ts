// Who could be paid now: the judgement of a disbursement, with the facts behind it.
import { createFakeHolder, fakeEvidenceDomain } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../fixtures/fake-world.ts';
import { inspectRecipients } from './inspect-recipients.ts';

async function createInspection(changes: { readonly hasGate?: boolean } = {}) {
  const world = await createWorld();
  const route = await world.checks.routeChain(undefined);
  if (route.kind !== 'routable') {
    throw new Error(route.reason);
  }
  return {
    world,
    inspect: (addresses: Parameters<typeof inspectRecipients>[0]) =>
      inspectRecipients(addresses, route.context, {
        platform: world.platform,
        evidence: world.checks.evidence,
        hasGate: changes.hasGate ?? true,
        evidenceDomain: fakeEvidenceDomain,
        nowMs: world.clock.nowMs,
      }),
  };
}

const stranger = createFakeHolder(99);

describe('inspectRecipients', () => {
  it('reports who is ready, who is not, why, and when they signed in', async () => {
    const { world, inspect } = await createInspection();
    const [first, second, third] = world.holders;
    world.platform.enroll(second!, { readiness: 'eligibility_pending' });
    // Evidence of another wallet: the platform is malicious, or confused two people.
    world.platform.enroll(third!, { evidence: { ...first!.evidence } });
    const standings = await inspect([
      first!.address,
      second!.address,
      third!.address,
      stranger.address,
    ]);
    expect(standings).toEqual([
      {
        address: first!.address,
        isReady: true,
        readiness: 'ready',
        signedInAtMs: expect.any(Number),
      },
      {
        address: second!.address,
        isReady: false,
        readiness: 'eligibility_pending',
        reason: expect.stringContaining('not eligible'),
        signedInAtMs: expect.any(Number),
      },
      {
        address: third!.address,
        isReady: false,
        readiness: 'ready',
        reason: expect.stringContaining('sign-in evidence does not hold'),
        signedInAtMs: expect.any(Number),
      },
      {
        address: stranger.address,
        isReady: false,
        readiness: 'not_enrolled',
        reason: 'the recipient has not signed in and enrolled',
      },
    ]);
    expect(world.platform.posts).toBe(0);
  });

  it('divides a long list into several look-ups', async () => {
    const { world, inspect } = await createInspection();
    const people = Array.from({ length: 300 }, (_, index) => createFakeHolder(index + 1));
    const standings = await inspect(people.map(({ address }) => address));
    expect(standings).toHaveLength(300);
    expect(standings.filter(({ isReady }) => isReady)).toHaveLength(3);
    expect(world.platform.lookups).toBe(2);
  });

  it('reports nobody as ready in a deployment without a gate', async () => {
    const { world, inspect } = await createInspection({ hasGate: false });
    const [standing] = await inspect([world.holders[0]!.address]);
    expect(standing).toMatchObject({ isReady: false, readiness: 'eligibility_disabled' });
  });

  it('reports no recipient while the platform does not answer', async () => {
    const { world, inspect } = await createInspection();
    world.platform.failCalls(1);
    await expect(inspect([world.holders[0]!.address])).rejects.toMatchObject({
      code: 'platform_unreachable',
    });
  });
});
