// Each reason why a chain is `invalid-chain`, from the chains file to the answer.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChainsFile } from '@pool/configuration';
import { PoolError } from '@pool/core';
import { type RouteDeps, refuseOtherPool, routeChain } from '@pool/operations';
import { createFakeClock, createFakePoolChain } from '@pool/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { bootstrap, pool } from '../../src/fixtures/test-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'chains-'));
afterAll(() => rmSync(folder, { recursive: true }));

const vended = bootstrap.chains['anvil'];
const anvil = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:8545',
  pool,
  registry: vended?.registry,
  deployedAtBlock: 0,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: { USDC: { address: vended?.tokens['USDC'], decimals: 6 } },
};

/** One chain of each kind. */
const chains = {
  anvil,
  base: { family: 'evm' },
  solana: { family: 'solana' },
  stellar: { family: 'stellar' },
  aptos: { family: 'aptos' },
};

function writeChainsFile(value: unknown): string {
  const path = join(folder, 'chains.json');
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

function read(entries: object) {
  const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
  return readChainsFile(writeChainsFile({ evidence, chains: entries }));
}

function createDeps(changes: Partial<RouteDeps> = {}): RouteDeps {
  const file = read(chains);
  const clock = createFakeClock();
  const chain = createFakePoolChain({ clock, pool, token: pool, funder: pool });
  return {
    contexts: new Map(
      Object.entries(file.chains).map(([key, settings]) => [key, { key, settings, chain }]),
    ),
    addressOnlyChains: file.addressOnlyChains,
    bootstrap,
    defaultChain: undefined,
    signerCurves: ['secp256k1'],
    ...changes,
  };
}

function reasonOf(key: string, changes: Partial<RouteDeps> = {}): string {
  const route = routeChain(key, createDeps(changes));
  return route.kind === 'invalid' ? route.reason : 'routable';
}

describe('routeChain', () => {
  it('routes the chain with a pool by name, by default and as vended [request.chain-setting-outranks, variable.chain]', () => {
    expect(routeChain('anvil', createDeps())).toMatchObject({ kind: 'routable', maxRecipients: 3 });
    expect(routeChain(undefined, createDeps({ defaultChain: 'anvil' })).kind).toBe('routable');
    expect(routeChain(undefined, createDeps()).kind).toBe('routable');
  });

  it('refuses an unknown chain key [error.invalid-chain-unknown]', () => {
    for (const key of ['mars', '', 'constructor', '__proto__', 'SOLANA']) {
      expect(reasonOf(key)).toBe(
        'the chain is not in chains.json, or has no pool; configured chains: anvil',
      );
    }
  });

  it('refuses a chain of an unsupported platform [error.invalid-chain-platform]', () => {
    expect(reasonOf('aptos')).toBe(
      'chain aptos belongs to an unsupported platform, aptos; supported: evm, solana, stellar',
    );
  });

  it.each([
    ['base', 'secp256k1'],
    ['solana', 'ed25519'],
    ['stellar', 'ed25519'],
  ] as const)(
    'has no pool on %s [variable.funder-ed25519, error.invalid-chain-pool]',
    (key, curve) => {
      expect(reasonOf(key, { signerCurves: [curve] })).toBe(`chain ${key} has no pool configured`);
    },
  );

  it('reports a missing pool and a missing signer together', () => {
    expect(reasonOf('solana')).toBe(
      'chain solana has no pool configured, and no funder signer for its curve, ed25519',
    );
  });

  it.each([[[]], [['ed25519']]] as const)(
    'refuses a chain without a signer for its curve, only %j [error.invalid-chain-signer]',
    (curves) => {
      expect(reasonOf('anvil', { signerCurves: curves })).toBe(
        'chain anvil has no funder signer for its curve, secp256k1',
      );
    },
  );

  it('refuses a default chain without a pool [request.chain-setting-outranks]', () => {
    expect(routeChain(undefined, createDeps({ defaultChain: 'stellar' })).kind).toBe('invalid');
  });
});

describe('readChainsFile', () => {
  it('returns addresses in checksum form', () => {
    const file = read({ anvil: { ...anvil, pool: pool.toLowerCase() } });
    expect(file.chains['anvil']?.pool).toBe(pool);
    expect(file.addressOnlyChains).toBeUndefined();
  });

  it.each([
    ['a wrong checksum', { ...anvil, pool: pool.replace('F', 'f') }],
    ['a plain http RPC that is not here', { ...anvil, rpcUrl: 'http://rpc.example' }],
    ['a pool on Solana', { family: 'solana', pool }],
  ])('refuses %s', (_, chain) => {
    expect(() => read({ anvil: chain })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
  });

  it.each([
    [
      'is missing',
      () => join(folder, 'none.json'),
      'none.json does not exist; "disburse-agent onboard',
    ],
    ['is a folder', () => folder, 'cannot be read (EISDIR)'],
    ['is not JSON', () => writeChainsFile('{'), 'chains.json is not JSON'],
    [
      'has a key twice',
      () => writeChainsFile('{"chains":{},"chains":{}}'),
      'has a duplicate JSON key',
    ],
  ])('names a file that %s', (_what, place, message) => {
    const path = place();
    expect(() => readChainsFile(path)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining(path),
      }),
    );
    expect(() => readChainsFile(path)).toThrow(message);
  });
});

describe('refuseOtherPool', () => {
  const open = (requirePool: () => Promise<void>) => {
    const deps = createDeps();
    const context = deps.contexts.get('anvil');
    if (context === undefined) throw new Error('no chain');
    const chain = { ...context.chain, requirePool };
    return { ...deps, contexts: new Map([['anvil', { ...context, chain }]]) };
  };

  it('makes a chain unusable whose pool has other contracts, with the contract in the reason', async () => {
    const deps = open(() =>
      Promise.reject(new PoolError('pool_code_differs', 'there is no contract at the verifier')),
    );
    expect(await refuseOtherPool(routeChain('anvil', deps), 1_000)).toEqual({
      kind: 'invalid',
      reason: expect.stringContaining('there is no contract at the verifier') as string,
    });
  });

  it('keeps a chain whose pool is the expected one, and one whose node is silent or down', async () => {
    const silent = new Promise<void>(() => undefined);
    const down = new PoolError('chain_unreachable', 'down');
    for (const answer of [() => Promise.resolve(), () => silent, () => Promise.reject(down)]) {
      const route = routeChain('anvil', open(answer));
      expect(await refuseOtherPool(route, 20)).toBe(route);
    }
  });
});
