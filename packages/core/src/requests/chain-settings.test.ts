import { describe, expect, it } from 'vitest';
import { chainsFileSchema } from './chain-settings.ts';
import { parseWire } from './schema.ts';

const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const mistyped = address.replace('F', 'f');
const anvil = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:8545',
  pool: address,
  registry: address,
  deployedAtBlock: 0,
  finality: { kind: 'finalized-tag' },
  maxRecipients: 64,
  tokens: { USDC: { address, decimals: 6 } },
};

function parse(chains: unknown) {
  return parseWire(
    chainsFileSchema,
    { evidence: { domain: 'd', uri: 'https://d' }, chains },
    'the file',
  );
}

describe('chainsFileSchema', () => {
  it('separates chains with a pool from chains without one', () => {
    const chains = { anvil, solana: { family: 'solana' }, base: { family: 'evm' } };
    expect(parse(chains)).toEqual({
      evidence: { domain: 'd', uri: 'https://d' },
      chains: { anvil },
      addressOnlyChains: { solana: 'solana', base: 'evm' },
    });
    expect(parse({ anvil })).not.toHaveProperty('addressOnlyChains');
  });

  it('reads addresses into checksum form', () => {
    const lower = address.toLowerCase();
    const tokens = { USDC: { address: lower, decimals: 6 } };
    expect(parse({ anvil: { ...anvil, pool: lower, registry: lower, tokens } })).toMatchObject({
      chains: { anvil },
    });
  });

  it.each([
    ['pool', { pool: mistyped }],
    ['registry', { registry: mistyped }],
    ['tokens.USDC.address', { tokens: { USDC: { address: mistyped, decimals: 6 } } }],
    ['pool', { pool: `0x${'0'.repeat(40)}` }],
  ])('refuses a wrong checksum and the zero address: %s', (path, change) => {
    const reason = `the file is malformed: chains.anvil.${path}: must be an EVM address with a correct checksum (or in lower case), and not the zero address`;
    expect(() => parse({ anvil: { ...anvil, ...change } })).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: reason }),
    );
  });

  it.each([
    // A missing pool must not be treated as a chain without a pool.
    ['an EVM chain whose pool was forgotten', { ...anvil, pool: undefined }, 'chains.a.pool'],
    ['an EVM chain with a mistake', { ...anvil, chainId: '1' }, 'chains.a.chainId'],
    ['a mistyped family of full settings', { ...anvil, family: 'emv' }, 'chains.a.family'],
    ['a pool on Solana', { family: 'solana', pool: address }, 'chains.a.pool'],
    ['a pool on Stellar', { family: 'stellar', pool: address }, 'chains.a.pool'],
    ['no family', {}, 'chains.a.family'],
    ['a family that is not a name', { family: 'So lana' }, 'chains.a.family'],
    ['no object', 'solana', 'chains.a'],
    ['null', null, 'chains.a'],
  ])('refuses %s by name', (_, chain, path) => {
    const settings = JSON.parse(JSON.stringify(chain));
    expect(() => parse({ a: settings })).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`${path}: `) }),
    );
  });
});
