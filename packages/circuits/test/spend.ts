/**
 * Test spends for the template Spend, built from poseidon-lite and noble without our own code, so that the circuit is compared with
 * an independent implementation of protocol §3 to §7. Every value may be dishonest: D, z and y are computed from what is given.
 */
import { babyjubjub } from '@noble/curves/misc.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { poseidon1, poseidon2, poseidon3, poseidon5, poseidon6 } from 'poseidon-lite';
import {
  computeBinaryRoot,
  computeChallenge,
  computeTag,
  createEligibilityTree,
  R,
  sample,
} from './fund-batch.ts';

/** l */
export const subgroupOrder = babyjubjub.Point.CURVE().n;

/** Inputs of the circuit except D, z, y, as circom/spend.circom names them. */
export type Spend = {
  assetId: bigint;
  withdrawAmount: bigint;
  recipient: bigint;
  deadline: bigint;
  sealedLo: bigint;
  sealedHi: bigint;
  noteRoot: bigint;
  eligibilityRoot: bigint;
  rLo: bigint;
  rHi: bigint;
  wxLo: bigint;
  wxHi: bigint;
  wyLo: bigint;
  wyHi: bigint;
  viewingKey: bigint;
  salt: bigint;
  blindingBits: bigint[];
  inputEnabled: bigint[];
  inputAmounts: bigint[];
  inputNonces: bigint[];
  inputDepths: bigint[];
  inputIndices: bigint[];
  inputSiblings: bigint[][];
  secret: bigint;
  changeAmount: bigint;
  changePx: bigint;
  changePy: bigint;
  amounts: bigint[];
  walletIds: bigint[];
  px: bigint[];
  py: bigint[];
  leafIndices: bigint[];
  siblings: bigint[][][];
};

/** What a dishonest prover computes in another way. */
export type Deviation = {
  /** Tag of each input's nullifier. */
  readonly nullifierTags?: readonly bigint[];
  /** Replaces the nullifiers. */
  readonly nullifiers?: readonly bigint[];
  /** w of the change. */
  readonly changeWalletId?: bigint;
  /** The number that goes into each output's nonce. */
  readonly slotOf?: (slot: number) => number;
  /** Replaces nf_0 in the base of the nonces. */
  readonly baseNullifier?: bigint;
  /** Tag of the operation. */
  readonly operationTag?: bigint;
  /** Replaces the root of the outputs in the operation. */
  readonly outRoot?: bigint;
  /** Replaces the salt. */
  readonly salt?: bigint;
  /** Replaces m. */
  readonly digest?: bigint;
};

/** HC of protocol §1. */
function computeChainHash(tag: bigint, values: readonly bigint[]): bigint {
  let hash = poseidon2([tag, BigInt(values.length)]);
  for (let i = 0; i < values.length; i += 4) {
    hash = poseidon5([hash, ...[0, 1, 2, 3].map((j) => values[i + j] ?? 0n)]);
  }
  return hash;
}

function computeWalletId({ wxLo, wxHi, wyLo, wyHi }: Spend): bigint {
  return poseidon5([computeTag('WALLET'), wxLo, wxHi, wyLo, wyHi]);
}

/** v·B8; the identity for a multiple of l. */
export function multiplyBase(scalar: bigint): { x: bigint; y: bigint } {
  const reduced = scalar % subgroupOrder;
  const { BASE, ZERO } = babyjubjub.Point;
  const { x, y } = (reduced === 0n ? ZERO : BASE.multiply(reduced)).toAffine();
  return { x, y };
}

/** The node above a leaf, by its directions and siblings. */
export function climb(leaf: bigint, index: number, siblings: readonly bigint[]): bigint {
  return siblings.reduce(
    (node, sibling, level) => poseidon2((index >> level) & 1 ? [sibling, node] : [node, sibling]),
    leaf,
  );
}

/** Commitments of the inputs as notes of (w, v·B8). */
export function computeInputNotes(spend: Spend): bigint[] {
  const point = multiplyBase(spend.viewingKey);
  const walletId = computeWalletId(spend);
  return spend.inputAmounts.map((amount, j) => {
    const nonce = spend.inputNonces[j] ?? 0n;
    return poseidon6([spend.assetId, amount, nonce, walletId, point.x, point.y]);
  });
}

/** @param replaced an element of the hash's input that has another value, by index */
export function computeNullifiers(
  spend: Spend,
  tags?: readonly bigint[],
  replaced?: readonly [index: number, value: bigint],
): bigint[] {
  const walletId = computeWalletId(spend);
  return spend.inputNonces.map((nonce, j) => {
    const name = spend.inputEnabled[j] === 1n ? 'NULLIFIER' : 'DUMMY';
    const tag = tags?.[j] ?? computeTag(name);
    const parts = [tag, spend.assetId, nonce, spend.viewingKey, walletId];
    return poseidon5(parts.map((part, i) => (i === replaced?.[0] ? replaced[1] : part)));
  });
}

/**
 * The same spend with paths to one root for its notes: the first is on the left of the root, the second on the right, each at a depth
 * of its own. With one note the other half is a sample.
 */
export function withPaths(spend: Spend, levels: number, depths: readonly number[]): Spend {
  const notes = computeInputNotes(spend).slice(0, depths.length);
  const below = depths.map((depth, j) =>
    Array.from({ length: depth - 1 }, (_, level) => sample(`sibling ${j} ${level}`)),
  );
  const tops = notes.map((note, j) => climb(note, 5 + j, below[j] ?? []));
  const [left = 0n, right = sample('right half')] = tops;
  const paths = below.map((siblings, j) => [...siblings, j === 0 ? right : left]);
  return {
    ...spend,
    noteRoot: poseidon2([left, right]),
    inputDepths: spend.inputDepths.map((old, j) => BigInt(depths[j] ?? old)),
    inputIndices: spend.inputIndices.map((old, j) => {
      const depth = depths[j];
      const bits = (5 + j) % 2 ** ((depth ?? 1) - 1);
      return depth === undefined ? old : BigInt(bits + j * 2 ** (depth - 1));
    }),
    inputSiblings: spend.inputSiblings.map((old, j) =>
      Array.from({ length: levels }, (_, level) => paths[j]?.[level] ?? old[level] ?? 0n),
    ),
  };
}

export type SpendOptions = {
  readonly inputs: number;
  readonly outputs: number;
  readonly levels: number;
  readonly windows: number;
  /** Depth of each note, one or two. The other inputs are dummies. */
  readonly depths: readonly number[];
  /** Payees; the other outputs are dummies. 0: a send. */
  readonly payees: number;
};

/** The same spend by the wallet of a private key. */
export function withWallet(spend: Spend, privateKey: bigint): Spend {
  const { x, y } = secp256k1.Point.BASE.multiply(privateKey).toAffine();
  const half = 2n ** 128n;
  return { ...spend, wxLo: x % half, wxHi: x / half, wyLo: y % half, wyHi: y / half };
}

/** An honest spend. W is not on the curve: the stub accepts any. */
export function createSpend({
  inputs,
  outputs,
  levels,
  windows,
  depths,
  payees,
}: SpendOptions): Spend {
  const slots = Array.from({ length: outputs - 1 }, (_, i) => i);
  const places = slots.map((i) => (i * 65_537 + 9) % 4 ** 10);
  const walletIds = slots.map((i) => sample(`payee ${i}`));
  const members = new Map(slots.slice(0, payees).map((i) => [places[i] ?? 0, walletIds[i] ?? 0n]));
  const tree = createEligibilityTree(members);
  const numbers = Array.from({ length: inputs }, (_, j) => j);
  const inputAmounts = numbers.map((j) => (j < depths.length ? 1_000_000n * BigInt(j + 1) : 0n));
  const amounts = slots.map((i) => (i < payees ? 1000n * BigInt(i + 1) : 0n));
  const withdrawAmount = payees === 0 ? 300_000n : 0n;
  const total = (list: readonly bigint[]) => list.reduce((sum, amount) => sum + amount, 0n);
  const change = multiplyBase(sample('change key'));
  const half = (label: string) => sample(label) % 2n ** 128n;
  const spend: Spend = {
    assetId: sample('asset'),
    withdrawAmount,
    recipient: payees === 0 ? sample('recipient') % 2n ** 160n : 0n,
    deadline: 1_795_000_000n,
    sealedLo: half('sealedLo'),
    sealedHi: half('sealedHi'),
    noteRoot: 0n,
    eligibilityRoot: payees === 0 ? 0n : tree.root,
    rLo: half('rLo'),
    rHi: half('rHi'),
    wxLo: half('wxLo'),
    wxHi: half('wxHi'),
    wyLo: half('wyLo'),
    wyHi: half('wyHi'),
    viewingKey: (sample('viewing key') % (subgroupOrder - 1n)) + 1n,
    salt: sample('salt') % 2n ** 248n,
    blindingBits: Array.from({ length: 8 * windows }, (_, i) => BigInt((i * i + i / 2) & 1)),
    inputEnabled: numbers.map((j) => (j < depths.length ? 1n : 0n)),
    inputAmounts,
    inputNonces: numbers.map((j) => sample(`input nonce ${j}`)),
    inputDepths: numbers.map(() => 1n),
    inputIndices: numbers.map(() => 0n),
    inputSiblings: numbers.map(() => Array.from({ length: levels }, () => 0n)),
    secret: sample('secret'),
    changeAmount: total(inputAmounts) - total(amounts) - withdrawAmount,
    changePx: change.x,
    changePy: change.y,
    amounts,
    walletIds,
    px: slots.map((i) => sample(`px ${i}`)),
    py: slots.map((i) => sample(`py ${i}`)),
    leafIndices: places.map(BigInt),
    siblings: places.map((place) => tree.siblings(place)),
  };
  return withPaths(spend, levels, depths);
}

/** Computes W' and m', or what a stub puts in their place: six halves in the order of x. */
export type Signer = (spend: Spend, digest: bigint) => bigint[];

function joinBits(bits: readonly bigint[]): bigint {
  return bits.reduceRight((sum, bit) => 2n * sum + bit, 0n);
}

/** Protocol §7. */
export function maskingSigner(spend: Spend, digest: bigint): bigint[] {
  const windows = BigInt(spend.blindingBits.length);
  const scalar = joinBits(spend.blindingBits) + (2n ** windows - 1n) / 255n;
  const { Point } = secp256k1;
  const { n } = Point.CURVE();
  const half = 2n ** 128n;
  const wallet = Point.fromAffine({
    x: spend.wxHi * half + spend.wxLo,
    y: spend.wyHi * half + spend.wyLo,
  });
  const masked = wallet.add(Point.BASE.multiply(scalar)).toAffine();
  const rest = (digest - (spend.rHi * half + spend.rLo) * scalar) % n;
  return [masked.x, masked.y, rest < 0n ? rest + n : rest].flatMap((value) => [
    value % half,
    value / half,
  ]);
}

/** The outputs of {@link signerStub}. */
function stubSigner(spend: Spend, digest: bigint): bigint[] {
  const blinding = joinBits(spend.blindingBits);
  const { wxLo, wxHi, wyLo, wyHi, rLo, rHi } = spend;
  return [wxLo + blinding, wxHi, wyLo, wyHi, digest + rLo, 2n * digest + rHi].map((v) => v % R);
}

/**
 * Replaces the hidden signer in tests of all other constraints: its outputs are linear in its inputs. The real one has tests of its
 * own (hidden-signer.test.ts), and spend-2x4.test.ts tests both together.
 */
export const signerStub = `pragma circom 2.2.0;
template HiddenSigner(WINDOWS) {
    signal input wxLo;
    signal input wxHi;
    signal input wyLo;
    signal input wyHi;
    signal input m;
    signal input bBits[8 * WINDOWS];
    signal input rLo;
    signal input rHi;
    signal output wpxLo;
    signal output wpxHi;
    signal output wpyLo;
    signal output wpyHi;
    signal output mpLo;
    signal output mpHi;
    var b = 0;
    for (var i = 0; i < 8 * WINDOWS; i++) {
        bBits[i] * (bBits[i] - 1) === 0;
        b = b + 2 ** i * bBits[i];
    }
    wpxLo <== wxLo + b;
    wpxHi <== wxHi;
    wpyLo <== wyLo;
    wpyHi <== wyHi;
    mpLo <== m + rLo;
    mpHi <== 2 * m + rHi;
}
`;

/** The public vector x in the frozen order, and the values that D binds. */
export function computeSpendVector(
  spend: Spend,
  deviation: Deviation = {},
  signer: Signer = stubSigner,
): { x: bigint[]; D: bigint } {
  const nullifiers = deviation.nullifiers ?? computeNullifiers(spend, deviation.nullifierTags);
  const walletId = deviation.changeWalletId ?? computeWalletId(spend);
  const base = poseidon3([
    computeTag('SPEND_BASE'),
    deviation.baseNullifier ?? nullifiers[0] ?? 0n,
    spend.secret,
  ]);
  const owners = [
    [spend.changeAmount, walletId, spend.changePx, spend.changePy],
    ...spend.amounts.map((amount, i) => [
      amount,
      spend.walletIds[i] ?? 0n,
      spend.px[i] ?? 0n,
      spend.py[i] ?? 0n,
    ]),
  ];
  const commitments = owners.map(([amount = 0n, ...owner], slot) => {
    const nonce = poseidon1([(base + BigInt(deviation.slotOf?.(slot) ?? slot)) % R]);
    return poseidon6([spend.assetId, amount, nonce, ...owner]);
  });
  const operation = [
    spend.assetId,
    spend.withdrawAmount,
    spend.recipient,
    spend.deadline,
    spend.sealedLo,
    spend.sealedHi,
    deviation.outRoot ?? computeBinaryRoot(commitments),
    ...nullifiers,
  ];
  const opHash = computeChainHash(deviation.operationTag ?? computeTag('OP_2x4'), operation);
  const digest =
    deviation.digest ?? poseidon3([computeTag('OPERATION'), opHash, deviation.salt ?? spend.salt]);
  const bound = [
    spend.noteRoot,
    spend.eligibilityRoot,
    ...signer(spend, digest),
    spend.rLo,
    spend.rHi,
  ];
  return {
    x: [...operation, ...commitments, ...bound],
    D: computeChainHash(computeTag('D_SPEND'), [opHash, ...bound]),
  };
}

/** D of another vector, for a test that changes one of its elements. */
export function computeSpendDigest(x: readonly bigint[], inputs: number, outputs: number): bigint {
  const opHash = computeChainHash(computeTag('OP_2x4'), x.slice(0, 7 + inputs));
  return computeChainHash(computeTag('D_SPEND'), [opHash, ...x.slice(7 + inputs + outputs)]);
}

/** Witness input of a spend with the public signals that belong to it. */
export function toSpendInput(
  spend: Spend,
  deviation: Deviation = {},
  signer: Signer = stubSigner,
): Spend & { D: bigint; z: bigint; y: bigint } {
  const { x, D } = computeSpendVector(spend, deviation, signer);
  return { D, ...computeChallenge(D, x), ...spend };
}
