/**
 * The long checks of a spend (protocol §6–§8), as the contract makes them: field elements, both recoveries of the signature, the
 * root of the outputs, the digest, and the keys of the notes. A mistake costs no gas here, and no sealed note is stored that
 * does not belong to its spend. Runs in a thread of its own (batch-check-worker.ts).
 *
 * @module
 */
import type { SpendCallWire } from '@pool/api';
import {
  computeAssetId,
  type EvmAddress,
  fieldToHex,
  type Hex32,
  hexToBigint,
  parseEvmAddress,
  parseField,
  type SpendCircuit,
} from '@pool/core';
import {
  type BatchArithmetic,
  computeSpendPublicInputs,
  type SpendOperation,
  verifyMaskedSigner,
} from '@pool/notes';
import { type BatchVerdict, describeRefusal, type ProofInputs } from './check-batch.ts';
import { spendRefusals } from './refuse-settlement.ts';

const { attempt, assertThat } = spendRefusals;

/** Input of the thread. Public, except which keys get notes of one spend. */
export type SpendJob = {
  readonly kind: 'spend';
  readonly spend: SpendCallWire;
  readonly circuit: SpendCircuit;
  readonly sealedNotesHash: Hex32;
  /** In slot order. */
  readonly encryptionPublicKeys: readonly string[];
  readonly chainId: number;
  readonly pool: EvmAddress;
};

/** @returns a verdict for any input of a caller; throws for internal failures */
export async function checkSpend(
  job: SpendJob,
  arithmetic: Pick<BatchArithmetic, 'computeBatchRoot' | 'findInvalidKey'>,
): Promise<BatchVerdict> {
  try {
    return { kind: 'fits', inputs: await computeInputs(job, arithmetic) };
  } catch (error) {
    return describeRefusal(error);
  }
}

async function computeInputs(
  { spend, circuit, sealedNotesHash, encryptionPublicKeys, chainId, pool }: SpendJob,
  arithmetic: Pick<BatchArithmetic, 'computeBatchRoot' | 'findInvalidKey'>,
): Promise<ProofInputs> {
  const field = (name: 'outRoot' | 'noteRoot' | 'eligibilityRoot' | 'digest') =>
    attempt(`spend.${name}`, () => parseField(spend[name]));
  const fields = (name: 'nullifiers' | 'commitments') =>
    spend[name].map((word, place) => attempt(`spend.${name}.${place}`, () => parseField(word)));
  const commitments = fields('commitments');
  const operation: SpendOperation = {
    circuit,
    assetId: computeAssetId(chainId, pool, parseEvmAddress(spend.token)),
    withdrawAmount: BigInt(spend.withdrawAmount),
    recipient: spend.recipient === undefined ? undefined : parseEvmAddress(spend.recipient),
    deadline: spend.deadline,
    sealedNotesHash,
    outRoot: field('outRoot'),
    nullifiers: fields('nullifiers'),
  };
  const [noteRoot, eligibilityRoot, digest] = [
    field('noteRoot'),
    field('eligibilityRoot'),
    field('digest'),
  ];
  const rSig = hexToBigint(spend.rSig);
  const maskedSigner = {
    maskedPub: { x: hexToBigint(spend.maskedX), y: hexToBigint(spend.maskedY) },
    maskedDigest: hexToBigint(spend.maskedDigest),
    slope: hexToBigint(spend.slope),
  };
  assertThat(
    verifyMaskedSigner(maskedSigner, { rSig, s: hexToBigint(spend.s), parity: spend.parity }),
    'the signature is not one by the masked key: maskedX, maskedY, slope, maskedDigest, rSig, s and parity do not fit together',
  );
  assertThat(
    (await arithmetic.computeBatchRoot(commitments)) === operation.outRoot,
    'spend.outRoot is not the root of the commitments',
  );
  const statement = { operation, commitments, noteRoot, eligibilityRoot, maskedSigner, rSig };
  const inputs = attempt('spend', () => computeSpendPublicInputs(statement));
  assertThat(
    fieldToHex(inputs.digest) === fieldToHex(digest),
    'spend.digest does not fit the spend',
  );
  const slot = await arithmetic.findInvalidKey(encryptionPublicKeys);
  assertThat(
    slot === undefined,
    `sealedNotes.${slot}.encryptionPublicKey (invalid_encryption_key)`,
  );
  const { z, y } = inputs;
  return { digest: inputs.digest, z, y };
}
