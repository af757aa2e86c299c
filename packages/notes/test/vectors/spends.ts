/** Section: spend (protocol §3, §5, §6, §7). */
import { LeanIMT } from '@zk-kit/lean-imt';
import { computeAddress, SigningKey } from 'ethers';
import { assetIdOf, pool, token } from './chain.ts';
import { exampleRecipient } from './recipients.ts';
import {
  binaryRoot,
  bytesOf,
  chainHash,
  challengeOf,
  createDerivation,
  hash,
  hex,
  jcs,
  keccak,
  l,
  type Point,
  pack,
  permute,
  quaternaryRoot,
  quaternarySiblings,
  r,
  sample,
  samplePrivateKey,
  sampleScalar,
  seal,
  sha256,
  tag,
  timesBase,
  walletIdOf,
  walletOf,
  word,
} from './reference.ts';

const p = 2n ** 256n - 2n ** 32n - 977n;
const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const G = walletOf(word(1n));
const low = (1n << 128n) - 1n;
const shapes = { 'spend-2x4': [2, 4], 'spend-16x8': [16, 8] } as const;
const operationTags = { 'spend-2x4': 'OP_2x4', 'spend-16x8': 'OP_16x8' } as const;
const deadline = 1_795_000_900;

function modulo(value: bigint, modulus: bigint): bigint {
  return ((value % modulus) + modulus) % modulus;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, modulo(base, modulus)];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    result = rest & 1n ? (result * square) % modulus : result;
    square = (square * square) % modulus;
  }
  return result;
}

function pointOf(key: string): Point {
  const full = SigningKey.computePublicKey(key, false).slice(4);
  return { x: BigInt(`0x${full.slice(0, 64)}`), y: BigInt(`0x${full.slice(64)}`) };
}

/** W', m' and λ; W' + G from ethers. */
function mask(privateKey: string, digest: bigint, b: bigint, rSig: bigint) {
  const scalar = b + (2n ** 248n - 1n) / 255n;
  const key = SigningKey.addPoints(
    SigningKey.computePublicKey(privateKey, true),
    SigningKey.computePublicKey(word(scalar), true),
    true,
  );
  const masked = pointOf(key);
  return {
    ...masked,
    digest: modulo(digest - rSig * scalar, n),
    slope: modulo((masked.y - G.y) * power(masked.x - G.x, p - 2n, p), p),
    address: computeAddress(key),
    sumAddress: computeAddress(SigningKey.addPoints(key, G.walletPub, true)),
  };
}

/** The siblings of a slot in a full binary tree, from the leaf up. */
function binarySiblings(leaves: readonly bigint[], slot: number): bigint[] {
  if (leaves.length === 1) {
    return [];
  }
  const half = leaves.length / 2;
  const [own, other] =
    slot < half
      ? [leaves.slice(0, half), leaves.slice(half)]
      : [leaves.slice(half), leaves.slice(0, half)];
  return [...binarySiblings(own, slot % half), binaryRoot(other)];
}

type Example = {
  name: string;
  circuit: keyof typeof shapes;
  /** Amount of each note, size of its batch, and the batch's place in the note tree. */
  notes: readonly (readonly [amount: bigint, batchSize: number, position: number])[];
  /** Batches in the note tree. */
  batches: number;
  outputs: readonly string[];
  withdrawAmount: bigint;
  changeKey: 'same' | 'other';
};

export function exampleSpend(example: Example) {
  const { name, circuit } = example;
  const [inputs, outputs] = shapes[circuit];
  const privateKey = samplePrivateKey(`spender ${name}`);
  const wallet = walletOf(privateKey);
  const walletId = walletIdOf(wallet);
  const viewingKey = sampleScalar(`spender ${name}`);
  const owner = timesBase(viewingKey);
  const changeViewingKey =
    example.changeKey === 'same' ? viewingKey : sampleScalar(`change of ${name}`);
  const assetId = assetIdOf(31337, pool, token);

  // Each note in a batch of its own, at a slot without a pattern; all other leaves are the samples of somebody else's batches.
  const tree = new LeanIMT<bigint>((a, b) => hash(a, b));
  const notes = example.notes.map(([amount, batchSize, position], i) => {
    const nonce = sample(`input nonce ${name} ${i}`);
    const commitment = hash(assetId, amount, nonce, walletId, owner.x, owner.y);
    const slot = (5 * i + 3) % batchSize;
    const batch = Array.from({ length: batchSize }, (_, at) =>
      at === slot ? commitment : sample(`neighbour ${name} ${i} ${at}`),
    );
    const nullifier = hash(tag('NULLIFIER'), assetId, nonce, viewingKey, walletId);
    return { amount, nonce, commitment, nullifier, slot, batch, position };
  });
  tree.insertMany(
    Array.from({ length: example.batches }, (_, position) => {
      const own = notes.find((candidate) => candidate.position === position);
      return own === undefined ? sample(`batch ${position}`) : binaryRoot(own.batch);
    }),
  );
  const paths = notes.map(({ slot, batch, position }) => {
    const { index, siblings } = tree.generateProof(position);
    return {
      index: slot + index * batch.length,
      siblings: [...binarySiblings(batch, slot), ...siblings].map(word),
    };
  });

  const people = example.outputs.map((amount, i) => exampleRecipient(i, amount));
  const paid = example.outputs.reduce((sum, amount) => sum + BigInt(amount), 0n);
  const spent = notes.reduce((sum, { amount }) => sum + amount, 0n);
  const recipient = computeAddress(privateKey);
  const manifest = {
    version: 1,
    kind: 'spend',
    chain: 'anvil',
    chainId: 31337,
    pool,
    token,
    circuit,
    walletPub: wallet.walletPub,
    encryptionPublicKey: pack(owner),
    inputNullifiers: notes.map(({ nullifier }) => word(nullifier)),
    changeEncryptionPublicKey: pack(timesBase(changeViewingKey)),
    changeAmount: (spent - paid - example.withdrawAmount).toString(),
    outputs: people.map(({ recipient: { address: _, ...output } }) => output),
    withdrawAmount: example.withdrawAmount.toString(),
    ...(example.withdrawAmount === 0n ? {} : { recipient }),
    deadline,
  };
  const seed = sha256('seed of spend ', name);
  const derive = createDerivation(seed, manifest);
  const order = permute(outputs - 1, (step) => derive('pool/v1/spend/permutation', step));

  const dummies = Array.from({ length: inputs - notes.length }, (_, i) => {
    const nonce = derive('pool/v1/spend/dummy-nonce', notes.length + i) % r;
    return { nonce, nullifier: hash(tag('DUMMY'), assetId, nonce, viewingKey, walletId) };
  });
  const nullifiers = [...notes, ...dummies].map(({ nullifier }) => nullifier);
  const secret = derive('pool/v1/spend/secret', 0) % r;
  const base = hash(tag('SPEND_BASE'), nullifiers[0] ?? 0n, secret);
  const slots = Array.from({ length: outputs }, (_, slot) => {
    const recipientIndex = slot === 0 ? -1 : order.indexOf(slot - 1);
    const person = people[recipientIndex];
    const payee =
      slot === 0
        ? { point: timesBase(changeViewingKey), id: walletId, amount: manifest.changeAmount }
        : {
            point:
              person?.point ?? timesBase(1n + (derive('pool/v1/spend/dummy-key', slot) % (l - 1n))),
            id: person?.walletId ?? derive('pool/v1/spend/dummy-wallet', slot) % r,
            amount: person?.recipient.amount ?? '0',
          };
    const amount = BigInt(payee.amount);
    const nonce = hash((base + BigInt(slot)) % r);
    const commitment = hash(assetId, amount, nonce, payee.id, payee.point.x, payee.point.y);
    const { sealed } = seal({
      amount,
      nonce,
      memo: person?.recipient.memo,
      to: payee.point,
      commitment,
      assetId,
      ephemeral: 1n + (derive('pool/v1/spend/ephemeral', slot) % (l - 1n)),
    });
    return {
      slot,
      ...(person === undefined ? {} : { recipientIndex }),
      amount,
      nonce,
      walletId: payee.id,
      point: payee.point,
      commitment,
      sealed,
    };
  });
  const commitments = slots.map(({ commitment }) => commitment);
  const outRoot = binaryRoot(commitments);
  const sealedNotesHash = keccak(Buffer.concat(slots.map(({ sealed }) => bytesOf(sealed))));
  const operation = [
    assetId,
    example.withdrawAmount,
    example.withdrawAmount === 0n ? 0n : BigInt(recipient),
    BigInt(deadline),
    BigInt(sealedNotesHash) & low,
    BigInt(sealedNotesHash) >> 128n,
    outRoot,
    ...nullifiers,
  ];
  const operationHash = chainHash(tag(operationTags[circuit]), operation);
  const salt = derive('pool/v1/spend/salt', 0, 31);
  const blinding = derive('pool/v1/spend/blinding', 0, 31);
  const digest = hash(tag('OPERATION'), operationHash, salt);
  const signature = new SigningKey(privateKey).sign(word(digest));
  const rSig = BigInt(signature.r);
  const masked = mask(privateKey, digest, blinding, rSig);

  const members = new Map(people.map((person, i) => [11 * i + (i % 3), person.walletId] as const));
  const eligibilityRoot = people.length === 0 ? 0n : quaternaryRoot(members);
  const bound = [
    tree.root,
    eligibilityRoot,
    ...[masked.x, masked.y, masked.digest, rSig].flatMap((value) => [value & low, value >> 128n]),
  ];
  const x = [...operation, ...commitments, ...bound];
  const D = chainHash(tag('D_SPEND'), [operationHash, ...bound]);
  const { z, y } = challengeOf(D, x);

  return {
    name,
    circuit,
    privateKey,
    viewingKey: word(viewingKey),
    changeViewingKey: word(changeViewingKey),
    recipientKeys: people.map(({ keys }) => keys),
    manifest,
    seed: hex(seed),
    manifestDigest: hex(sha256(jcs(manifest))),
    walletId: word(walletId),
    notes: notes.map(({ amount, nonce, commitment, nullifier, slot, batch }, i) => ({
      amount: amount.toString(),
      nonce: word(nonce),
      commitment: word(commitment),
      nullifier: word(nullifier),
      slot,
      batch: batch.map(word),
      path: paths[i],
    })),
    noteRoot: word(tree.root),
    dummies: dummies.map(({ nonce, nullifier }) => ({
      nonce: word(nonce),
      nullifier: word(nullifier),
    })),
    eligibility: {
      root: word(eligibilityRoot),
      paths: [...members].map(([index, member]) => ({
        walletId: word(member),
        index,
        siblings: quaternarySiblings(members, index),
      })),
    },
    secret: word(secret),
    slots: slots.map(({ amount, nonce, walletId: id, point, commitment, sealed: _, ...rest }) => ({
      ...rest,
      amount: amount.toString(),
      nonce: word(nonce),
      walletId: word(id),
      px: word(point.x),
      py: word(point.y),
      commitment: word(commitment),
    })),
    sealedNotes: slots.map(({ point, sealed }) => ({ encryptionPublicKey: pack(point), sealed })),
    operation: {
      assetId: word(assetId),
      withdrawAmount: example.withdrawAmount.toString(),
      recipient: example.withdrawAmount === 0n ? `0x${'0'.repeat(40)}` : recipient,
      deadline,
      sealedNotesHash,
      outRoot: word(outRoot),
      nullifiers: nullifiers.map(word),
      commitments: commitments.map(word),
    },
    operationHash: word(operationHash),
    salt: hex(bytesOf(word(salt)).subarray(1)),
    blinding: hex(bytesOf(word(blinding)).subarray(1)),
    digest: word(digest),
    signature: { rSig: word(rSig), s: word(BigInt(signature.s)), parity: signature.yParity },
    masked: {
      x: word(masked.x),
      y: word(masked.y),
      digest: word(masked.digest),
      slope: word(masked.slope),
      address: masked.address,
      sumAddress: masked.sumAddress,
    },
    publicInputs: { x: x.map(word), digest: word(D), z: word(z), y: word(y) },
  };
}

export function spend() {
  return {
    protocol: '§3, §5, §6, §7',
    source:
      'poseidon-lite, @zk-kit/baby-jubjub, @zk-kit/lean-imt; keccak256, signatures and secp256k1 from ethers; HKDF from node:crypto',
    order:
      "assetId, withdrawAmount, recipient, deadline, sealedLo, sealedHi, outRoot, nf_0 ..., cOut_0 ..., noteRoot, eligibilityRoot, W'xLo, W'xHi, W'yLo, W'yHi, m'Lo, m'Hi, rLo, rHi",
    labels: [
      'secret',
      'salt',
      'blinding',
      'permutation',
      'ephemeral',
      'dummy-wallet',
      'dummy-key',
      'dummy-nonce',
    ].map((name) => `pool/v1/spend/${name}`),
    tags: ['DUMMY', 'SPEND_BASE', 'OPERATION', 'OP_2x4', 'OP_16x8', 'D_SPEND'].map((name) => ({
      name,
      tag: word(tag(name)),
    })),
    blindingOffset: word((2n ** 248n - 1n) / 255n),
    spends: [
      exampleSpend({
        name: 'transfer to two',
        circuit: 'spend-2x4',
        notes: [
          [1_000_000n, 64, 2],
          [2n ** 100n, 16, 6],
        ],
        batches: 7,
        outputs: ['250000', '1267650600228229401496703205376'],
        withdrawAmount: 0n,
        changeKey: 'other',
      }),
      exampleSpend({
        name: 'send with change',
        circuit: 'spend-2x4',
        notes: [[5_000_000n, 256, 0]],
        batches: 1,
        outputs: [],
        withdrawAmount: 4_999_999n,
        changeKey: 'same',
      }),
      exampleSpend({
        name: 'send of everything',
        circuit: 'spend-2x4',
        notes: [
          [2n ** 127n, 4, 11],
          [2n ** 127n - 1n, 8, 12],
        ],
        batches: 13,
        outputs: [],
        withdrawAmount: 2n ** 128n - 1n,
        changeKey: 'same',
      }),
      exampleSpend({
        name: 'transfer to seven',
        circuit: 'spend-16x8',
        notes: Array.from(
          { length: 16 },
          (_, i) => [BigInt(10_000 + i), [16, 64, 4, 8][i % 4] ?? 16, 2 * i + 1] as const,
        ),
        batches: 37,
        outputs: Array.from({ length: 7 }, (_, i) => String(20_000 + i)),
        withdrawAmount: 0n,
        changeKey: 'same',
      }),
      exampleSpend({
        name: 'consolidation of five',
        circuit: 'spend-16x8',
        notes: Array.from({ length: 5 }, (_, i) => [BigInt(i + 1), 4, i] as const),
        batches: 5,
        outputs: [],
        withdrawAmount: 0n,
        changeKey: 'same',
      }),
    ],
  };
}
