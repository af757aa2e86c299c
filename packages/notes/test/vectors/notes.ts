/** Sections: note, sealed-note, note-tree, eligibility-tree (protocol §3, §4). */
import { LeanIMT } from '@zk-kit/lean-imt';
import {
  binaryRoot,
  emptyQuaternaryRoots,
  hash,
  pack,
  quaternaryRoot,
  quaternarySiblings,
  sample,
  samplePrivateKey,
  sampleScalar,
  seal,
  tag,
  timesBase,
  walletIdOf,
  walletOf,
  word,
} from './reference.ts';

const maxAmount = 2n ** 128n - 1n;

function exampleNote(label: string, amount: bigint) {
  const viewingKey = sampleScalar(`viewing ${label}`);
  const walletPub = walletOf(samplePrivateKey(label));
  const point = timesBase(viewingKey);
  const note = {
    assetId: sample('asset'),
    amount,
    nonce: sample(`nonce ${label}`),
    walletId: walletIdOf(walletPub),
  };
  const { assetId, nonce, walletId } = note;
  return {
    ...note,
    viewingKey,
    walletPub: walletPub.walletPub,
    point,
    commitment: hash(assetId, amount, nonce, walletId, point.x, point.y),
    nullifier: hash(tag('NULLIFIER'), assetId, nonce, viewingKey, walletId),
  };
}

export function note() {
  return {
    protocol: '§3',
    source: 'poseidon-lite, @zk-kit/baby-jubjub',
    notes: [0n, 1n, 1_000_000n, maxAmount].map((amount, i) => {
      const example = exampleNote(`note ${i}`, amount);
      return {
        assetId: word(example.assetId),
        amount: amount.toString(),
        nonce: word(example.nonce),
        walletPub: example.walletPub,
        walletId: word(example.walletId),
        viewingKey: word(example.viewingKey),
        px: word(example.point.x),
        py: word(example.point.y),
        commitment: word(example.commitment),
        nullifier: word(example.nullifier),
      };
    }),
  };
}

export function sealedNote() {
  return {
    protocol: '§3, sealed note',
    source:
      'HKDF and ChaCha20-Poly1305 from node:crypto, HChaCha20 of the script, @zk-kit/baby-jubjub',
    notes: [
      { amount: 1n, memo: undefined },
      { amount: 250_000n, memo: 'salary, November' },
      { amount: maxAmount, memo: 'x'.repeat(111) },
      { amount: 7n, memo: 'Grüße 👋 給与' },
      { amount: 0n, memo: undefined },
    ].map(({ amount, memo }, i) => {
      const example = exampleNote(`sealed ${i}`, amount);
      const ephemeral = sampleScalar(`ephemeral ${i}`);
      const result = seal({ ...example, memo, to: example.point, ephemeral });
      return {
        assetId: word(example.assetId),
        amount: amount.toString(),
        nonce: word(example.nonce),
        ...(memo === undefined ? {} : { memo }),
        walletId: word(example.walletId),
        viewingKey: word(example.viewingKey),
        encryptionPublicKey: pack(example.point),
        commitment: word(example.commitment),
        ephemeral: word(ephemeral),
        ...result,
      };
    }),
  };
}

export function noteTree() {
  const tree = new LeanIMT<bigint>((a, b) => hash(a, b));
  const steps = Array.from({ length: 33 }, (_, i) => {
    const leaf = sample(`batch root ${i}`);
    tree.insert(leaf);
    return { leaf: word(leaf), root: word(tree.root), depth: tree.depth };
  });
  return {
    protocol: '§4, note tree',
    source: '@zk-kit/lean-imt, poseidon-lite',
    batchRoots: [1, 2, 4, 16, 64].map((size) => {
      const commitments = Array.from({ length: size }, (_, i) => sample(`leaf ${size} ${i}`));
      return { commitments: commitments.map(word), batchRoot: word(binaryRoot(commitments)) };
    }),
    /** Root after each insertion. */
    insertions: steps,
    /** In the tree of all insertions. `index` has one bit per sibling, lowest first. */
    paths: [0, 1, 7, 16, 31, 32].map((position) => {
      const { leaf, index, siblings } = tree.generateProof(position);
      return { position, leaf: word(leaf), index, siblings: siblings.map(word) };
    }),
  };
}

export function eligibilityTree() {
  const roster = (positions: readonly number[]) =>
    new Map(positions.map((position) => [position, sample(`wallet ${position}`)] as const));
  return {
    protocol: '§4, eligibility tree',
    source: 'poseidon-lite, by recursion from the root',
    depth: 10,
    emptyRoots: emptyQuaternaryRoots.map(word),
    rosters: [[], [0], [0, 1, 2, 3, 4], [2, 5, 63, 1000, 4 ** 10 - 1]].map((positions) => {
      const leaves = roster(positions);
      return {
        leaves: [...leaves].map(([index, walletId]) => ({ index, walletId: word(walletId) })),
        root: word(quaternaryRoot(leaves)),
        paths: [...leaves].map(([index, walletId]) => ({
          walletId: word(walletId),
          index,
          siblings: quaternarySiblings(leaves, index),
        })),
      };
    }),
  };
}
