/**
 * The sandbox with custodian B: its simulator, whose co-signer asks the gate before it signs, and the gate that answers.
 *
 * @module
 */
import { fileURLToPath } from 'node:url';
import { createExample } from '@pool/custodians/custodian-b';
import { findFreePorts } from '@pool/testkit';
import { type Custody, type CustodyPlace, voteLimitSeconds } from './custody-place.ts';
import { startGate } from './gate.ts';
import { createPolicy } from './policy-file.ts';
import { startProvider } from './provider.ts';

const script = fileURLToPath(
  new URL('../../../../tooling/custodians/custodian-b/main.ts', import.meta.url),
);
const gateScript = fileURLToPath(new URL('../../../approve/src/main.ts', import.meta.url));

const vaultAccount = '7';
const asset = 'ETH_TEST5';

export async function startCustodianB(place: CustodyPlace): Promise<Custody> {
  const [gatePort = 0] = await findFreePorts(1);
  const callbackUrl = `http://127.0.0.1:${gatePort}`;
  const settings = place.chains.chains[place.chain];
  const example = createExample({
    vaultAccounts: [{ id: vaultAccount, privateKey: place.funder.privateKey, assets: [asset] }],
    chains:
      settings?.family === 'evm'
        ? { [asset]: { rpcUrl: settings.rpcUrl, chainId: settings.chainId } }
        : {},
    // Three minutes between two questions become 1.8 seconds.
    timeScale: 100,
  });
  const { config, users, handlerKeys, cosignerPublicKey } = example;
  const { cosigner } = config;
  const url = await startProvider(place, {
    name: 'custodian-b',
    script,
    config: {
      ...config,
      cosigner: { ...cosigner, callback: { url: callbackUrl, publicKey: handlerKeys.publicKey } },
    },
  });
  const gate = await startGate(place, {
    name: 'approve-b',
    script: gateScript,
    args: [],
    port: gatePort,
    policy: createPolicy(place, {
      funder: { wallets: [vaultAccount], initiators: [users.agent.apiKey] },
      holders: [],
      isDeterministic: false,
    }),
    custodian: {
      APPROVE_CUSTODIAN: 'custodian_b',
      APPROVE_CUSTODIAN_B_URL: url,
      APPROVE_CUSTODIAN_B_API_KEY: users.gate.apiKey,
      APPROVE_CUSTODIAN_B_API_SECRET: users.gate.privateKey,
      APPROVE_CUSTODIAN_B_CALLBACK_URL: callbackUrl,
      APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY: handlerKeys.privateKey,
      APPROVE_CUSTODIAN_B_COSIGNER_PUBLIC_KEY: cosignerPublicKey,
      APPROVE_CUSTODIAN_B_SIGNER_ID: cosigner.signerId,
      APPROVE_CUSTODIAN_B_COSIGNER_ID: cosigner.id,
    },
  });
  return {
    kind: 'custodian_b',
    funder: {
      DISBURSE_SIGNER: 'custodian_b',
      DISBURSE_CUSTODIAN_B_URL: url,
      DISBURSE_CUSTODIAN_B_API_KEY: users.agent.apiKey,
      DISBURSE_CUSTODIAN_B_API_SECRET: users.agent.privateKey,
      DISBURSE_CUSTODIAN_B_VAULT_ACCOUNT: vaultAccount,
      DISBURSE_CUSTODIAN_B_ASSET: asset,
      DISBURSE_CUSTODIAN_B_ADDRESS: place.funder.address,
      DISBURSE_VOTE_LIMIT_SECONDS: String(voteLimitSeconds),
      ...gate.agentVariables,
    },
    holder: undefined,
    custodianUrl: url,
    gate: gate.process,
    gateHome: gate.home,
  };
}
