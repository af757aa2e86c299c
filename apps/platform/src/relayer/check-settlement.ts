/**
 * Everything about a settlement request that the platform can check without the chain (protocol §8):
 * what it would store and send is exactly what the funder authorised. The contract checks again; here a
 * mistake costs no gas, and no sealed note is stored that does not belong to its batch.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import {
  computeAssetId,
  computeBatchId,
  type Delivery,
  type EvmChainSettings,
  fieldToHex,
  isPoolError,
  PoolError,
  parseEvmAddress,
  parseField,
} from '@pool/core';
import {
  computeBatchRoot,
  computeFundPublicInputs,
  computeSealedNotesHash,
  decodeEncryptionPublicKey,
  type FundPublicInputs,
} from '@pool/notes';

/** Suite byte of a note sealed to a Baby Jubjub key, the only one an EVM pool carries. */
const evmSuite = '0x01';

/** Keys that are checked before other requests get their turn: a few milliseconds. */
const keysPerTurn = 8;

/**
 * @returns what the proof has to be about
 * @throws PoolError `invalid_settlement` naming the first thing that does not fit
 */
export async function assertSettlement(
  request: Delivery,
  settings: EvmChainSettings,
): Promise<FundPublicInputs> {
  const { batch, sealedNotes } = request;
  const token = attempt('batch.token', () => parseEvmAddress(batch.token));
  const funder = attempt('batch.funder', () => parseEvmAddress(batch.funder));
  const tokens = Object.values(settings.tokens).map(({ address }) => address.toLowerCase());
  assertThat(tokens.includes(token.toLowerCase()), 'batch.token is not a token of this chain');
  assertThat(
    sealedNotes.length === batch.commitments.length,
    'sealedNotes and batch.commitments differ in number',
  );
  const commitments = batch.commitments.map((word, slot) =>
    attempt(`batch.commitments.${slot}`, () => parseField(word)),
  );
  const batchRoot = attempt('batch.batchRoot', () => parseField(batch.batchRoot));
  const batchNonce = attempt('batch.batchNonce', () => parseField(batch.batchNonce));
  const eligibilityRoot = attempt('batch.eligibilityRoot', () => parseField(batch.eligibilityRoot));
  const digest = attempt('batch.digest', () => parseField(batch.digest));
  assertThat(batchNonce !== 0n, 'batch.batchNonce is zero');
  assertThat(
    attempt('batch.commitments', () => computeBatchRoot(commitments)) === batchRoot,
    'batch.batchRoot is not the root of the commitments',
  );
  const assetId = computeAssetId(settings.chainId, settings.pool, token);
  const total = BigInt(batch.total);
  const publicInputs = computeFundPublicInputs({
    assetId,
    total,
    batchId: computeBatchId(funder, batchNonce),
    eligibilityRoot,
    batchRoot,
    commitments,
  });
  assertThat(
    fieldToHex(publicInputs.digest) === fieldToHex(digest),
    'batch.digest does not fit the batch',
  );
  sealedNotes.forEach(({ sealed }, slot) => {
    assertThat(sealed.startsWith(evmSuite), `sealedNotes.${slot}.sealed is of another suite`);
  });
  assertThat(
    computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed)) === batch.sealedNotesHash,
    'batch.sealedNotesHash is not the hash of the sealed notes in slot order',
  );
  for (const [slot, { encryptionPublicKey }] of sealedNotes.entries()) {
    attempt(`sealedNotes.${slot}.encryptionPublicKey`, () =>
      decodeEncryptionPublicKey(encryptionPublicKey),
    );
    if (slot % keysPerTurn === keysPerTurn - 1) {
      await setImmediate();
    }
  }
  return publicInputs;
}

function assertThat(holds: boolean, message: string): void {
  if (!holds) {
    throw new PoolError('invalid_settlement', `settlement refused: ${message}`);
  }
}

function attempt<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    const code = isPoolError(cause) ? cause.code : 'malformed';
    throw new PoolError('invalid_settlement', `settlement refused: ${path} (${code})`, { cause });
  }
}
