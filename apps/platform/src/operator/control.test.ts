import { parseEvmAddress, Secret } from '@pool/core';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { findEdgeEmployer } from '../accounts/credentials.ts';
import { registerEmployer } from '../employers/employers.ts';
import { testCredentials } from '../fixtures/test-platform.ts';
import { createControlApp } from './control.ts';

describe('createControlApp', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    await database.db
      .insertInto('indexer_cursors')
      .values({ chain: 'anvil', block_number: 7, block_hash: '0x07', halted: 'a root differs' })
      .execute();
  });

  async function resume(chain: string, token = 'operator'): Promise<[number, unknown]> {
    const log = createLog('silent', 'test');
    const deps = { db: database.db, credentials: testCredentials, log, nowMs: Date.now };
    const response = await createControlApp(deps, new Secret('operator')).request(
      'http://127.0.0.1/indexer/resume',
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ chain }),
      },
    );
    return [response.status, await response.json()];
  }
  const cursor = () =>
    database.db.selectFrom('indexer_cursors').selectAll().executeTakeFirstOrThrow();

  it('lifts the halt of one chain, reports its reason, and keeps the position', async () => {
    expect(await resume('base')).toEqual([200, { resumed: false }]);
    expect((await cursor()).halted).toBe('a root differs');
    expect(await resume('anvil')).toEqual([200, { resumed: true, reason: 'a root differs' }]);
    expect(await cursor()).toMatchObject({ block_number: 7, block_hash: '0x07', halted: null });
    expect(await resume('anvil')).toEqual([200, { resumed: false }]);
  });

  async function edgeTokens(
    method: 'GET' | 'POST' | 'DELETE',
    path = '',
    body?: unknown,
  ): Promise<[number, Record<string, unknown>]> {
    const deps = {
      db: database.db,
      credentials: testCredentials,
      log: createLog('silent', 'test'),
      nowMs: () => 0,
    };
    const response = await createControlApp(deps, new Secret('operator')).request(
      `http://127.0.0.1/edge-tokens${path}`,
      {
        method,
        headers: { authorization: 'Bearer operator', 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
    );
    return [response.status, (await response.json()) as Record<string, unknown>];
  }
  const address = parseEvmAddress(new Wallet(`0x${'11'.repeat(32)}`).address);

  it('creates an edge token, shows it once, lists and revokes it', async () => {
    const { employer } = await registerEmployer(database.db, { address }, undefined, 0);
    const [status, created] = await edgeTokens('POST', '', { address, name: 'agent one' });
    const token = String(created['token']);
    expect([status, token]).toEqual([200, expect.stringMatching(/^pool_edge_[A-Za-z0-9]{8}_\w+$/)]);
    expect(await findEdgeEmployer(database.db, token)).toEqual({
      ...employer,
      edgeTokenId: created['id'],
    });
    await edgeTokens('POST', '', { address: address.toLowerCase(), name: 'agent two' });
    const [, listed] = await edgeTokens('GET');
    expect(JSON.stringify(listed)).not.toContain(token.slice(-30));
    const metadata = {
      employerId: employer.id,
      createdAt: '1970-01-01T00:00:00.000Z',
      refusedProofs: 0,
      issuedBy: 'operator',
      revokedAt: null,
    };
    const entry = { ...metadata, id: created['id'], prefix: token.slice(0, 18), name: 'agent one' };
    expect(listed).toEqual({
      edgeTokens: [entry, expect.objectContaining({ ...metadata, name: 'agent two' })],
    });
    for (let i = 0; i < 2; i += 1) {
      expect(await edgeTokens('DELETE', `/${created['id']}`)).toEqual([200, { revoked: true }]);
    }
    expect(await findEdgeEmployer(database.db, token)).toBeUndefined();
    const [, after] = await edgeTokens('GET');
    expect(after).toEqual({
      edgeTokens: [
        { ...entry, revokedAt: '1970-01-01T00:00:00.000Z' },
        expect.objectContaining({ name: 'agent two', revokedAt: null }),
      ],
    });
  });

  it('creates no token for the account of a contract, unless the chain is given', async () => {
    // On another chain another person may own the contract of the customer's address, and register first.
    await registerEmployer(database.db, { address, contractChainId: 10 }, undefined, 0);
    const refused = [];
    for (const contractChainId of [undefined, 1]) {
      const named = contractChainId === undefined ? {} : { contractChainId };
      refused.push(await edgeTokens('POST', '', { address, name: 'x', ...named }));
    }
    const error = {
      code: 'contract_on_another_chain',
      message: expect.stringContaining('chain 10'),
    };
    expect(refused).toEqual([
      [409, error],
      [409, error],
    ]);
    const [status] = await edgeTokens('POST', '', { address, name: 'x', contractChainId: 10 });
    expect(status).toBe(200);
  });

  it.each([
    ['a wallet without an account', { address, name: 'x' }, 409, 'employer_not_found'],
    ['a text that is not an address', { address: '0x12', name: 'x' }, 400, 'invalid-address'],
    ['a name with a NUL', { address, name: 'a\u0000' }, 400, 'invalid_request'],
    ['a name that turns its direction', { address, name: 'a\u202e' }, 400, 'invalid_request'],
    ['a name of no width', { address, name: '\u200b' }, 400, 'invalid_request'],
  ])('creates no token for %s', async (_name, body, status, code) => {
    expect(await edgeTokens('POST', '', body)).toEqual([status, expect.objectContaining({ code })]);
  });

  it('refuses to revoke an unknown token', async () => {
    for (const id of ['7', '0', '1e3', '99999999999']) {
      expect(await edgeTokens('DELETE', `/${id}`)).toMatchObject([404, { code: 'not_found' }]);
    }
  });

  it('accepts only the operator', async () => {
    expect((await resume('anvil', 'guess'))[0]).toBe(401);
    expect((await cursor()).halted).toBe('a root differs');
  });
});
