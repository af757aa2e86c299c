/** Contract wallets at the sign-in, on a real chain: who can sign in, and what such a session may do. */
import {
  createSignInMessage,
  type EvmAddress,
  PoolError,
  Secret,
  type SignInFields,
} from '@pool/core';
import {
  type Anvil,
  anvilMnemonic,
  createTestHolder,
  startAnvil,
  type TestHolder,
  testEvidenceDomain,
} from '@pool/testkit';
import { HDNodeWallet, JsonRpcProvider, NonceManager, Wallet } from 'ethers';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import {
  createEvmPoolChain,
  type PoolChain,
} from '../../../../packages/relayer/src/chain/pool-chain.ts';
import {
  deployOwnedWallet,
  strangeCode,
} from '../../../../packages/relayer/test/contract-wallet.ts';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { createEdgeToken } from '../accounts/credentials.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
  testCredentials,
} from '../fixtures/test-platform.ts';
import { maxSessionsPerWallet } from './sessions.ts';

const owner = new Wallet(`0x${'21'.repeat(32)}`);

describe('a contract wallet', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let chain: PoolChain;
  let database: TestDatabase;
  let platform: TestPlatform;
  let treasury: EvmAddress;
  let holder: TestHolder;
  /** Addresses of the contracts that were called. */
  let asked: string[];

  beforeAll(async () => {
    [database, anvil] = await Promise.all([openTestDatabase(), startAnvil()]);
    provider = new JsonRpcProvider(anvil.rpcUrl, anvil.chainId, { staticNetwork: true });
    const deployer = new NonceManager(HDNodeWallet.fromPhrase(anvilMnemonic).connect(provider));
    treasury = await deployOwnedWallet(deployer, owner.address);
    holder = await createTestHolder('a');
    const settings = { ...testSettings, rpcUrl: anvil.rpcUrl };
    const real = createEvmPoolChain('anvil', settings, new Secret(`0x${'31'.repeat(32)}`));
    chain = {
      ...real,
      checkContractSignature: (subject) => {
        asked.push(subject.address);
        return real.checkContractSignature(subject);
      },
    };
  });
  afterAll(async () => {
    chain.close();
    provider.destroy();
    await Promise.all([anvil.stop(), database.close()]);
  });
  beforeEach(async () => {
    await database.reset();
    asked = [];
    platform = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      poolChains: new Map([['anvil', chain]]),
    });
  });

  async function messageOf(changes: Partial<SignInFields> = {}): Promise<string> {
    const response = await platform.app.request('/api/auth/nonce');
    const { nonce } = (await response.json()) as { nonce: string };
    return createSignInMessage({
      ...testEvidenceDomain,
      address: treasury,
      statement: 'Sign in.',
      chainId: 31337,
      nonce,
      issuedAtMs: platform.clock.nowMs,
      expirationTimeMs: platform.clock.nowMs + 60_000,
      ...changes,
    });
  }
  async function verify(message: string, signature: string): Promise<Response> {
    return await call('POST', '/api/auth/verify', { message, signature });
  }
  async function call(
    method: string,
    path: string,
    body?: unknown,
    cookie = '',
  ): Promise<Response> {
    return await platform.app.request(path, {
      method,
      headers: { 'content-type': 'application/json', cookie },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
  async function outcomeOf(response: Response): Promise<[number, string | undefined]> {
    const { code } = (await response.json()) as { code?: string };
    return [response.status, code];
  }
  const cookieOf = (response: Response): string =>
    /sessionId=[\w-]*/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? '';
  async function signedIn(): Promise<string> {
    const message = await messageOf();
    const response = await verify(message, await owner.signMessage(message));
    expect(response.status).toBe(200);
    return cookieOf(response);
  }

  it('signs in if its contract accepts the signature, and has no W', async () => {
    const message = await messageOf();
    const response = await verify(message, await owner.signMessage(message));
    expect([response.status, await response.json()]).toEqual([
      200,
      { success: true, address: treasury, expiresAt: '2026-11-21T11:00:00.000Z' },
    ]);
    expect(cookieOf(response)).toMatch(/^sessionId=[\w-]{53}$/);
    expect(asked).toEqual([treasury]);
  });

  it('is refused for a signature that its contract does not accept, and for a used text', async () => {
    const message = await messageOf();
    const stranger = await holder.wallet.signMessage(message);
    expect(await outcomeOf(await verify(message, stranger))).toEqual([401, 'invalid_sign_in']);
    // That attempt used up the nonce.
    const late = await verify(message, await owner.signMessage(message));
    expect(await outcomeOf(late)).toEqual([401, 'invalid_sign_in']);
    const [one, other] = [await messageOf(), await messageOf()];
    expect(await outcomeOf(await verify(one, await owner.signMessage(other)))).toEqual([
      401,
      'invalid_sign_in',
    ]);
    expect(await database.db.selectFrom('sessions').selectAll().execute()).toEqual([]);
  });

  it.each<[string, Partial<SignInFields>]>([
    ['another domain', { domain: 'evil.test' }],
    ['another URI', { uri: 'https://evil.test' }],
    ['another chain', { chainId: 1 }],
    ['a made-up nonce', { nonce: 'abcdefgh12345678' }],
    ['an expiry in the past', { expirationTimeMs: 1 }],
  ])('is not called for a text with %s', async (_name, changes) => {
    const message = await messageOf(changes);
    const outcome = await outcomeOf(await verify(message, await owner.signMessage(message)));
    expect([outcome, asked]).toEqual([[401, 'invalid_sign_in'], []]);
  });

  it('is not called if the key of the address signed, and needs code at the address', async () => {
    const own = await messageOf({ address: holder.address });
    expect((await verify(own, await holder.wallet.signMessage(own))).status).toBe(200);
    expect(asked).toEqual([]);
    const codes = [];
    for (const signature of [
      await owner.signMessage(own),
      '0x',
      `0x${'ab'.repeat(65)}`,
      `0x${'ab'.repeat(130)}`,
    ]) {
      codes.push(
        await outcomeOf(await verify(await messageOf({ address: holder.address }), signature)),
      );
    }
    expect(codes).toEqual([
      [401, 'invalid_sign_in'],
      [401, 'invalid_signature'],
      [401, 'invalid_signature'],
      [401, 'invalid_signature'],
    ]);
  });

  it('signs with its key if the account only borrows code (EIP-7702)', async () => {
    const consenting = Wallet.createRandom().address;
    await provider.send('anvil_setCode', [consenting, strangeCode.consents]);
    const { address } = holder;
    await provider.send('anvil_setCode', [address, `0xef0100${consenting.slice(2).toLowerCase()}`]);
    try {
      const message = await messageOf({ address });
      const refused = await verify(message, await owner.signMessage(message));
      expect(await outcomeOf(refused)).toEqual([401, 'contract_wallet_unsupported']);
      const own = await messageOf({ address });
      expect((await verify(own, await holder.wallet.signMessage(own))).status).toBe(200);
    } finally {
      await provider.send('anvil_setCode', [address, '0x']);
    }
  });

  it('is refused for a signature of a wallet that is not deployed (EIP-6492), and the message names it', async () => {
    const message = await messageOf();
    const inner = await owner.signMessage(message);
    const response = await verify(message, `${inner}${'6492'.repeat(16)}`);
    const { code, message: said } = (await response.json()) as { code: string; message: string };
    expect([response.status, code, asked]).toEqual([401, 'contract_wallet_unsupported', []]);
    expect(said).toContain('EIP-6492');
  });

  it('cannot sign in while the chain does not answer', async () => {
    const silent = new PoolError('chain_unreachable', 'silent');
    platform = createTestPlatform(database, {
      poolChains: new Map([
        ['anvil', { ...chain, checkContractSignature: () => Promise.reject(silent) }],
      ]),
    });
    const message = await messageOf();
    const response = await verify(message, await owner.signMessage(message));
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await outcomeOf(response)).toEqual([503, 'chain_unreachable']);
    expect(await database.db.selectFrom('sessions').selectAll().execute()).toEqual([]);
    // A wallet with a key needs no chain.
    const own = await messageOf({ address: holder.address });
    expect((await verify(own, await holder.wallet.signMessage(own))).status).toBe(200);
  });

  it('can register an account, and mint and revoke disburse keys', async () => {
    const cookie = await signedIn();
    const register = () => call('POST', '/api/employers/register', { name: 'Treasury' }, cookie);
    const registered = (await (await register()).json()) as Record<string, unknown>;
    expect(registered).toMatchObject({ success: true, created: true, address: treasury });
    expect(await (await register()).json()).toEqual({ ...registered, created: false });
    const minted = await call(
      'POST',
      '/api/employers/keys',
      { capability: 'disburse', name: 'x' },
      cookie,
    );
    const { apiKey, id } = (await minted.json()) as { apiKey: string; id: number };
    const { secret: token } = await createEdgeToken(
      database.db,
      testCredentials,
      { id: String(registered['employerId']), address: treasury },
      'test',
      platform.clock.nowMs,
    );
    const check = async (): Promise<unknown> =>
      await (
        await platform.app.request('/api/employers/verify-key', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${token.reveal()}`,
          },
          body: JSON.stringify({ apiKey }),
        })
      ).json();
    expect(await check()).toEqual({
      valid: true,
      capability: 'disburse',
      employerId: registered['employerId'],
      address: treasury,
      keyId: id,
    });
    expect((await call('DELETE', `/api/employers/keys/${id}`, undefined, cookie)).status).toBe(200);
    expect(await check()).toEqual({ valid: false });
  });

  it('cannot enrol, rotate or mint a key of a holder [auth.session-wallet-is-w]', async () => {
    const cookie = await signedIn();
    await call('POST', '/api/employers/register', {}, cookie);
    const { walletPub, encryptionPublicKey } = holder;
    const refused = [
      await call(
        'POST',
        '/api/employers/holder/onboard',
        { walletPub, encryptionPublicKey },
        cookie,
      ),
      await call(
        'POST',
        '/api/employers/holder/rotate-encryption-key',
        { walletPub, currentEncryptionPublicKey: encryptionPublicKey, encryptionPublicKey },
        cookie,
      ),
    ];
    for (const capability of ['holder.read', 'holder.transfer', 'holder.send']) {
      refused.push(await call('POST', '/api/employers/keys', { capability, name: 'x' }, cookie));
    }
    expect(await Promise.all(refused.map(outcomeOf))).toEqual(
      Array.from({ length: 5 }, () => [403, 'contract_wallet_unsupported']),
    );
    const enrolment = await call('GET', '/api/employers/holder/enrollment', undefined, cookie);
    expect(await enrolment.json()).toEqual({ success: true, readiness: 'not_enrolled' });
    expect(await database.db.selectFrom('credentials').selectAll().execute()).toEqual([]);
  });

  it('keeps its session when its contract stops accepting signatures, and cannot sign in again', async () => {
    const cookie = await signedIn();
    const code = String(await provider.send('eth_getCode', [treasury, 'latest']));
    await provider.send('anvil_setCode', [treasury, strangeCode.reverts]);
    try {
      expect((await call('POST', '/api/employers/register', {}, cookie)).status).toBe(200);
      const message = await messageOf();
      const again = await verify(message, await owner.signMessage(message));
      expect(await outcomeOf(again)).toEqual([401, 'invalid_sign_in']);
    } finally {
      await provider.send('anvil_setCode', [treasury, code]);
    }
  });

  it('cannot use the account of the contract at the same address on another chain', async () => {
    await call('POST', '/api/employers/register', {}, await signedIn());
    await database.db.updateTable('employers').set({ contract_chain_id: 10 }).execute();
    const cookie = await signedIn();
    const answers = [
      await call('POST', '/api/employers/register', {}, cookie),
      await call('POST', '/api/employers/keys', { capability: 'disburse', name: 'x' }, cookie),
      await call('GET', '/api/employers/keys', undefined, cookie),
      await call('DELETE', '/api/employers/keys/1', undefined, cookie),
    ];
    expect(await Promise.all(answers.map(outcomeOf))).toEqual(
      answers.map(() => [409, 'contract_on_another_chain']),
    );
  });

  it('has sessions and a rate limit apart from the contract at the same address on another chain', async () => {
    platform = createTestPlatform(database, {
      poolChains: new Map([['anvil', chain]]),
      rateLimits: { sessionPerSecond: 1 },
    });
    const elsewhere = await signedIn();
    await database.db.updateTable('sessions').set({ contract_chain_id: 10 }).execute();
    await sql`insert into sessions select 'n' || i, address, wallet_pub, message, signature,
      '2030-01-01T00:00:00.000Z', 31337 from sessions,
      generate_series(1, ${maxSessionsPerWallet}) as i`.execute(database.db);
    const cookie = await signedIn();
    const look = async (as: string): Promise<number> =>
      (await call('GET', '/api/employers/holder/enrollment', undefined, as)).status;
    for (let calls = 0; calls < 10; calls += 1) expect(await look(cookie)).toBe(200);
    expect([await look(cookie), await look(elsewhere)]).toEqual([429, 200]);
    // Its own oldest sessions are ended as usual.
    expect(await database.db.selectFrom('sessions').selectAll().execute()).toHaveLength(
      maxSessionsPerWallet + 1,
    );
  });
});
