// The funder's signer at custodian B, over its simulator. The agent's user there may create and read transactions, and nothing else.
import { createCustodianB, createExample } from '@pool/custodians/custodian-b';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseConfig } from '../../config/config.ts';
import { createConfigSource, goodEnvironment } from '../../fixtures/config-world.ts';
import { createFunderProbe } from './custody-probes.ts';

async function openConfig(address?: string): Promise<Parameters<typeof createFunderProbe>[0]> {
  const { config, users, address: own } = createExample();
  const custodian = createCustodianB(config);
  onTestFinished(custodian.close);
  const env = {
    ...goodEnvironment,
    DISBURSE_SIGNER: 'custodian_b',
    DISBURSE_CUSTODIAN_B_URL: await custodian.listen(),
    DISBURSE_CUSTODIAN_B_API_KEY: users.agent.apiKey,
    DISBURSE_CUSTODIAN_B_API_SECRET: users.agent.privateKey.trim().replaceAll('\n', '\\n'),
    DISBURSE_CUSTODIAN_B_VAULT_ACCOUNT: '0',
    DISBURSE_CUSTODIAN_B_ASSET: 'ETH_TEST5',
    DISBURSE_CUSTODIAN_B_ADDRESS: address ?? own,
    DISBURSE_APPROVE_URL: 'http://127.0.0.1:8788',
    DISBURSE_APPROVE_TOKEN: 'token-of-the-intake-of-the-gate',
  };
  return parseConfig(createConfigSource(env), { values: {} });
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
