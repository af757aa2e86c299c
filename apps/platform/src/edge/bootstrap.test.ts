// What bootstrap gives to an agent: access to read the pool-gate, and no access to write there.
import { Secret } from '@pool/core';
import { expect, it } from 'vitest';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { type BootstrapSettings, describeBootstrap } from './bootstrap.ts';

const employer = {
  id: '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01',
  address: testSettings.pool,
} as const;
function client(name: string) {
  return { clientId: name, clientSecret: new Secret(`secret-${name}`) };
}
const gate = {
  makesReaders: false,
  url: 'https://gate.example',
  tokenUrl: 'https://gate.example/oauth/token',
  writer: client('writer'),
  reader: client('reader'),
};
const settings: BootstrapSettings = {
  defaultChain: 'anvil',
  chains: { anvil: { ...testSettings, maxRecipients: 1_000 } },
  gate,
  readRelayerHealth: () => undefined,
  findClosed: () => undefined,
};

it('vends the default chain, and the pool-gate with the reading client [bootstrap.vends]', () => {
  const answer = describeBootstrap(employer, settings);
  expect(answer.chain).toBe('anvil');
  expect(answer.gate).toEqual({
    url: 'https://gate.example',
    oauth: {
      tokenUrl: 'https://gate.example/oauth/token',
      clientId: 'reader',
      clientSecret: 'secret-reader',
      scope: 'gate.read',
    },
  });
  expect(JSON.stringify(answer)).not.toContain('writer');
});

it('vends only the gate’s address if agents have their own client, and no gate if there is none', () => {
  const own = describeBootstrap(employer, { ...settings, gate: { ...gate, reader: undefined } });
  expect(own.gate).toEqual({ url: 'https://gate.example' });
  expect(describeBootstrap(employer, { ...settings, gate: undefined })).not.toHaveProperty('gate');
});

it('vends no ceiling above the slots of the largest circuit', () => {
  expect(describeBootstrap(employer, settings).maxRecipients).toEqual({ anvil: 256 });
});
