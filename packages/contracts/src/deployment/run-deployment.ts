/**
 * Creates the contracts of a plan one after another. It can be killed at any point and run again: each signed transaction is in the
 * state file before it is sent, and what the chain has already is compared and never created again.
 *
 * @module
 */
import { PoolError, parseEvmAddress } from '@pool/core';
import { askChain, broadcastTransaction, fetchFees, raiseFees, readFees } from '@pool/evm-sender';
import {
  id,
  type JsonRpcProvider,
  Transaction,
  type TransactionReceipt,
  type Wallet,
  ZeroHash,
} from 'ethers';
import { connectEligibilityRegistry } from '../calls/eligibility-registry.ts';
import { connectShieldedPool } from '../calls/shielded-pool.ts';
import { findPoolDifference } from '../code/compare-pool.ts';
import type { CircuitKeys } from '../code/pinned-keys.ts';
import type { DeploymentTerms, PlannedContract } from './deployment-plan.ts';
import type { DeploymentState } from './deployment-state.ts';

export type DeploymentRun = {
  readonly provider: JsonRpcProvider;
  readonly wallet: Wallet;
  readonly plan: readonly PlannedContract[];
  readonly state: DeploymentState;
  readonly onStep: (text: string) => void;
  /** Between two looks at the chain. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** The longest wait for one transaction, in milliseconds. */
  readonly waitMs: number;
};

const pollMs = 1_000;
const marginPercent = 120n;

/** @returns the block of the pool. @throws PoolError `deployment_differs`, `deployment_failed`, `chain_unreachable` */
export async function runDeployment(run: DeploymentRun): Promise<number> {
  let block = 0;
  for (const contract of run.plan) {
    block = await ensureContract(run, contract);
    run.onStep(`${contract.name} ${contract.address}: the chain has the planned code`);
  }
  return block;
}

/** @returns the block in which it was created */
async function ensureContract(run: DeploymentRun, contract: PlannedContract): Promise<number> {
  const { provider, state, wallet } = run;
  const found = await readCode(run, contract);
  const known = state.read(contract.name);
  if (found === 'planned' && known.length === 0) {
    throw differs(
      contract,
      'has the planned code, and the state file does not know its transaction; use the state file of the run that created it',
    );
  }
  if (found === 'planned') return await waitUntilMined(run, contract);
  const nonce = await askChain(() => provider.getTransactionCount(wallet.address, 'latest'));
  if (nonce > contract.nonce) {
    // One of them failed, or was mined since the code was read.
    if ((await findReceipt(run, contract)) !== undefined)
      return await waitUntilMined(run, contract);
    throw differs(
      contract,
      `has no code, and the deployer has used nonce ${contract.nonce} for something else; deploy from another account`,
    );
  }
  const raw = await signCreation(run, contract, known[0]);
  state.add(contract.name, raw);
  run.onStep(`${contract.name} ${contract.address}: sending ${Transaction.from(raw).hash}`);
  const outcome = await askChain(() => broadcastTransaction(provider, raw));
  if (outcome.kind !== 'sent') {
    const why =
      outcome.kind === 'unfunded' ? 'the deployer cannot pay for it' : 'the node refuses it';
    throw new PoolError(
      'deployment_failed',
      `${contract.name} was not sent: ${why}. Run the command again.`,
      {
        cause: outcome.cause,
      },
    );
  }
  return await waitUntilMined(run, contract);
}

/** The same bytes as before, unless the fees of the chain have risen above theirs. */
async function signCreation(
  { provider, wallet }: DeploymentRun,
  { initCode, nonce }: PlannedContract,
  known: string | undefined,
): Promise<string> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await askChain(() => fetchFees(provider));
  const before = known === undefined ? undefined : readFees(known);
  if (known !== undefined && before !== undefined && before.maxFeePerGas >= maxFeePerGas) {
    return known;
  }
  const asked = { maxFeePerGas, maxPriorityFeePerGas };
  const gas = await askChain(() => provider.estimateGas({ from: wallet.address, data: initCode }));
  return await wallet.signTransaction({
    type: 2,
    chainId: (await provider.getNetwork()).chainId,
    nonce,
    data: initCode,
    gasLimit: (gas * marginPercent) / 100n,
    ...(before === undefined ? asked : raiseFees(before, asked)),
  });
}

async function readCode(
  { provider }: DeploymentRun,
  contract: PlannedContract,
): Promise<'none' | 'planned'> {
  const code = (await askChain(() => provider.getCode(contract.address))).toLowerCase();
  if (code === '0x') return 'none';
  if (code === contract.runtimeCode) return 'planned';
  throw differs(contract, 'has other code than the planned one');
}

async function waitUntilMined(run: DeploymentRun, contract: PlannedContract): Promise<number> {
  for (let waited = 0; waited <= run.waitMs; waited += pollMs) {
    const receipt = await findReceipt(run, contract);
    if (receipt !== undefined) {
      if (receipt.status !== 1 || (await readCode(run, contract)) === 'none') {
        throw new PoolError(
          'deployment_failed',
          `${contract.name} was not created: transaction ${receipt.hash} failed.`,
        );
      }
      return receipt.blockNumber;
    }
    await run.sleep(pollMs);
  }
  const hashes = listHashes(run, contract).join(', ');
  throw new PoolError(
    'deployment_failed',
    `${contract.name}: none of its transactions is mined yet (${hashes}). Run the command again: it continues there.`,
  );
}

/** Of whichever transaction was mined: an earlier one with lower fees can be, as well as the newest. */
async function findReceipt(
  run: DeploymentRun,
  contract: PlannedContract,
): Promise<TransactionReceipt | undefined> {
  for (const hash of listHashes(run, contract)) {
    const receipt = await askChain(() => run.provider.getTransactionReceipt(hash));
    if (receipt !== null) return receipt;
  }
  return undefined;
}

function listHashes({ state }: DeploymentRun, { name }: PlannedContract): string[] {
  return state.read(name).map((raw) => Transaction.from(raw).hash ?? ZeroHash);
}

/**
 * The whole pool as agents will compare it, and its roles.
 * @throws PoolError `deployment_differs`
 */
export async function verifyDeployment(
  provider: JsonRpcProvider,
  plan: readonly PlannedContract[],
  terms: DeploymentTerms,
  keys: CircuitKeys,
): Promise<void> {
  const addressOf = (name: string) =>
    parseEvmAddress(plan.find((contract) => contract.name === name)?.address ?? '');
  const place = {
    chainId: terms.chainId,
    pool: addressOf('pool'),
    registry: addressOf('registry'),
  };
  const difference = await findPoolDifference(provider, place, keys);
  if (difference !== undefined) throw new PoolError('deployment_differs', `${difference}.`);
  const pool = connectShieldedPool(place.pool, provider);
  const registry = connectEligibilityRegistry(place.registry, provider);
  const roles = [
    ['admin of the pool', pool, ZeroHash, terms.admin],
    ['guardian', pool, id('GUARDIAN_ROLE'), terms.guardian],
    ['relayer', pool, id('RELAYER_ROLE'), terms.relayer],
    ['admin of the registry', registry, ZeroHash, terms.admin],
    ['gate', registry, id('PUBLISHER_ROLE'), terms.gate],
  ] as const;
  for (const [name, contract, role, account] of roles) {
    if (!(await askChain(() => contract.hasRole(role, account)))) {
      throw new PoolError('deployment_differs', `${account} is not the ${name} any more.`);
    }
  }
}

function differs({ name, address }: PlannedContract, text: string): PoolError {
  return new PoolError(
    'deployment_differs',
    `${name} at ${address} ${text}. Nothing was sent again.`,
  );
}
