// Readers of the gate, one per employer: created by the writer, and ended one by one with their tokens.

import { Secret } from '@pool/core';
import type { OpenDatabase } from '@pool/database';
import { createGateClient } from '@pool/platform-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryDatabase } from '../../database/test/test-store.ts';
import { hashCredential } from '../../http-server/src/service/credential-hash.ts';
import { startTestGate, type TestGate } from '../test/test-gate.ts';
import { type GateTables, gateMigrations } from './gate-tables.ts';

describe('readers of the gate', () => {
  let database: OpenDatabase<GateTables>;
  let gate: TestGate;
  beforeAll(async () => {
    database = await openMemoryDatabase(gateMigrations);
  });
  afterAll(async () => {
    await gate.crash();
    await database.close();
  });
  beforeEach(async () => {
    gate = await startTestGate(database);
  });
  const idOf = (name: string) => `reader-${name.padEnd(16, 'x')}`;
  const stateOf = (generation: number, secret: string | null) => ({
    generation,
    secretHash: secret === null ? null : (hashCredential(secret) as `0x${string}`),
  });
  const readerOf = (name: string, secret: string) =>
    createGateClient({
      url: 'http://127.0.0.1',
      oauth: {
        tokenUrl: 'http://127.0.0.1/oauth/token',
        clientId: idOf(name),
        clientSecret: new Secret(secret),
        scope: 'gate.read',
      },
      fetch: gate.fetch,
    });
  const refused = { code: 'gate_unauthorized' };

  it('are created by the writer, can read, and cannot write', async () => {
    await expect(readerOf('a', 'one').root()).rejects.toMatchObject(refused);
    await gate.client.putReader(idOf('a'), stateOf(1, 'one'));
    const reader = readerOf('a', 'one');
    expect(await reader.root()).toMatchObject({ wallets: 0 });
    await expect(readerOf('a', 'two').root()).rejects.toMatchObject(refused);
    await expect(reader.putReader(idOf('b'), stateOf(1, 'x'))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('end one by one, with their tokens', async () => {
    await gate.client.putReader(idOf('a'), stateOf(1, 'one'));
    await gate.client.putReader(idOf('b'), stateOf(1, 'two'));
    const token = await gate.tokenOf(idOf('a'), 'one');
    const other = readerOf('b', 'two');
    await other.root();
    expect(await gate.statusOfRoot(token)).toBe(200);
    await gate.client.putReader(idOf('a'), stateOf(1, null));
    expect(await gate.statusOfRoot(token)).toBe(401);
    await expect(readerOf('a', 'one').root()).rejects.toMatchObject(refused);
    expect(await other.root()).toMatchObject({ wallets: 0 });
  });

  it('keep their tokens when the same state is written again, and lose them with a new secret', async () => {
    await gate.client.putReader(idOf('a'), stateOf(1, 'one'));
    const token = await gate.tokenOf(idOf('a'), 'one');
    await gate.client.putReader(idOf('a'), stateOf(1, 'one'));
    expect(await gate.statusOfRoot(token)).toBe(200);
    await gate.client.putReader(idOf('a'), stateOf(2, 'new'));
    expect(await gate.statusOfRoot(token)).toBe(401);
    await readerOf('a', 'new').root();
  });

  it('are not restored by a write that was in progress, before or after a restart', async () => {
    await gate.client.putReader(idOf('a'), stateOf(1, 'one'));
    await gate.client.putReader(idOf('a'), stateOf(1, null));
    for (let i = 0; i < 2; i += 1) {
      await expect(gate.client.putReader(idOf('a'), stateOf(1, 'one'))).rejects.toMatchObject({
        code: 'stale_generation',
        status: 409,
      });
      await expect(readerOf('a', 'one').root()).rejects.toMatchObject(refused);
      await gate.crash();
      await gate.start();
    }
    await gate.client.putReader(idOf('a'), stateOf(3, 'three'));
    await expect(gate.client.putReader(idOf('a'), stateOf(2, 'two'))).rejects.toMatchObject({
      code: 'stale_generation',
    });
    await readerOf('a', 'three').root();
    // A revocation is also valid if it arrives before the first state of its client.
    await gate.client.putReader(idOf('b'), stateOf(1, null));
    await expect(gate.client.putReader(idOf('b'), stateOf(1, 'x'))).rejects.toMatchObject({
      code: 'stale_generation',
    });
  });

  it('cannot have the id of a configured client', async () => {
    await expect(gate.client.putReader('writer', stateOf(1, 'mine'))).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
