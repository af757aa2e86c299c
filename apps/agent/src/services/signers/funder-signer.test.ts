// The funder's signer at custodian B, over its simulator. The agent's user there may create and read transactions, and nothing else.
import { parseEvmAddress, Secret } from '@pool/core';
import { createCustodianB, createExample } from '@pool/custodians/custodian-b';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFunderProbe } from './funder-signer.ts';

async function openConfig(address?: string): Promise<Parameters<typeof createFunderProbe>[0]> {
  const { config, users, address: own } = createExample();
  const custodian = createCustodianB(config);
  onTestFinished(custodian.close);
  return {
    chain: undefined,
    funderPrivateKey: undefined,
    isProduction: false,
    remoteFunder: {
      kind: 'custodian_b',
      url: await custodian.listen(),
      apiKey: new Secret(users.agent.apiKey),
      apiSecret: new Secret(users.agent.privateKey),
      vaultAccountId: '0',
      assetId: 'ETH_TEST5',
      address: parseEvmAddress(address ?? own),
      approve: { url: 'http://127.0.0.1:8788', token: new Secret('token-of-the-intake') },
    },
  };
}

const chainsFile = {
  chains: {},
  evidence: { domain: 'pool.example', uri: 'https://pool.example' },
} as ReturnType<Parameters<typeof createFunderProbe>[1]>;

describe('the probe of a funder at custodian B', () => {
  it('needs no rights over keys', async () => {
    expect(await createFunderProbe(await openConfig(), () => chainsFile)()).toMatchObject({
      ok: true,
      detail: { kind: 'custodian_b' },
    });
  });

  it('fails if the account has another address than the configured one', async () => {
    const config = await openConfig('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
    await expect(createFunderProbe(config, () => chainsFile)()).rejects.toMatchObject({
      code: 'custodian_misconfigured',
    });
  });
});
