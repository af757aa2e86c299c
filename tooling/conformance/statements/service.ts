// The contract's first part: the participants, and the definition of a disbursement.
import { section, shown } from '../statement.ts';
import {
  access,
  agentConfig,
  balanceStack,
  canary,
  checks,
  deployment,
  edgeRoutes,
  employerRoutes,
  fundBatch,
  holderHistory,
  hostileSettlements,
  lies,
  localKey,
  onboardedHolder,
  pipeline,
  poolDeployment,
  prover,
  readOnlyHolder,
  sandbox,
  settlementFlow,
  settlementProofs,
  spendCircuit,
  spending,
  spendStack,
} from '../test-files.ts';

export const service = section('What the service does', [
  [
    'service.pays-many',
    'A funder pays many recipients from one shielded pool in one call.',
    shown(deployment('pays a roster, and every recipient opens exactly its own note')),
  ],
  [
    'service.edge-is-authenticated',
    'The agent reaches the platform through `/agent-edge` alone, which requires a live edge token.',
    shown(
      edgeRoutes(
        'refuses a caller without a live edge token',
        'refuses a %s key at every route of agents',
      ),
      access('checks the capability again at the edge'),
    ),
  ],
  [
    'service.prover-on-accelerator',
    'The agent proves on a graphics device if there is one.',
    shown(
      prover('the accelerator > webgpu is a real device or an error; auto then uses the processor'),
    ),
  ],
  [
    'service.no-keys-by-default',
    'By default the agent holds no private key.',
    shown(agentConfig('requires the platform only, and has the documented defaults')),
  ],
  [
    'service.roles-as-commands-and-routes',
    'The disbursement role runs as a command and as HTTP routes of one process.',
    shown(
      sandbox('also pays a roster by the agent’s own command, and reports the allowance'),
      deployment('pays a roster, and every recipient opens exactly its own note'),
    ),
  ],
  [
    'service.headless-prove',
    'Proving builds a commitment for each recipient and one funding proof, with no person present.',
    shown(pipeline('pays three people in one batch and reports what was paid')),
  ],
  [
    'service.gate-before-proof',
    'Each recipient’s eligibility is confirmed with the pool-gate before anything is proved.',
    shown(
      pipeline(
        'proves nothing for a root that the chain does not accept',
        'proves nothing along a path that does not lead to the root of the gate',
        'fails with unregistered-recipient when a wallet loses its place before the proof',
      ),
    ),
  ],
  [
    'service.funder-signs',
    'The configured funder signer authorises the batch; no browser wallet is asked.',
    shown(localKey('the local key makes the same signatures as ethers > a fund authorisation')),
  ],
  [
    'service.relayer-verifies',
    'The platform verifies proof and state before it sends `fund()`.',
    shown(
      settlementProofs(
        'is refused when its number %i is changed, and nothing is stored or simulated',
        'is verified for a request that came through HTTP',
      ),
      hostileSettlements(
        'that its funder did not sign is not stored, and does not block the signed one',
      ),
      settlementFlow(
        'sends nothing that the simulation refuses, and accepts a fresh proof for the same authorisation',
      ),
    ),
  ],
  [
    'service.dual-signature',
    'On chain `fund()` requires both the relayer’s signature and the funder’s.',
    shown(
      poolDeployment('gives each role to its address and to no other'),
      lies('pays exactly what the funder signed, for every change by the relayer'),
    ),
  ],
  [
    'service.nothing-private-on-chain',
    'The chain contains opaque commitments and a proof: no recipient, and no recipient’s amount.',
    shown(
      sandbox('leaves no recipient and no recipient’s amount in the transaction'),
      fundBatch('hides how many slots are filled: all sealed notes have the same form'),
    ),
  ],
  [
    'service.exact-allowance',
    'If the pool’s allowance is insufficient, the agent itself grants exactly the amount of the batch.',
    shown(
      pipeline(
        'approves exactly the total if the token has no permit',
        'sets the allowance to zero first if the token requires it',
      ),
      deployment('approves a token without permit for exactly the total, zero first'),
    ),
  ],
  [
    'service.account-operations',
    'Enrolment, balance, transfer and send work without a browser, each under its own credential.',
    shown(
      onboardedHolder('enrols the holder in its own session, and writes credentials that work'),
      balanceStack('is what the holder was paid, in whichever batch'),
      spendStack(
        'transfers to two holders in one spend, and one key is one spend',
        'withdraws to a pinned label, and the token arrives there',
        'refuses what it cannot or may not pay, before anything is proved',
      ),
    ),
  ],
  [
    'service.notes-open-by-p-alone',
    'A note opens with the private half of the P it was sealed to, and with no other key.',
    shown(fundBatch('lets each recipient of "$manifest.jobKey" open only its own note')),
  ],
  [
    'service.viewing-key-moves-nothing',
    'The viewing key reveals balance and history and authorises no spend.',
    shown(
      spending('a signature > of another wallet is refused and not stored'),
      spendCircuit('refuses a thief with the viewing key and a wallet of its own'),
      readOnlyHolder('signs nothing'),
      balanceStack('is read by an agent with W and the viewing key alone, which cannot spend'),
      holderHistory('has UTC times, amounts with the balance after each, and the memo as it is'),
    ),
  ],
  [
    'service.employer-first',
    'An employer account is a precondition: enrolment does not create one.',
    shown(employerRoutes('onboard > requires an employer account first')),
  ],
  [
    'service.recipients-are-listed',
    'Only a recipient on the eligibility list is paid.',
    shown(
      checks('registration > refuses %s'),
      deployment('refuses a recipient who is not enrolled before anything is proved'),
    ),
  ],
  [
    'service.secrets-stay',
    'No credential or key appears in an answer, a log or a file.',
    shown(
      canary('prints, answers and stores no secret'),
      deployment('keeps every secret out of every log and every job'),
    ),
  ],
]);
