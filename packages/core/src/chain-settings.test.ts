import { describe, expect, it } from 'vitest';
import { chainsFileSchema } from './chain-settings.ts';
import { parseWire } from './schema.ts';

const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
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

const parse = (chains: unknown) =>
  parseWire(chainsFileSchema, { evidence: { domain: 'd', uri: 'https://d' }, chains }, 'the file');

describe('chainsFileSchema', () => {
  it('reads chains without a pool apart from those with one', () => {
    const chains = { anvil, solana: { family: 'solana' }, base: { family: 'evm' } };
    expect(parse(chains)).toEqual({
      evidence: { domain: 'd', uri: 'https://d' },
      chains: { anvil },
      poolless: { solana: 'solana', base: 'evm' },
    });
    expect(parse({ anvil })).not.toHaveProperty('poolless');
  });

  it.each([
    // A forgotten pool must never pass for a chain that has none.
    ['an EVM chain whose pool was forgotten', { ...anvil, pool: undefined }, 'chains.a.pool'],
    ['an EVM chain with a mistake', { ...anvil, chainId: '1' }, 'chains.a.chainId'],
    ['a mistyped family of full settings', { ...anvil, family: 'emv' }, 'chains.a.family'],
    ['a pool on Solana', { family: 'solana', pool: address }, 'chains.a.pool'],
    ['a pool on Stellar', { family: 'stellar', pool: address }, 'chains.a.pool'],
    ['no family', {}, 'chains.a.family'],
    ['a family that is no name', { family: 'So lana' }, 'chains.a.family'],
    ['no object', 'solana', 'chains.a'],
    ['null', null, 'chains.a'],
  ])('refuses %s, naming it', (_, chain, path) => {
    const settings = JSON.parse(JSON.stringify(chain));
    expect(() => parse({ a: settings })).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`${path}: `) }),
    );
  });
});
