// What a holder's agent refuses at its start, before anybody asks for a payment.
import { type ChainsFile, parseEvmAddress } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../config/config.ts';
import { createConfigSource, goodEnvironment } from '../../fixtures/config-world.ts';
import { assertHolderAgrees } from './holder-places.ts';

const pool = parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');
const token = parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512');
const chains: ChainsFile['chains'] = {
  anvil: {
    family: 'evm',
    chainId: 31337,
    rpcUrl: 'http://127.0.0.1:9',
    pool,
    registry: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
    deployedAtBlock: 5,
    finality: { kind: 'depth', blocks: 1 },
    maxRecipients: 3,
    tokens: { USDC: { address: token, decimals: 6 } },
  },
};
const holder = createFakeHolder(1);
const scalar = `0x${holder.viewingKey.toString(16).padStart(64, '0')}`;
const reader = { DISBURSE_BALANCE_TOKEN: 'pool_live_reader' };

function check(variables: Readonly<Record<string, string>>): void {
  const env = { ...goodEnvironment, ...variables };
  assertHolderAgrees(parseConfig(createConfigSource(env), { values: {} }).holder, { chains });
}

describe('the start of a holder’s agent', () => {
  it.each([
    ['a destination that is the pool', { DISBURSE_SEND_DESTINATIONS: `bank=${pool}` }, /bank is/],
    ['a destination that is a token', { DISBURSE_SEND_DESTINATIONS: `bank=${token}` }, /bank is/],
    ['a symbol in another case', { ...reader, DISBURSE_TOKEN_SYMBOL: 'usdc' }, /has USDC/],
  ])('refuses %s', (_, variables, message) => {
    expect(() => check(variables)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringMatching(message),
      }),
    );
  });

  it('refuses a viewing key that does not give the enrolled P', () => {
    const other = createFakeHolder(2).encryptionPublicKey;
    const variables = {
      DISBURSE_HOLDER_VIEWING_KEY: scalar,
      DISBURSE_HOLDER_ENCRYPTION_PUBKEY: other,
    };
    expect(() => check(variables)).toThrow(
      expect.objectContaining({ code: 'viewing_key_mismatch' }),
    );
  });

  it('accepts what agrees', () => {
    expect(() =>
      check({
        ...reader,
        DISBURSE_SEND_DESTINATIONS: `bank=${holder.address}`,
        DISBURSE_HOLDER_VIEWING_KEY: scalar,
        DISBURSE_HOLDER_ENCRYPTION_PUBKEY: holder.encryptionPublicKey,
      }),
    ).not.toThrow();
  });

  it('refuses labels that differ by case only', () => {
    const destinations = `bank=${holder.address},Bank=${holder.address}`;
    expect(() => check({ DISBURSE_SEND_DESTINATIONS: destinations })).toThrow(/entry 2 repeats/);
  });

  it('refuses the document of a viewing key with the P of another one', () => {
    const document = (babyjubjub: string): string =>
      JSON.stringify({ scalar, encryptionPublicKeys: { babyjubjub } });
    const parse = (content: string) =>
      parseConfig(
        createConfigSource(
          { ...goodEnvironment, DISBURSE_HOLDER_VIEWING_KEY_FILE: '/keys/v.json' },
          { '/keys/v.json': content },
        ),
        { values: {} },
      );
    expect(() => parse(document(createFakeHolder(2).encryptionPublicKey))).toThrow(/scalar/);
    expect(() => parse(document(holder.encryptionPublicKey))).not.toThrow();
  });
});
