/** Reads a spend of vectors/spend.json as the witness input that circom/spend.circom names. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import vectors from '../../../vectors/spend.json' with { type: 'json' };

export type SpendVector = (typeof vectors.spends)[number];

export const spendVectors: readonly SpendVector[] = vectors.spends;

function halves(value: bigint): [lo: bigint, hi: bigint] {
  return [value % 2n ** 128n, value / 2n ** 128n];
}

/** y of W. */
export function readWalletY({ manifest }: SpendVector): bigint {
  return secp256k1.Point.fromHex(manifest.walletPub.slice(2)).toAffine().y;
}

/** @param wallet y of W, which the compressed key in the manifest does not contain */
export function readSpendVector(vector: SpendVector, walletY: bigint) {
  const { publicInputs, notes, dummies, operation, manifest } = vector;
  const x = publicInputs.x.map(BigInt);
  const [wxLo, wxHi] = halves(BigInt(`0x${manifest.walletPub.slice(4)}`));
  const [wyLo, wyHi] = halves(walletY);
  const [sealedLo, sealedHi] = halves(BigInt(operation.sealedNotesHash));
  const [rLo, rHi] = halves(BigInt(vector.signature.rSig));
  const [change, ...payees] = vector.slots;
  const paths = new Map(vector.eligibility.paths.map((path) => [path.walletId, path]));
  const blinding = BigInt(vector.blinding);
  return {
    D: BigInt(publicInputs.digest),
    z: BigInt(publicInputs.z),
    y: BigInt(publicInputs.y),
    assetId: x[0] ?? 0n,
    withdrawAmount: operation.withdrawAmount,
    recipient: BigInt(operation.recipient),
    deadline: BigInt(operation.deadline),
    sealedLo,
    sealedHi,
    noteRoot: BigInt(vector.noteRoot),
    eligibilityRoot: BigInt(vector.eligibility.root),
    rLo,
    rHi,
    wxLo,
    wxHi,
    wyLo,
    wyHi,
    viewingKey: BigInt(vector.viewingKey),
    salt: BigInt(vector.salt),
    blindingBits: Array.from({ length: 248 }, (_, i) => (blinding >> BigInt(i)) & 1n),
    inputEnabled: [...notes.map(() => 1n), ...dummies.map(() => 0n)],
    inputAmounts: [...notes.map(({ amount }) => amount), ...dummies.map(() => 0n)],
    inputNonces: [...notes, ...dummies].map(({ nonce }) => BigInt(nonce)),
    inputDepths: [
      ...notes.map(({ path }) => BigInt(path.siblings.length)),
      ...dummies.map(() => 32n),
    ],
    inputIndices: [...notes.map(({ path }) => BigInt(path.index)), ...dummies.map(() => 5n)],
    inputSiblings: [...notes.map(({ path }) => path.siblings), ...dummies.map(() => [])].map(
      (siblings: readonly string[]) =>
        Array.from({ length: 32 }, (_, level) => BigInt(siblings[level] ?? level)),
    ),
    secret: BigInt(vector.secret),
    changeAmount: manifest.changeAmount,
    changePx: BigInt(change?.px ?? 0),
    changePy: BigInt(change?.py ?? 0),
    amounts: payees.map(({ amount }) => amount),
    walletIds: payees.map(({ walletId }) => BigInt(walletId)),
    px: payees.map(({ px }) => BigInt(px)),
    py: payees.map(({ py }) => BigInt(py)),
    leafIndices: payees.map(({ walletId }) => BigInt(paths.get(walletId)?.index ?? 9)),
    siblings: payees.map(
      ({ walletId }) =>
        paths.get(walletId)?.siblings.map((level) => level.map(BigInt)) ??
        Array.from({ length: 10 }, () => [1n, 2n, 3n]),
    ),
  };
}
