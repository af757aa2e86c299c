/**
 * The scene of the gas figures: a pool after 1,000 batches on a fresh development chain, and real
 * transactions with the real proofs of vectors/fund-proofs.json. A figure is the gas of the receipt: base
 * cost, calldata and refunds included.
 */
import { readFileSync } from 'node:fs';
import type { FundCircuit } from '@pool/core';
import {
  ContractFactory,
  HDNodeWallet,
  id,
  type JsonRpcProvider,
  NonceManager,
  Wallet,
} from 'ethers';
import { connectEligibilityRegistry } from '../../src/calls/eligibility-registry.ts';
import { connectErc20 } from '../../src/calls/erc20.ts';
import {
  connectShieldedPool,
  type FundBatch,
  type Groth16Proof,
  noPermit,
} from '../../src/calls/shielded-pool.ts';
import { deployPoolTestToken, mintTestToken } from '../../src/calls/test-tokens.ts';
import { parsePoolEvent } from '../../src/chain/pool-leaves.ts';
import { deployPool, type PoolAddresses } from '../../src/deployment/deploy.ts';
import { publicBatchTransferArtifact } from './generated/public-batch-transfer.ts';
import { writeTree } from './tree-state.ts';

const settledBatches = 1000;

/** One batch of vectors/fund-proofs.json. */
export type ProofVector = {
  readonly circuit: FundCircuit;
  readonly batch: Omit<FundBatch, 'total' | 'deadline'> & {
    readonly total: string;
    readonly deadline: number;
  };
  readonly proof: Groth16Proof;
  readonly funderSignature: string;
};
type ProofVectors = {
  readonly deployer: string;
  readonly pool: string;
  readonly batches: readonly ProofVector[];
};

const vectorsUrl = new URL('../../../../vectors/fund-proofs.json', import.meta.url);
const vectors = JSON.parse(readFileSync(vectorsUrl, 'utf8')) as ProofVectors;

const mnemonic = 'test test test test test test test test test test test junk';
/** An account of anvil: 0 deploys, 1 to 3 are guardian, relayer and gate, the others have no role. */
export function account(index: number, provider: JsonRpcProvider): HDNodeWallet {
  return HDNodeWallet.fromPhrase(mnemonic, undefined, `m/44'/60'/0'/0/${String(index)}`).connect(
    provider,
  );
}

export type GasScene = {
  readonly provider: JsonRpcProvider;
  readonly addresses: PoolAddresses;
  readonly token: string;
  readonly deployer: NonceManager;
};

/** Deploys token and pool to the addresses the proofs are bound to, and fills the tree. */
export async function createGasScene(provider: JsonRpcProvider): Promise<GasScene> {
  const deployer = new NonceManager(account(0, provider));
  const token = await deployPoolTestToken({ signer: deployer, name: 'USD Test', symbol: 'TUSD' });
  const plain = account(0, provider);
  const addresses = await deployPool({
    signer: plain,
    guardian: account(1, provider).address,
    relayer: account(2, provider).address,
    gate: account(3, provider).address,
    tokens: [token],
  });
  deployer.reset();
  if (addresses.pool !== vectors.pool || plain.address !== vectors.deployer) {
    throw new Error('the contracts are not where the proofs expect them: use a fresh chain');
  }
  const root = await writeTree(provider, addresses.pool, settledBatches);
  const pool = connectShieldedPool(addresses.pool, provider);
  if ((await pool.currentRoot()) !== root || (await pool.batchCount()) !== BigInt(settledBatches)) {
    throw new Error('the storage layout has changed: the tree is not in its place');
  }
  // The pool and the funder hold tokens before and after, as they would.
  await mintTestToken(token, deployer, addresses.pool, 1_000_000n);
  return { provider, addresses, token, deployer };
}

/** The committed proof of a circuit. */
export function findProof(circuit: FundCircuit): ProofVector {
  const vector = vectors.batches.find((candidate) => candidate.circuit === circuit);
  if (vector === undefined) throw new Error(`vectors/fund-proofs.json has no ${circuit}`);
  return vector;
}

/** Gas of one whole `fund` transaction with an allowance of exactly the total. Leaves the chain as it was. */
export async function measureFund(scene: GasScene, vector: ProofVector): Promise<bigint> {
  const { provider, addresses, token, deployer } = scene;
  const batch: FundBatch = {
    ...vector.batch,
    total: BigInt(vector.batch.total),
    deadline: BigInt(vector.batch.deadline),
  };
  return undone(scene, async () => {
    const funder = new Wallet(id('pool/vectors/funder'), provider);
    await provider.send('anvil_setBalance', [funder.address, '0xde0b6b3a7640000']);
    await mintTestToken(token, deployer, funder.address, batch.total * 2n);
    await (await connectErc20(token, funder).approve(addresses.pool, batch.total)).wait();
    const registry = connectEligibilityRegistry(addresses.registry, account(3, provider));
    await (await registry.publish(batch.eligibilityRoot)).wait();

    const pool = connectShieldedPool(addresses.pool, account(2, provider));
    const sent = await pool.fund(batch, vector.proof, vector.funderSignature, noPermit);
    const receipt = await sent.wait();
    const event = receipt?.logs
      .filter((log) => log.address === addresses.pool)
      .map((log) => parsePoolEvent(log))
      .find((parsed) => parsed?.kind === 'fund');
    const batchId = await pool.batchIdOf(batch.funder, batch.batchNonce);
    if (event?.leafIndex !== settledBatches || event.batchId !== batchId) {
      throw new Error('the batch did not settle');
    }
    return receipt?.gasUsed ?? 0n;
  });
}

/** Gas of a public batch transfer to `count` people who hold none of the token, and of a second one to them. */
export async function measurePublicTransfer(
  scene: GasScene,
  count: number,
): Promise<{ readonly newHolders: bigint; readonly existingHolders: bigint }> {
  const { provider, token, deployer } = scene;
  return undone(scene, async () => {
    const { abi, bytecode } = publicBatchTransferArtifact;
    const contract = await new ContractFactory(abi, bytecode, deployer).deploy();
    await contract.waitForDeployment();
    const payer = account(4, provider);
    const recipients = Array.from(
      { length: count },
      (_, i) => new Wallet(id(`pool/gas/person ${String(i)}`)).address,
    );
    const amounts = recipients.map((_, i) => 1_000_000n + BigInt(i));
    const total = amounts.reduce((sum, amount) => sum + amount, 0n);
    await mintTestToken(token, deployer, payer.address, total * 3n);
    const pay = async (): Promise<bigint> => {
      await (await connectErc20(token, payer).approve(await contract.getAddress(), total)).wait();
      const data = contract.interface.encodeFunctionData('pay', [token, recipients, amounts]);
      const sent = await payer.sendTransaction({ to: await contract.getAddress(), data });
      const receipt = await sent.wait();
      return receipt?.gasUsed ?? 0n;
    };
    return { newHolders: await pay(), existingHolders: await pay() };
  });
}

/** Runs the work and restores the state of the chain. */
export async function undone<T>(
  { provider, deployer }: GasScene,
  work: () => Promise<T>,
): Promise<T> {
  const snapshot = (await provider.send('evm_snapshot', [])) as string;
  try {
    return await work();
  } finally {
    await provider.send('evm_revert', [snapshot]);
    deployer.reset();
  }
}
