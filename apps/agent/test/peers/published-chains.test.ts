// What `onboard --chains` refuses before it writes a file. `onboard.e2e.test.ts` compares settings with a real chain.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placePublishedChains } from '@pool/operations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pool } from '../../src/fixtures/test-app.ts';

const chain = {
  family: 'evm',
  chainId: 31337,
  pool,
  registry: pool,
  deployedAtBlock: 1,
  finality: { kind: 'finalized-tag' },
  maxRecipients: 16,
  tokens: {},
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'published-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function publish(chains: unknown): string {
  const path = join(directory, 'published.json');
  const evidence = { domain: 'pool.example', uri: 'https://pool.example' };
  writeFileSync(path, typeof chains === 'string' ? chains : JSON.stringify({ evidence, chains }));
  return path;
}

function place(chains: unknown, rpcs: readonly string[]) {
  return placePublishedChains(publish(chains), rpcs, join(directory, 'chains.json'));
}

describe('onboard --chains refuses, before it writes anything,', () => {
  it.each<[string, unknown, readonly string[], string]>([
    ['a file without a node', { base: chain }, [], '--rpc <chain>=<url>, for base'],
    ['a node of an unknown chain', { base: chain }, ['bse=https://n'], 'it has base'],
    ['a node without a chain', { base: chain }, ['https://n'], '--rpc must be <chain>=<url>'],
    ['a chain with two nodes', { base: chain }, ['base=https://n', 'base=https://m'], 'once for'],
    ['plain http', { base: chain }, ['base=http://n.example'], 'must be https'],
    ['a node that does not answer', { base: chain }, ['base=http://127.0.0.1:9'], 'chain base: '],
    ['a key twice', '{"chains":{},"chains":{}}', [], 'duplicate JSON key'],
    ['a missing field', { base: { ...chain, pool: undefined, rpcUrl: 'https://n' } }, [], 'pool'],
  ])('%s', async (_what, chains, rpcs, message) => {
    await expect(place(chains, rpcs)).rejects.toThrow(message);
    expect(existsSync(join(directory, 'chains.json'))).toBe(false);
  });
});

it('leaves out a chain without a node, keeps one without a pool, and changes no other file', async () => {
  const chains = { solana: { family: 'solana' }, base: chain };
  expect(await place(chains, [])).toEqual({
    path: join(directory, 'chains.json'),
    leftOut: ['base'],
  });
  const written = readFileSync(join(directory, 'chains.json'), 'utf8');
  expect(JSON.parse(written)).toMatchObject({ chains: { solana: { family: 'solana' } } });
  expect(written).not.toContain('base');
  expect((await place(chains, [])).leftOut).toEqual(['base']);
  await expect(place({ stellar: { family: 'stellar' } }, [])).rejects.toMatchObject({
    code: 'file_not_written',
  });
  expect(readFileSync(join(directory, 'chains.json'), 'utf8')).toBe(written);
});
