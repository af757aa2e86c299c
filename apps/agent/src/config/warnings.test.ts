// The warnings of a configuration that starts: one row per rule (README.md, "Configuration").
import { describe, expect, it } from 'vitest';
import { createConfigSource, goodEnvironment } from '../fixtures/config-world.ts';
import { createLayers } from './config.ts';
import { resolveConfig } from './resolve.ts';

const key = `0x${'ab'.repeat(32)}`;

type Env = Readonly<Record<string, string>>;

function resolve(env: Env, files: Env = {}, file: Env = {}) {
  return resolveConfig(
    createLayers(createConfigSource({ ...goodEnvironment, ...env }, files), { values: file }),
  );
}

function messagesOf(remarks: readonly { readonly message: string }[]): string[] {
  return remarks.map(({ message }) => message);
}

describe('warnings', () => {
  const rows: readonly (readonly [string, Env, string])[] = [
    [
      'private key in production',
      { NODE_ENV: 'production', DISBURSE_PROVER: 'mock', DISBURSE_FUNDER_PRIVATE_KEY: key },
      'DISBURSE_FUNDER_PRIVATE_KEY is a private key in a production-flagged environment',
    ],
    [
      'holder key in production',
      { NODE_ENV: 'production', DISBURSE_PROVER: 'mock', DISBURSE_HOLDER_PRIVATE_KEY: key },
      'DISBURSE_HOLDER_PRIVATE_KEY is a private key in a production-flagged environment',
    ],
    [
      'ed25519 holder key in production',
      { NODE_ENV: 'production', DISBURSE_PROVER: 'mock', DISBURSE_HOLDER_ED25519_KEY: key },
      'DISBURSE_HOLDER_ED25519_KEY is a private key in a production-flagged environment',
    ],
    [
      'no production keys in production',
      { NODE_ENV: 'production' },
      'DISBURSE_ARTIFACTS_MANIFEST is not set',
    ],
    [
      'no ceiling for transfers',
      { DISBURSE_TRANSFER_TOKEN: 'pool_live_a' },
      'DISBURSE_TRANSFER_MAX_AMOUNT is not set',
    ],
    ['no ceiling for sends', { DISBURSE_SEND_TOKEN: 'pool_live_a' }, 'DISBURSE_SEND_MAX_AMOUNT is'],
    [
      'ed25519 key',
      { DISBURSE_FUNDER_ED25519_KEY: key },
      'DISBURSE_FUNDER_ED25519_KEY pays nothing',
    ],
    [
      'client without gate',
      { POOL_GATE_OAUTH_CLIENT_SECRET: 'k' },
      'POOL_GATE_OAUTH_CLIENT_SECRET has no effect without DISBURSE_POOL_GATE_URL',
    ],
    [
      'custody',
      { DISBURSE_CUSTODIAN_A_SERVICE_TOKEN: 'k' },
      'DISBURSE_CUSTODIAN_A_SERVICE_TOKEN has no effect',
    ],
    [
      'swapped letters',
      { DISBURSE_PLATFROM_TOKEN: 'k' },
      'DISBURSE_PLATFROM_TOKEN is not a variable of this agent and has no effect; did you mean DISBURSE_PLATFORM_TOKEN?',
    ],
    ['lower case', { disburse_chain: 'k' }, 'did you mean DISBURSE_CHAIN?'],
    ['letter missing', { POOL_GATE_OAUTH_SCOP: 'k' }, 'did you mean POOL_GATE_OAUTH_SCOPE?'],
    ['no file form', { DISBURSE_PORT_FILE: '/k' }, 'DISBURSE_PORT_FILE is not a variable'],
  ];

  it.each(rows)(
    '%s [variable.funder-key-warning, variable.without-effect, variable.funder-ed25519, variable.ceilings-form]',
    (_title, env, expected) => {
      const { config, warnings } = resolve(env);
      expect(messagesOf(warnings)).toEqual([expect.stringContaining(expected)]);
      expect(config?.warnings).toEqual(warnings);
    },
  );

  it('prints no warning for valid, empty or foreign variables', () => {
    expect(
      resolve(
        {
          PATH: '/bin',
          DISBURSE_UNKNOWN: '',
          DISBURSE_FUNDER_PRIVATE_KEY: key,
          DISBURSE_SEND_TOKEN_FILE: '/token',
          DISBURSE_SEND_MAX_AMOUNT: '5',
        },
        { '/token': 'pool_live_a' },
      ).warnings,
    ).toEqual([]);
  });

  it('warns of the configuration file too, and suggests nothing if no name is close', () => {
    const { warnings } = resolve({}, {}, { DISBURSE_COFFEE_MACHINE: 'on' });
    expect(messagesOf(warnings)).toEqual([
      'DISBURSE_COFFEE_MACHINE is not a variable of this agent and has no effect',
    ]);
  });
});
