/** Sections: fund-public-inputs, fund-batch (protocol §3, §5). */
import { assetIdOf, batchIdOf, batchNonceOf, employerId, funder, pool, token } from './chain.ts';
import { exampleRecipient } from './recipients.ts';
import {
  binaryRoot,
  bytesOf,
  createDerivation,
  fundPublicInputs,
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
  seal,
  sha256,
  tag,
  timesBase,
  word,
} from './reference.ts';

export function fundInputs() {
  return {
    protocol: '§5',
    source: 'poseidon-lite, keccak256 from ethers, y as a sum of powers',
    order: 'assetId, total, batchId, eligibilityRoot, batchRoot, c_0 ... c_{N-1}',
    batches: [16, 64].flatMap((size) =>
      ['a', 'b'].map((label) => {
        const commitments = Array.from({ length: size }, (_, i) =>
          sample(`c ${label} ${size} ${i}`),
        );
        const batch = {
          assetId: sample(`asset ${label}`),
          total: label === 'a' ? 1n : 2n ** 128n - 1n,
          batchId: sample(`batch id ${label}`),
          eligibilityRoot: sample(`eligibility ${label}`),
          batchRoot: binaryRoot(commitments),
          commitments,
        };
        return {
          assetId: word(batch.assetId),
          total: batch.total.toString(),
          batchId: word(batch.batchId),
          eligibilityRoot: word(batch.eligibilityRoot),
          batchRoot: word(batch.batchRoot),
          commitments: commitments.map(word),
          ...fundPublicInputs(batch),
        };
      }),
    ),
  };
}

export function exampleBatch(size: 16 | 64, amounts: readonly string[], jobKey: string) {
  const people = amounts.map((amount, i) => exampleRecipient(i, amount));
  const manifest = {
    version: 1,
    kind: 'fund',
    employerId,
    jobKey,
    attempt: 1,
    chain: 'anvil',
    chainId: 31337,
    pool,
    token,
    funder,
    size,
    recipients: people.map(({ recipient }) => recipient),
  };
  const seed = sha256('seed of ', jobKey);
  const manifestDigest = sha256(jcs(manifest));
  const derive = createDerivation(seed, manifest);
  const order = permute(size, (step) => derive('pool/v1/fund/permutation', step));

  const assetId = assetIdOf(31337, pool, token);
  const batchNonce = batchNonceOf({ employerId, chainId: 31337, pool, funder, jobKey, attempt: 1 });
  const batchId = batchIdOf(funder, batchNonce);
  const secret = derive('pool/v1/fund/secret', 0) % r;
  const base = hash(tag('FUND_BASE'), batchId, secret);
  const slots = Array.from({ length: size }, (_, slot) => {
    const recipientIndex = order.indexOf(slot);
    const person = people[recipientIndex];
    const point: Point =
      person?.point ?? timesBase(1n + (derive('pool/v1/fund/dummy-key', slot) % (l - 1n)));
    const walletId = person?.walletId ?? derive('pool/v1/fund/dummy-wallet', slot) % r;
    const amount = BigInt(person?.recipient.amount ?? 0);
    const nonce = hash((base + BigInt(slot)) % r);
    const commitment = hash(assetId, amount, nonce, walletId, point.x, point.y);
    const ephemeral = 1n + (derive('pool/v1/fund/ephemeral', slot) % (l - 1n));
    const memo = person?.recipient.memo;
    const { sealed } = seal({ amount, nonce, memo, to: point, commitment, assetId, ephemeral });
    return {
      slot,
      ...(person === undefined ? {} : { recipientIndex }),
      amount,
      nonce,
      walletId,
      point,
      commitment,
      sealed,
    };
  });
  const commitments = slots.map(({ commitment }) => commitment);
  const sealedNotes = slots.map(({ point, sealed }) => ({
    encryptionPublicKey: pack(point),
    sealed,
  }));
  const total = slots.reduce((sum, { amount }) => sum + amount, 0n);
  const batchRoot = binaryRoot(commitments);

  // The recipients in slots without a pattern.
  const leaves = new Map(people.map(({ walletId }, i) => [7 * i + (i % 5), walletId] as const));
  leaves.set(4 ** 9 + 3, sample('another wallet'));
  const eligibilityRoot = quaternaryRoot(leaves);

  return {
    manifest,
    seed: hex(seed),
    recipientKeys: people.map(({ keys }) => keys),
    manifestDigest: hex(manifestDigest),
    assetId: word(assetId),
    total: total.toString(),
    batchNonce: word(batchNonce),
    batchId: word(batchId),
    secret: word(secret),
    batchRoot: word(batchRoot),
    sealedNotesHash: keccak(Buffer.concat(sealedNotes.map(({ sealed }) => bytesOf(sealed)))),
    commitments: commitments.map(word),
    slots: slots.map(({ amount, nonce, walletId, point, commitment, sealed: _, ...rest }) => ({
      ...rest,
      amount: amount.toString(),
      nonce: word(nonce),
      walletId: word(walletId),
      px: word(point.x),
      py: word(point.y),
      commitment: word(commitment),
    })),
    sealedNotes,
    eligibility: {
      root: word(eligibilityRoot),
      paths: [...leaves]
        .filter(([, walletId]) => people.some((person) => person.walletId === walletId))
        .map(([index, walletId]) => ({
          walletId: word(walletId),
          index,
          siblings: quaternarySiblings(leaves, index),
        })),
    },
    publicInputs: fundPublicInputs({
      assetId,
      total,
      batchId,
      eligibilityRoot,
      batchRoot,
      commitments,
    }),
  };
}

export function fundBatch() {
  return {
    protocol: '§3, one manifest, one seed',
    source: 'all of the above; canonical JSON of the script',
    labels: ['secret', 'permutation', 'ephemeral', 'dummy-wallet', 'dummy-key'].map(
      (name) => `pool/v1/fund/${name}`,
    ),
    batches: [
      exampleBatch(
        16,
        ['1', '250000', '340282366920938463463374607431760000000'],
        'three of sixteen',
      ),
      exampleBatch(
        16,
        Array.from({ length: 16 }, (_, i) => String(1_000_000 + i)),
        'a full sixteen',
      ),
      exampleBatch(
        64,
        Array.from({ length: 17 }, (_, i) => String(5_000 * (i + 1))),
        'seventeen',
      ),
    ],
  };
}
