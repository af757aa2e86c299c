/**
 * Spends in the scene of the gas figures: the operations, signatures and sealed notes of vectors/spend.json, sent to the pool of
 * the scene. Until the circuits' own proofs are vectors, the proofs are made under a verification key whose secrets are known
 * (test/support/TrapdoorVerifier.sol). The contract code that verifies them is the same, and so is its gas.
 */

import { readFileSync } from 'node:fs';
import {
  fieldToHex,
  hexToBigint,
  parseEvmAddress,
  parseField,
  parseHex32,
  type SpendCircuit,
} from '@pool/core';
import { computeSpendPublicInputs } from '@pool/notes';
import { ContractFactory, concat, type Result } from 'ethers';
import { connectEligibilityRegistry } from '../../src/calls/eligibility-registry.ts';
import {
  connectShieldedPool,
  type Groth16Proof,
  type SpendCall,
} from '../../src/calls/shielded-pool.ts';
import { mintTestToken } from '../../src/calls/test-tokens.ts';
import { parsePoolEvent } from '../../src/chain/pool-leaves.ts';
import { verifierPlaces } from '../../src/code/contract-code.ts';
import { trapdoorVerifierArtifact } from './generated/trapdoor-verifier.ts';
import { account, type GasScene, undone } from './scene.ts';
import { makeRootKnown } from './tree-state.ts';

type SpendVector = {
  readonly circuit: SpendCircuit;
  readonly name: string;
  readonly operation: {
    readonly withdrawAmount: string;
    readonly recipient: string;
    readonly sealedNotesHash: string;
    readonly outRoot: string;
    readonly nullifiers: readonly string[];
    readonly commitments: readonly string[];
  };
  readonly eligibility: { readonly root: string };
  readonly masked: Readonly<Record<'x' | 'y' | 'digest' | 'slope', string>>;
  readonly signature: { readonly rSig: string; readonly s: string; readonly parity: number };
  readonly sealedNotes: readonly { readonly sealed: string }[];
};

const vectorsUrl = new URL('../../../../vectors/spend.json', import.meta.url);
const vectors = JSON.parse(readFileSync(vectorsUrl, 'utf8')) as {
  readonly spends: readonly SpendVector[];
};

/** 2100-01-01: the deadlines of the vectors have passed. The proof binds this one. */
const deadline = 4_102_444_800;

/** The spend of vectors/spend.json with this name. */
export function findSpend(name: string): SpendVector {
  const vector = vectors.spends.find((candidate) => candidate.name === name);
  if (vector === undefined) throw new Error(`vectors/spend.json has no spend "${name}"`);
  return vector;
}

/**
 * Gas of one whole `spend` transaction, sent by an account without a role, whose recipient holds none of the token. Leaves the chain
 * as it was.
 */
export async function measureSpend(scene: GasScene, vector: SpendVector): Promise<bigint> {
  const { provider, addresses, token, deployer } = scene;
  return undone(scene, async () => {
    const prove = await installTrapdoor(scene, vector);
    const pool = connectShieldedPool(addresses.pool, account(5, provider));
    const noteRoot = await pool.currentRoot();
    await makeRootKnown(provider, addresses.pool, noteRoot);
    if (BigInt(vector.eligibility.root) !== 0n) {
      const registry = connectEligibilityRegistry(addresses.registry, account(3, provider));
      await (await registry.publish(vector.eligibility.root)).wait();
    }
    await mintTestToken(token, deployer, addresses.pool, BigInt(vector.operation.withdrawAmount));

    const assetId = await pool.assetIdOf(token);
    const { operation, z, y } = makeCall(vector, { token, assetId, noteRoot });
    const proof = await prove(operation.D, z, y);
    const sealedNotes = concat(vector.sealedNotes.map(({ sealed }) => sealed));
    const receipt = await (await pool.spend(operation, proof, sealedNotes)).wait();
    const event = receipt?.logs
      .filter((log) => log.address === addresses.pool)
      .map((log) => parsePoolEvent(log))
      .find((parsed) => parsed !== undefined);
    if (event?.batchRoot !== operation.outRoot) throw new Error('the spend did not settle');
    return receipt?.gasUsed ?? 0n;
  });
}

/** The vector's spend of notes in this token under this root, with its public inputs. */
function makeCall(
  { circuit, operation, eligibility, masked, signature }: SpendVector,
  { token, assetId, noteRoot }: Readonly<Record<'token' | 'assetId' | 'noteRoot', string>>,
): { readonly operation: SpendCall; readonly z: bigint; readonly y: bigint } {
  const amount = BigInt(operation.withdrawAmount);
  const { digest, z, y } = computeSpendPublicInputs({
    operation: {
      circuit,
      assetId: parseField(assetId),
      withdrawAmount: amount,
      recipient: amount === 0n ? undefined : parseEvmAddress(operation.recipient),
      deadline,
      sealedNotesHash: parseHex32(operation.sealedNotesHash),
      outRoot: parseField(operation.outRoot),
      nullifiers: operation.nullifiers.map(parseField),
    },
    commitments: operation.commitments.map(parseField),
    noteRoot: parseField(noteRoot),
    eligibilityRoot: parseField(eligibility.root),
    maskedSigner: {
      maskedPub: { x: hexToBigint(masked.x), y: hexToBigint(masked.y) },
      maskedDigest: hexToBigint(masked.digest),
      slope: hexToBigint(masked.slope),
    },
    rSig: hexToBigint(signature.rSig),
  });
  const call: SpendCall = {
    token,
    withdrawAmount: amount,
    recipient: operation.recipient,
    deadline: BigInt(deadline),
    nullifiers: operation.nullifiers,
    commitments: operation.commitments,
    outRoot: operation.outRoot,
    noteRoot,
    eligibilityRoot: eligibility.root,
    D: fieldToHex(digest),
    maskedX: masked.x,
    maskedY: masked.y,
    slope: masked.slope,
    maskedDigest: masked.digest,
    rSig: signature.rSig,
    s: signature.s,
    parity: signature.parity === 0 ? 0 : 1,
  };
  return { operation: call, z, y };
}

/** Puts the trapdoor verifier in the place of the circuit's; returns its prover. */
async function installTrapdoor({ provider, addresses, deployer }: GasScene, vector: SpendVector) {
  const { abi, bytecode } = trapdoorVerifierArtifact;
  const trapdoor = await new ContractFactory(abi, bytecode, deployer).deploy();
  await trapdoor.waitForDeployment();
  const code = await provider.getCode(await trapdoor.getAddress());
  const place = verifierPlaces.find(({ circuit }) => circuit === vector.circuit);
  if (place === undefined) throw new Error(`a pool has no verifier of ${vector.circuit}`);
  await provider.send('anvil_setCode', [addresses[place.name], code]);
  return async (digest: string, z: bigint, y: bigint): Promise<Groth16Proof> => {
    const proof = (await trapdoor.getFunction('prove').staticCall(digest, z, y)) as Result;
    return proof.toObject(true) as Groth16Proof;
  };
}
