/**
 * Platform and gate as real processes on a real PostgreSQL server, which is killed in the middle of a settlement, and
 * then together with the platform: every acknowledged row is there afterwards, and the batch lands once.
 */
import { readFile } from 'node:fs/promises';
import { createEdgeClient, createKeyVerifier } from '@pool/platform-client';
import { createTestHolder } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openPostgresServices,
  type PostgresServices,
  type RunningService,
} from './fixtures/postgres-services.ts';

describe('platform and gate on a PostgreSQL server', () => {
  let services: PostgresServices;
  let gate: RunningService;
  let platform: RunningService;

  beforeAll(async () => {
    services = await openPostgresServices();
    gate = await services.startGate();
    platform = await services.startPlatform(gate.url);
  });
  afterAll(() => services.stop());

  const statusOf = async (path: string) => {
    const response = await fetch(`${platform.url}${path}`);
    return [response.status, response.headers.get('retry-after')];
  };

  it('keeps everything that was acknowledged and pays once, through kills of the server and of the platform', async () => {
    const { server, chain, askPlatform: ask } = services;
    const holders = await Promise.all(['a', 'b'].map(createTestHolder));
    const [payer] = holders;
    if (payer === undefined) throw new Error('no payer');
    const [session] = await Promise.all(
      holders.map((holder) => services.enrol(holder, () => platform.url)),
    );
    if (session === undefined) throw new Error('no session');
    const edgeToken = await services.mintEdgeToken(payer.address);
    const edge = () => createEdgeClient({ url: `${platform.url}/agent-edge`, token: edgeToken });
    const reader = services.readerAt(gate.url);
    const request = await services.prove(holders, reader);
    const revoked = await session.mintKey('disburse', 'agent');
    await session.revokeKey(revoked.id);

    // Until the platform is killed, no transaction can succeed.
    await chain.provider.send('evm_setIntervalMining', [0]);
    expect((await edge().postSettlement('job-1', request)).state).toBe('accepted');
    await server.kill();
    await expect(edge().getSettlement('job-1')).rejects.toMatchObject({
      status: 503,
      retryable: true,
    });
    const isAway = [503, expect.stringMatching(/^[1-9]/)];
    await expect.poll(() => statusOf('/readyz')).toEqual(isAway);
    expect(await statusOf('/api/auth/nonce')).toEqual(isAway);
    expect(await statusOf('/livez')).toEqual([200, null]);
    await server.start();
    await expect.poll(() => statusOf('/readyz')).toEqual([200, null]);

    // Signed bytes are stored, and their outcome on the chain is not known here yet.
    await expect
      .poll(() => ask('select state from relayer_transactions'), { interval: 20 })
      .toEqual([{ state: 'open' }]);
    await Promise.all([server.kill(), platform.process.kill()]);
    await chain.provider.send('evm_setIntervalMining', [1]);
    await server.start();
    platform = await services.startPlatform(gate.url);
    await expect
      .poll(() => edge().getSettlement('job-1'), { interval: 200 })
      .toMatchObject({ state: 'settled', sealedNotes: request.sealedNotes });
    expect(await chain.pool().batchCount()).toBe(1n);
    expect(await chain.poolBalance()).toBe(300n);
    // The index calls a batch settled; the relayer records the outcome of its own transaction in its own pass.
    await expect
      .poll(() => ask('select state, purpose from relayer_transactions'))
      .toEqual([{ state: 'succeeded', purpose: 'fund' }]);
    const verifyUrl = `${platform.url}/api/employers/verify-key`;
    expect(
      await createKeyVerifier({ verifyUrl, edgeToken }).verify(revoked.apiKey.reveal()),
    ).toEqual({ valid: false });
    expect((await reader.root()).wallets).toBe(2);
  });

  it('refuses a gate on the platform’s database, with the reason', async () => {
    await platform.process.stop(120_000);
    expect((await platform.process.exited).code).toBe(0);
    const { gateSettings, platformDatabase } = services;
    const wrong = services.start('wrong-gate', ['gate', 'serve'], {
      ...gateSettings,
      DATABASE_URL: platformDatabase,
    });
    expect((await wrong.exited).code).toBe(1);
    expect(wrong.output()).toContain('database_refused');
  });

  it('writes the password of the database nowhere', async () => {
    for (const { logPath } of services.processes) {
      expect(await readFile(logPath, 'utf8')).not.toContain(services.server.password);
    }
  });
});
