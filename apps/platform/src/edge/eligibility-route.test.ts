/** Eligibility paths of payees as a wallet in a page asks for them, from a real gate through the platform. */
import type { Capability } from '@pool/api';
import {
  bigintToHex32,
  fieldToHex,
  maxSpendPayees,
  PoolError,
  parseField,
  Secret,
} from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import { computeWalletId, verifyEligibilityPath } from '@pool/notes';
import { createEdgeClient, createEdgeGate, createGateClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { openMemoryDatabase } from '../../../../packages/database/test/test-store.ts';
import { type GateTables, gateMigrations } from '../../../../packages/pool-gate/src/gate-tables.ts';
import { startTestGate, type TestGate } from '../../../../packages/pool-gate/test/test-gate.ts';
import { revokeCredential } from '../accounts/credentials.ts';
import { ensureGateReader, revokeGateReader } from '../accounts/gate-readers.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';
import type { EligibilityGate } from './eligibility-route.ts';

describe('POST /agent-edge/eligibility-paths', () => {
  let database: TestDatabase;
  let gateDatabase: OpenDatabase<GateTables>;
  let gate: TestGate;
  let platform: TestPlatform;
  let a: TestHolder;
  let b: TestHolder;
  let stranger: TestHolder;
  /** What reached the gate. */
  let asked: (readonly string[])[];
  /** Thrown in place of the gate's answer. */
  let failure: Error | undefined;
  let reads: EligibilityGate;

  beforeAll(async () => {
    database = await openTestDatabase();
    gateDatabase = await openMemoryDatabase(gateMigrations);
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
    stranger = await createTestHolder('stranger');
  });
  afterAll(() => Promise.all([database.close(), gateDatabase.close()]));
  afterEach(() => gate.crash());
  beforeEach(async () => {
    await database.reset();
    gate = await startTestGate(gateDatabase, { pastRootSeconds: 0 });
    [asked, failure] = [[], undefined];
    const client = readerWith('w');
    reads = {
      async paths(walletIds, root) {
        asked.push(walletIds);
        if (failure !== undefined) throw failure;
        return await client.paths(walletIds, root);
      },
    };
    platform = createTestPlatform(database, { gate: gate.client, gateReads: reads });
  });

  /** As `platform serve` reads the gate. */
  function readerWith(secret: string) {
    const url = 'http://127.0.0.1';
    const oauth = { clientId: 'writer', clientSecret: new Secret(secret), scope: 'gate.read' };
    const { fetch } = gate;
    const nowMs = () => gate.clock.nowMs;
    return createGateClient({
      url,
      oauth: { ...oauth, tokenUrl: `${url}/oauth/token` },
      fetch,
      nowMs,
    });
  }

  async function enrol(holder: TestHolder) {
    const session = await platform.signIn(holder);
    await session.register();
    const { readiness } = await session.onboard(holder.walletPub, holder.encryptionPublicKey);
    expect(readiness).toBe('ready');
  }

  const edgeWith = (token: Secret) =>
    createEdgeClient({ url: `${platform.url}/agent-edge`, token, fetch: platform.fetch });

  async function keyOf(holder: TestHolder, capability: Capability = 'holder.transfer') {
    const session = await platform.signIn(holder);
    await session.register();
    return await session.mintKey(capability, 'page');
  }

  async function edgeOf(holder: TestHolder, capability?: Capability) {
    return edgeWith((await keyOf(holder, capability)).apiKey);
  }

  const idOf = ({ walletPub }: TestHolder) => fieldToHex(computeWalletId(walletPub));
  async function readRoot() {
    return (await gate.client.root()).root;
  }
  async function requestOf(...holders: TestHolder[]) {
    return { chain: 'anvil', walletIds: holders.map(idOf), root: await readRoot() };
  }

  it('serves paths that lead to the root of the registry, and names the wallets that are not on the list', async () => {
    await enrol(a);
    await enrol(b);
    const port = createEdgeGate('anvil', await edgeOf(a));
    const root = (await gate.fake.chain.fetchCurrentRoot()) ?? '';
    const answer = await port.paths([idOf(b), idOf(stranger)], root);
    expect(answer.root).toBe(root);
    expect(answer.missing).toEqual([idOf(stranger)]);
    expect(answer.paths.map(({ walletId }) => walletId)).toEqual([idOf(b)]);
    const [path] = answer.paths;
    if (path === undefined) throw new Error('no path');
    const leaf = computeWalletId(b.walletPub);
    expect(verifyEligibilityPath(parseField(root), leaf, path)).toBeDefined();
    expect(
      verifyEligibilityPath(parseField(root), computeWalletId(stranger.walletPub), path),
    ).toBeUndefined();
  });

  it.each(['holder.read', 'holder.send', 'disburse'] as const)(
    'refuses a %s key',
    async (scope) => {
      await enrol(a);
      const edge = await edgeOf(a, scope);
      await expect(edge.findEligibilityPaths(await requestOf(a))).rejects.toMatchObject({
        code: 'forbidden',
        status: 403,
      });
      expect(asked).toEqual([]);
    },
  );

  it('refuses an edge token, and a key that was revoked', async () => {
    await enrol(a);
    const request = await requestOf(a);
    const refused = { code: 'unauthorized', status: 401 };
    const { token } = await platform.edgeToken(a.address);
    await expect(edgeWith(token).findEligibilityPaths(request)).rejects.toMatchObject(refused);
    const { id, apiKey } = await keyOf(a);
    await edgeWith(apiKey).findEligibilityPaths(request);
    await revokeCredential(database.db, 'key', id, platform.clock.nowMs);
    await expect(edgeWith(apiKey).findEligibilityPaths(request)).rejects.toMatchObject(refused);
  });

  it('refuses another chain, too many wallets, none, and what is no wallet, before the gate is asked', async () => {
    await enrol(a);
    const edge = await edgeOf(a);
    const { root } = await requestOf();
    const [id, tooLarge] = [idOf(a), bigintToHex32(2n ** 256n - 1n)];
    const many = Array.from({ length: maxSpendPayees + 1 }, (_, place) =>
      bigintToHex32(BigInt(place + 1)),
    );
    for (const [request, code] of [
      [{ chain: 'nowhere', walletIds: [id], root }, 'invalid-chain'],
      [{ chain: 'anvil', walletIds: many, root }, 'invalid_request'],
      [{ chain: 'anvil', walletIds: [], root }, 'invalid_request'],
      [{ chain: 'anvil', walletIds: [tooLarge], root }, 'invalid_field_element'],
      [{ chain: 'anvil', walletIds: [id], root: tooLarge }, 'invalid_field_element'],
    ] as const) {
      const asking = edge.findEligibilityPaths({ ...request, walletIds: [...request.walletIds] });
      await expect(asking, code).rejects.toMatchObject({ code, status: 400 });
    }
    expect(asked).toEqual([]);
    const most = await edge.findEligibilityPaths({
      chain: 'anvil',
      walletIds: many.slice(1),
      root,
    });
    expect(most.missing).toHaveLength(maxSpendPayees);
  });

  it('counts each request as a repeated spend of the holder, over all keys', async () => {
    platform = createTestPlatform(database, {
      ...{ gate: gate.client, gateReads: reads },
      rateLimits: { spendsPerMinute: 1 },
    });
    await enrol(a);
    await enrol(b);
    const request = await requestOf(b);
    const [first, second] = [await edgeOf(a), await edgeOf(a)];
    for (let count = 0; count < 5; count += 1) {
      await first.findEligibilityPaths(request);
    }
    for (const edge of [first, second]) {
      await expect(edge.findEligibilityPaths(request)).rejects.toMatchObject({
        code: 'rate_limited',
        status: 429,
        retryable: true,
      });
    }
    expect(asked).toHaveLength(5);
    await (await edgeOf(b)).findEligibilityPaths(request);
  });

  it('tells a wallet that is not admitted nothing of who is on the list', async () => {
    await enrol(b);
    platform = createTestPlatform(database, {
      ...{ gate: gate.client, gateReads: reads },
      admission: { invitations: 'required' },
    });
    const edge = await edgeOf(stranger);
    await expect(edge.findEligibilityPaths(await requestOf(b))).rejects.toMatchObject({
      code: 'spender_not_admitted',
      status: 403,
    });
    expect(asked).toEqual([]);
    await (await edgeOf(b)).findEligibilityPaths(await requestOf(b));
  });

  it('refuses a wallet whose reader of the gate the operator has revoked', async () => {
    await enrol(a);
    const edge = await edgeOf(a);
    const { employerId } = await platform.edgeToken(a.address);
    await ensureGateReader(database.db, employerId, platform.clock.nowMs);
    await edge.findEligibilityPaths(await requestOf(a));
    await revokeGateReader(database.db, employerId, platform.clock.nowMs);
    await expect(edge.findEligibilityPaths(await requestOf(a))).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(asked).toHaveLength(1);
  });

  it('says of a root that the gate does not have whether to wait or to ask for another', async () => {
    await enrol(a);
    const edge = await edgeOf(a);
    const replaced = await requestOf(a);
    const unknown = { ...replaced, root: bigintToHex32(7n) };
    await expect(edge.findEligibilityPaths(unknown)).rejects.toMatchObject({
      code: 'eligibility_root_unknown',
      status: 503,
      retryable: true,
    });
    await enrol(b);
    gate.clock.nowMs += 60_000;
    await expect(edge.findEligibilityPaths(replaced)).rejects.toMatchObject({
      code: 'eligibility_root_too_old',
      status: 409,
      retryable: false,
    });
  });

  it.each<[string, PoolError | TypeError, string, number]>([
    ['is down', new PoolError('gate_unreachable', 'canary'), 'gate_unreachable', 503],
    ['stops', new PoolError('stopping', 'canary', { status: 503 }), 'gate_unreachable', 503],
    [
      'limits',
      new PoolError('rate_limited', 'canary', { retryable: true }),
      'gate_unreachable',
      503,
    ],
    ['fails in an unknown way', new TypeError('canary'), 'gate_unreachable', 503],
    ['refuses the platform', new PoolError('unauthorized', 'canary'), 'gate_unauthorized', 502],
    ['forbids', new PoolError('forbidden', 'canary'), 'gate_unauthorized', 502],
    ['grants no token', new PoolError('gate_unauthorized', 'canary'), 'gate_unauthorized', 502],
    ['refuses the form', new PoolError('invalid_request', 'canary'), 'gate_invalid_response', 502],
    ['lies', new PoolError('gate_invalid_response', 'canary'), 'gate_invalid_response', 502],
  ])(
    'answers of a gate that %s: the key of the holder is not to blame',
    async (_, error, code, status) => {
      await enrol(a);
      const { apiKey } = await keyOf(a);
      failure = error;
      const response = await platform.app.request('/agent-edge/eligibility-paths', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey.reveal()}` },
        body: JSON.stringify(await requestOf(a)),
      });
      const body = (await response.json()) as { code: string; message: string };
      expect([response.status, body.code]).toEqual([status, code]);
      expect(response.headers.has('retry-after')).toBe(status === 503);
      expect(body.message).not.toContain('canary');
      failure = undefined;
      await edgeWith(apiKey).findEligibilityPaths(await requestOf(a));
    },
  );

  it('answers as a fault of the deployment that the gate does not know the platform', async () => {
    await enrol(a);
    const wrong = readerWith('another secret');
    platform = createTestPlatform(database, { gate: gate.client, gateReads: wrong });
    const edge = await edgeOf(a);
    await expect(edge.findEligibilityPaths(await requestOf(a))).rejects.toMatchObject({
      code: 'gate_unauthorized',
      status: 502,
    });
  });

  it('says that a deployment has no gate', async () => {
    await enrol(a);
    platform = createTestPlatform(database);
    const edge = await edgeOf(a);
    await expect(edge.findEligibilityPaths(await requestOf(a))).rejects.toMatchObject({
      code: 'no_gate',
      status: 409,
      retryable: false,
    });
  });
});
