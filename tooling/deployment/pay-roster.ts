// What a deployment must show, wherever its processes run: an employer registers, payees enrol, an agent pays a roster with a proof that
// another process made, the pool on chain has the sum, and each payee opens the amount of the roster.
import { randomBytes } from 'node:crypto';
import { readData } from '@pool/testkit';
import type { DeployedChain } from '../../apps/sandbox/src/chain/local-chain.ts';
import { chainKey } from '../../apps/sandbox/src/chain/local-chain.ts';
import { deriveHolder, enrolHolders, openSession } from '../../apps/sandbox/src/chain/people.ts';
import { deriveEmployerKey, deriveHolderKey } from '../../apps/sandbox/src/chain/sandbox-keys.ts';
import { fetchPoolBalance } from '../../apps/sandbox/src/demo/chain-facts.ts';
import { readAllReceivedNotes } from '../../apps/sandbox/src/demo/received-notes.ts';
import type { Environment } from '../../apps/sandbox/src/processes/env-file.ts';

export interface Deployment {
  /** As everybody reaches it, and as the sign-in text names it. */
  readonly platformUrl: string;
  /** As this process reaches the chain. */
  readonly rpcUrl: string;
  readonly deployed: DeployedChain;
  /** Runs a command of `platform` where the platform runs. @returns its standard output */
  runPlatform(args: readonly string[]): Promise<string>;
  /** Starts the agent with these variables, and a prover, and waits until the agent accepts payments. */
  startAgent(variables: Environment): Promise<void>;
  /** Runs `disburse-agent` where the agent runs. @returns its standard output. Throws if it fails */
  runAgent(args: readonly string[], input?: string): Promise<string>;
  /** The whole log of the process that made the proof. */
  readProverLog(): Promise<string>;
}

const payees = [
  { tokens: '4250', units: 4_250_000_000n },
  { tokens: '3980.500001', units: 3_980_500_001n },
  { tokens: '0.000017', units: 17n },
] as const;
const token = 'USDC';

/** @returns what was shown. Throws if anything else happened. */
export async function payRoster(deployment: Deployment): Promise<string> {
  const { platformUrl, deployed, rpcUrl } = deployment;
  const place = { platformUrl };
  const employerKey = deriveEmployerKey();
  await openSession(employerKey, place);
  const employer = await deriveHolder(employerKey, place);
  const answer = await deployment.runPlatform([
    ...['edge-token', 'create', '--address', employer.address],
  ]);
  const { token: edgeToken } = JSON.parse(answer) as { readonly token: string };
  const holders = await enrolHolders(
    payees.map((_, index) => deriveHolderKey(index)),
    place,
  );
  await deployment.startAgent({
    DISBURSE_PLATFORM_URL: `${platformUrl}/agent-edge`,
    DISBURSE_PLATFORM_TOKEN: edgeToken,
    DISBURSE_PLATFORM_VERIFY_URL: `${platformUrl}/api/employers/verify-key`,
    DISBURSE_CHAIN: chainKey,
    DISBURSE_FINGERPRINT_KEY: `0x${randomBytes(32).toString('hex')}`,
    DISBURSE_FUNDER_PRIVATE_KEY: employer.privateKey,
  });
  const lines = holders.map(({ address }, index) => `${address},${payees[index]?.tokens}`);
  const paid = await deployment.runAgent(
    ['disburse', '--file', '-', '--pay-run', 'first', '--decimal', '--yes', '--json'],
    `address,amount\n${lines.join('\n')}\n`,
  );
  const { job } = readData(paid) as { readonly job: { readonly state: string } };
  if (job.state !== 'done') throw new Error(`the job is ${job.state}: ${paid}`);
  if (!(await deployment.readProverLog()).includes('"proved"')) {
    throw new Error('the prover made no proof');
  }
  const balance = await fetchPoolBalance({ ...deployed, rpcUrl }, token);
  const total = payees.reduce((sum, { units }) => sum + units, 0n);
  if (balance !== total) throw new Error(`the pool has ${balance}, the roster ${total}`);
  const found = await readAllReceivedNotes(
    { ...deployed, platformUrl, chain: chainKey },
    holders,
    token,
  );
  const opened = found.map((notes) => notes.map(({ amount }) => amount).join(' '));
  const expected = payees.map(({ units }) => units);
  if (opened.join() !== expected.join()) {
    throw new Error(`the payees opened ${opened.join(', ')} instead of ${expected.join(', ')}`);
  }
  return `${payees.length} payees were paid ${total} base units in one batch, and opened their amounts`;
}
