/** Section: disclosure (docs/disclosure.md). */
import { computeAddress } from 'ethers';
import { exampleBatch } from './batches.ts';
import { domainSeparator, funder, funderPrivateKey, pool, token, typed } from './chain.ts';
import {
  bytesOf,
  createDerivation,
  hex,
  hkdf,
  jcs,
  keccak,
  keccakText,
  l,
  pack,
  sha256,
  times,
  unpack,
  walletOf,
  word,
  wordBytes,
} from './reference.ts';
import { exampleSpend } from './spends.ts';

const chainId = 31337;
const challenge = 'auditor.example/2026-11-22/7f3a91c0';
const issuedAt = 1_795_100_000;
const expiresAt = issuedAt + 30 * 86_400;

type Plan = ReturnType<typeof exampleBatch> | ReturnType<typeof exampleSpend>;

function placeOf(name: string, index: number) {
  return { txHash: keccakText(`transaction of ${name}`), index };
}

function peopleOf(plan: Plan) {
  return 'recipients' in plan.manifest ? plan.manifest.recipients : plan.manifest.outputs;
}

function slotOf(plan: Plan, place: number) {
  const slot = plan.slots.find(
    (candidate) => 'recipientIndex' in candidate && candidate.recipientIndex === place,
  );
  const person = peopleOf(plan)[place];
  if (slot === undefined || person === undefined) {
    throw new RangeError('no such payee');
  }
  return { slot, person };
}

function opening(plan: Plan, place: number) {
  const { slot, person } = slotOf(plan, place);
  return {
    slot: slot.slot,
    commitment: slot.commitment,
    amount: slot.amount,
    nonce: slot.nonce,
    walletPub: person.walletPub,
    encryptionPublicKey: person.encryptionPublicKey,
  };
}

/** As a payer shows a payment: with the payee's sign-in text and the ephemeral scalar. */
function paid(plan: Plan, place: number, withMemo: boolean) {
  const { slot, person } = slotOf(plan, place);
  const kind = 'recipients' in plan.manifest ? 'fund' : 'spend';
  const derive = createDerivation(bytesOf(plan.seed), plan.manifest);
  const scalar = 1n + (derive(`pool/v1/${kind}/ephemeral`, slot.slot) % (l - 1n));
  return {
    ...opening(plan, place),
    evidence: person.evidence,
    ...(withMemo
      ? {
          memo: {
            text: person.memo ?? null,
            proof: 'ephemeral-scalar',
            secret: word(scalar),
          },
        }
      : {}),
  };
}

/** As a payee shows it: with the key of the sealed note, derived here from v. */
function received(plan: Plan, place: number) {
  const { slot, person } = slotOf(plan, place);
  const sealed = bytesOf(plan.sealedNotes[slot.slot]?.sealed ?? '');
  const header = sealed.subarray(0, 33);
  const viewingKey = BigInt(plan.recipientKeys[place]?.viewingKey ?? 0);
  const shared = times(unpack(hex(header.subarray(1))), viewingKey);
  const salt = Buffer.concat([
    header,
    bytesOf(person.encryptionPublicKey),
    bytesOf(slot.commitment),
    wordBytes(BigInt('assetId' in plan ? plan.assetId : plan.operation.assetId)),
  ]);
  const key = hkdf(bytesOf(pack(shared)), salt, 'pool/v1/seal', 32);
  return {
    ...opening(plan, place),
    memo: { text: person.memo ?? null, proof: 'message-key', secret: hex(key) },
  };
}

function sealedOf(plan: Plan): string[] {
  return plan.sealedNotes.map(({ sealed }) => sealed);
}

function factOf(plan: Plan, name: string, index: number) {
  const sealedNotesHash = keccak(Buffer.concat(sealedOf(plan).map(bytesOf)));
  const shared = { ...placeOf(name, index), sealedNotesHash };
  return 'batchId' in plan
    ? { kind: 'batch', ...shared, commitments: plan.commitments, batchId: plan.batchId }
    : { kind: 'spend', ...shared, commitments: plan.operation.commitments };
}

function exampleDisclosure(example: {
  name: string;
  privateKey: string;
  role: 'payer' | 'payee';
  purpose: string;
  challenge?: string;
  insertions: unknown[];
  expected: unknown;
}) {
  const { name, privateKey, role, purpose, insertions, expected } = example;
  const content = {
    version: 1,
    kind: 'disclosure',
    chainId,
    pool,
    token,
    role,
    discloser: computeAddress(privateKey),
    purpose,
    ...(example.challenge === undefined ? {} : { challenge: example.challenge }),
    issuedAt,
    expiresAt,
    insertions,
  };
  const documentDigest = hex(sha256(jcs(content)));
  const { signature, ...typedData } = typed(
    domainSeparator('PoolDisclosure', '1', chainId, pool),
    'Disclosure(string role,address discloser,address token,string purpose,string challenge,' +
      'uint256 issuedAt,uint256 expiresAt,bytes32 document)',
    ['bytes32', 'address', 'address', 'bytes32', 'bytes32', 'uint256', 'uint256', 'bytes32'],
    [
      keccakText(role),
      content.discloser,
      token,
      keccakText(purpose),
      keccakText(example.challenge ?? ''),
      issuedAt,
      expiresAt,
      documentDigest,
    ],
    privateKey,
  );
  return {
    name,
    privateKey,
    ...(example.challenge === undefined ? {} : { challenge: example.challenge }),
    nowMs: 1000 * (issuedAt + 3600),
    documentDigest,
    ...typedData,
    document: { ...content, signature },
    /** `proved` or the reason, for each payment. */
    expected,
  };
}

const everything = {
  exists: 'proved',
  amount: 'proved',
  memo: 'proved',
  payer: 'proved',
  payee: 'proved',
};

export function disclosure() {
  const batch = exampleBatch(16, ['125000', '125000', '990000'], 'disclosed batch');
  const spend = exampleSpend({
    name: 'disclosed transfer',
    circuit: 'spend-2x4',
    notes: [[1_000_000n, 4, 0]],
    batches: 1,
    outputs: ['400000', '5'],
    withdrawAmount: 0n,
    changeKey: 'same',
  });
  const batchPlace = placeOf('disclosed batch', 7);
  const spendPlace = placeOf('disclosed transfer', 8);
  const [first] = batch.recipientKeys;
  const funding = { funder, batchNonce: batch.batchNonce };
  const change = {
    amount: spend.manifest.changeAmount,
    nonce: spend.slots[0]?.nonce,
    walletPub: walletOf(spend.privateKey).walletPub,
    encryptionPublicKey: spend.manifest.changeEncryptionPublicKey,
  };
  return {
    protocol: '§3, docs/disclosure.md',
    source:
      'EIP-712 by hand on keccak256 and ABI encoding from ethers; canonical JSON of the script; HKDF from node:crypto; @zk-kit/baby-jubjub',
    /** What the verifier knows. */
    facts: {
      chainId,
      pool,
      evidenceDomain: { domain: 'pool.example', uri: 'https://pool.example' },
      insertions: [factOf(batch, 'disclosed batch', 7), factOf(spend, 'disclosed transfer', 8)],
    },
    /** From which payer and payee make the documents. */
    batch: { manifest: batch.manifest, seed: batch.seed, recipientKeys: batch.recipientKeys },
    spend: {
      manifest: spend.manifest,
      seed: spend.seed,
      recipientKeys: spend.recipientKeys,
      dummyNullifiers: spend.dummies.map(({ nullifier }) => nullifier),
    },
    disclosures: [
      exampleDisclosure({
        name: 'a funder shows two payments of a batch with memos',
        privateKey: funderPrivateKey,
        role: 'payer',
        purpose: 'audit of the payroll of November 2026',
        challenge,
        insertions: [
          {
            kind: 'batch',
            ...batchPlace,
            sealedNotes: sealedOf(batch),
            payments: [paid(batch, 0, true), paid(batch, 1, true)],
            funding,
          },
        ],
        expected: [everything, everything],
      }),
      exampleDisclosure({
        name: 'a holder shows a transfer that it paid, without memo',
        privateKey: spend.privateKey,
        role: 'payer',
        purpose: 'proof of payment: invoice 4711',
        insertions: [{ kind: 'spend', ...spendPlace, payments: [paid(spend, 0, false)], change }],
        expected: [{ ...everything, memo: 'not-disclosed' }],
      }),
      exampleDisclosure({
        name: 'a payee shows what it received in a batch and in a transfer',
        privateKey: first?.privateKey ?? '',
        role: 'payee',
        purpose: 'income of 2026 – für das Finanzamt',
        challenge,
        insertions: [
          {
            kind: 'batch',
            ...batchPlace,
            sealedNotes: sealedOf(batch),
            payments: [received(batch, 0)],
            funding,
          },
          {
            kind: 'spend',
            ...spendPlace,
            sealedNotes: sealedOf(spend),
            payments: [received(spend, 0)],
          },
        ],
        expected: [everything, { ...everything, payer: 'not-disclosed' }],
      }),
    ],
  };
}
