/**
 * Test batches for fund-N, built from poseidon-lite without our own code, so that the circuit is compared with an independent
 * implementation of protocol §3 to §6.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { poseidon1, poseidon2, poseidon3, poseidon4, poseidon5, poseidon6 } from 'poseidon-lite';

export const R = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const depth = 10;

function keccak(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(keccak_256(bytes))}`);
}
function word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
/** A field element that looks random, from a label. */
export function sample(label: string): bigint {
  return keccak(utf8ToBytes(`test/${label}`)) % R;
}

/** Arity-4 tree of depth 10 over a few leaves; everything else is empty (0). */
export function createEligibilityTree(leaves: ReadonlyMap<number, bigint>) {
  const empty = [0n];
  for (let level = 0; level < depth; level++) {
    const node = empty[level] ?? 0n;
    empty.push(poseidon4([node, node, node, node]));
  }
  const levels: Map<number, bigint>[] = [new Map(leaves)];
  for (let level = 0; level < depth; level++) {
    const below = levels[level] ?? new Map<number, bigint>();
    const parents = new Map<number, bigint>();
    for (const index of below.keys()) {
      const parent = index >> 2;
      const children = [0, 1, 2, 3].map((i) => below.get(4 * parent + i) ?? empty[level] ?? 0n);
      parents.set(parent, poseidon4(children));
    }
    levels.push(parents);
  }
  return {
    root: levels[depth]?.get(0) ?? empty[depth] ?? 0n,
    siblings: (leaf: number): bigint[][] =>
      Array.from({ length: depth }, (_, level) => {
        const index = leaf >> (2 * level);
        return [0, 1, 2, 3]
          .map((i) => (index & ~3) | i)
          .filter((i) => i !== index)
          .map((i) => levels[level]?.get(i) ?? empty[level] ?? 0n);
      }),
  };
}

export type FundBatch = {
  assetId: bigint;
  total: bigint;
  batchId: bigint;
  secret: bigint;
  eligibilityRoot: bigint;
  amounts: bigint[];
  walletIds: bigint[];
  px: bigint[];
  py: bigint[];
  leafIndices: bigint[];
  siblings: bigint[][][];
};

/** An honest batch of `size` slots, `paid` of them with an amount, the rest dummies of non-members. */
export function createBatch(size: number, paid = size): FundBatch {
  const slots = Array.from({ length: size }, (_, i) => i);
  const places = slots.map((i) => (i * 65_537 + 3) % 4 ** depth);
  const walletIds = slots.map((i) => sample(`wallet ${i}`));
  const members = new Map(slots.slice(0, paid).map((i) => [places[i] ?? 0, walletIds[i] ?? 0n]));
  const tree = createEligibilityTree(members);
  const amounts = slots.map((i) => (i < paid ? 1_000_000n * BigInt(i + 1) : 0n));
  return {
    assetId: sample('asset'),
    total: amounts.reduce((sum, amount) => sum + amount, 0n),
    batchId: sample('batch id'),
    secret: sample('secret'),
    eligibilityRoot: tree.root,
    amounts,
    walletIds,
    px: slots.map((i) => sample(`px ${i}`)),
    py: slots.map((i) => sample(`py ${i}`)),
    leafIndices: places.map(BigInt),
    siblings: places.map((place) => tree.siblings(place)),
  };
}

/** `uint256(keccak256("pool/v1/<name>")) mod r`. */
export function computeTag(name: string): bigint {
  return keccak(utf8ToBytes(`pool/v1/${name}`)) % R;
}

const fundBase = computeTag('FUND_BASE');

/** @param slotOf the number that goes into a slot's nonce; a dishonest prover might repeat one */
export function computeCommitments(
  batch: FundBatch,
  slotOf: (slot: number) => number = (slot) => slot,
): bigint[] {
  const base = poseidon3([fundBase, batch.batchId, batch.secret]);
  return batch.amounts.map((amount, i) => {
    const nonce = poseidon1([(base + BigInt(slotOf(i))) % R]);
    const owner = [batch.walletIds[i] ?? 0n, batch.px[i] ?? 0n, batch.py[i] ?? 0n];
    return poseidon6([batch.assetId, amount, nonce, ...owner]);
  });
}

export function computeBinaryRoot(leaves: readonly bigint[]): bigint {
  let level = [...leaves];
  while (level.length > 1) {
    level = level
      .filter((_, i) => i % 2 === 0)
      .map((left, i) => poseidon2([left, level[2 * i + 1] ?? 0n]));
  }
  return level[0] ?? 0n;
}

/** The public vector x, in the frozen order. */
export function computeVector(batch: FundBatch, commitments = computeCommitments(batch)): bigint[] {
  const { assetId, total, batchId, eligibilityRoot } = batch;
  const root = computeBinaryRoot(commitments);
  return [assetId, total, batchId, eligibilityRoot, root, ...commitments];
}

export function computeDigest(x: readonly bigint[]): bigint {
  return poseidon5(x.slice(0, 5));
}

export function computeHorner(x: readonly bigint[], z: bigint): bigint {
  return x.reduceRight((tail, value) => (value + z * tail) % R, 0n);
}

/** The verifier's side: z and y from D and x, as the contract computes them. */
export function computeChallenge(D: bigint, x: readonly bigint[]): { z: bigint; y: bigint } {
  const z = keccak(hexToBytes([D, ...x].map(word).join(''))) % R;
  return { z, y: computeHorner(x, z) };
}

/** Witness input of a batch with the public signals that belong to it. */
export function toInput(
  batch: FundBatch,
  commitments = computeCommitments(batch),
): FundBatch & { D: bigint; z: bigint; y: bigint } {
  const x = computeVector(batch, commitments);
  const D = computeDigest(x);
  return { D, ...computeChallenge(D, x), ...batch };
}
