/**
 * The sandbox with custodian A: its simulator, whose policy requires a vote for every signature, and the gate that votes.
 *
 * @module
 */
import { fileURLToPath } from 'node:url';
import { createSampleOrganisation } from '@pool/custodians/custodian-a';
import { agentScript } from '../processes/agent-process.ts';
import { type Custody, type CustodyPlace, voteLimitSeconds } from './custody-place.ts';
import { startGate } from './gate.ts';
import { createPolicy } from './policy-file.ts';
import { startProvider } from './provider.ts';

const script = fileURLToPath(
  new URL('../../../../tooling/custodians/custodian-a/main.ts', import.meta.url),
);

const funderWallet = 'wa-funder';

function holderWallet(name: string): string {
  return `wa-${name}`;
}

export async function startCustodianA(place: CustodyPlace): Promise<Custody> {
  const { funder, holders } = place;
  const { config, initiator, approver } = createSampleOrganisation({
    [funderWallet]: funder.privateKey,
    ...Object.fromEntries(holders.map(({ name, privateKey }) => [holderWallet(name), privateKey])),
  });
  const url = await startProvider(place, { name: 'custodian-a', script, config });
  const initiators = [initiator.userId];
  const gate = await startGate(place, {
    name: 'approve-a',
    script: agentScript,
    args: ['approve'],
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
    custodianUrl: url,
    gate: gate.process,
    gateHome: gate.home,
  };
}
