/**
 * Starts the custody of keys: each kind starts the processes that it needs, and answers with the variables of the agents that use it.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { PoolError } from '@pool/core';
import { createSampleOrganisation } from '@pool/custodians/custodian-a';
import { createExample } from '@pool/custodians/custodian-b';
import type { FunderKind } from '@pool/signers';
import { findFreePorts } from '@pool/testkit';
import { agentScript } from '../processes/agent-process.ts';
import type { Custody, CustodyPlace, SignerKind } from './custody-place.ts';
import { voteLimitSeconds } from './custody-place.ts';
import { startEnclaves } from './enclave.ts';
import { startGate, startProvider } from './gate.ts';
import { createPolicy } from './policy-file.ts';

// The sandbox with custodian B: its simulator, whose co-signer asks the gate before it signs, and the gate that answers.

const custodianBScript = fileURLToPath(
  new URL('../../../../tooling/custodians/custodian-b/main.ts', import.meta.url),
);
const gateScript = fileURLToPath(new URL('../../../approve/src/main.ts', import.meta.url));

const vaultAccount = '7';
const asset = 'ETH_TEST5';

async function startCustodianB(place: CustodyPlace): Promise<Custody> {
  const [port = 0, gatePort = 0] = await findFreePorts(2);
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
  const custodian = await startProvider(place, {
    name: 'custodian-b',
    script: custodianBScript,
    port,
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
      APPROVE_CUSTODIAN_B_URL: custodian.url,
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
      DISBURSE_CUSTODIAN_B_URL: custodian.url,
      DISBURSE_CUSTODIAN_B_API_KEY: users.agent.apiKey,
      DISBURSE_CUSTODIAN_B_API_SECRET: users.agent.privateKey,
      DISBURSE_CUSTODIAN_B_VAULT_ACCOUNT: vaultAccount,
      DISBURSE_CUSTODIAN_B_ASSET: asset,
      DISBURSE_CUSTODIAN_B_ADDRESS: place.funder.address,
      DISBURSE_VOTE_LIMIT_SECONDS: String(voteLimitSeconds),
      ...gate.agentVariables,
    },
    holder: undefined,
    custodian,
    gate: gate.service,
    gateHome: gate.home,
  };
}

// The sandbox with custodian A: its simulator, whose policy requires a vote for every signature, and the gate that votes.

const custodianAScript = fileURLToPath(
  new URL('../../../../tooling/custodians/custodian-a/main.ts', import.meta.url),
);

const funderWallet = 'wa-funder';

function holderWallet(name: string): string {
  return `wa-${name}`;
}

async function startCustodianA(place: CustodyPlace): Promise<Custody> {
  const { funder, holders } = place;
  const [port = 0, gatePort = 0] = await findFreePorts(2);
  const { config, initiator, approver } = createSampleOrganisation({
    [funderWallet]: funder.privateKey,
    ...Object.fromEntries(holders.map(({ name, privateKey }) => [holderWallet(name), privateKey])),
  });
  const secret = randomBytes(32).toString('hex');
  const webhook = {
    id: 'wh-gate',
    url: `http://127.0.0.1:${gatePort}/v1/webhooks/custodian-a`,
    secret,
    events: ['policy.approval.pending'],
  };
  const custodian = await startProvider(place, {
    name: 'custodian-a',
    script: custodianAScript,
    port,
    config: { ...config, webhooks: [webhook] },
  });
  const { url } = custodian;
  const initiators = [initiator.userId];
  const gate = await startGate(place, {
    name: 'approve-a',
    script: agentScript,
    args: ['approve'],
    port: gatePort,
    policy: createPolicy(place, {
      funder: { wallets: [funderWallet], initiators },
      holders: holders.map((holder) => ({
        holder,
        ids: { wallets: [holderWallet(holder.name)], initiators },
      })),
      isDeterministic: false,
    }),
    custodian: {
      APPROVE_CUSTODIAN: 'custodian_a',
      APPROVE_CUSTODIAN_A_URL: url,
      APPROVE_CUSTODIAN_A_ORIGIN: config.origin ?? url,
      APPROVE_CUSTODIAN_A_SERVICE_TOKEN: approver.token,
      APPROVE_CUSTODIAN_A_CREDENTIAL_ID: approver.credentialId,
      APPROVE_CUSTODIAN_A_SERVICE_KEY: approver.privateKey,
      APPROVE_CUSTODIAN_A_USER_ID: approver.userId,
      APPROVE_CUSTODIAN_A_WEBHOOK_SECRET: secret,
      APPROVE_CUSTODIAN_A_POLL_SECONDS: '1',
    },
  });
  const connection = {
    DISBURSE_CUSTODIAN_A_URL: url,
    DISBURSE_CUSTODIAN_A_ORIGIN: config.origin ?? url,
    DISBURSE_CUSTODIAN_A_SERVICE_TOKEN: initiator.token,
    DISBURSE_CUSTODIAN_A_CREDENTIAL_ID: initiator.credentialId,
    DISBURSE_CUSTODIAN_A_SERVICE_KEY: initiator.privateKey,
    ...gate.agentVariables,
  };
  return {
    kind: 'custodian_a',
    funder: {
      DISBURSE_SIGNER: 'custodian_a',
      ...connection,
      DISBURSE_CUSTODIAN_A_WALLET_ID: funderWallet,
      DISBURSE_CUSTODIAN_A_ADDRESS: funder.address,
      DISBURSE_VOTE_LIMIT_SECONDS: String(voteLimitSeconds),
    },
    holder: (name) => ({
      DISBURSE_HOLDER_SIGNER: 'custodian_a',
      ...connection,
      DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID: holderWallet(name),
      DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB:
        holders.find((holder) => holder.name === name)?.walletPub ?? '',
      DISBURSE_HOLDER_VOTE_LIMIT_SECONDS: '300',
    }),
    custodian,
    gate: gate.service,
    gateHome: gate.home,
  };
}

/** By signer. One without a simulator is not offered. */
const starters: Readonly<Partial<Record<FunderKind, (place: CustodyPlace) => Promise<Custody>>>> = {
  enclave: startEnclaves,
  custodian_a: startCustodianA,
  custodian_b: startCustodianB,
};

export const signerKinds = ['local-key', ...Object.keys(starters)] as readonly SignerKind[];

/** Starts the custodian, its gate or the enclaves, and resolves when they answer. */
export async function startCustody(kind: FunderKind, place: CustodyPlace): Promise<Custody> {
  const start = starters[kind];
  if (start === undefined) {
    throw new PoolError('internal_error', `the sandbox has no simulator of ${kind}`);
  }
  return await start(place);
}
