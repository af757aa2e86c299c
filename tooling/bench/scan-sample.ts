// Notes to scan: sealed for one holder or for strangers. Sealing is slow (two products in BigInt per note), so larger samples
// repeat a thousand different notes, which does not change the work of the scan.
import { assertField } from '@pool/core';
import {
  computeCommitment,
  computeEncryptionPublicKey,
  decodeEncryptionPublicKey,
  sealNote,
} from '@pool/notes';

/** The holder whose notes the scan finds. */
export const holder = { viewingKey: 0x1234_5678_9abc_def0n ** 3n, walletId: assertField(4321n) };

const distinct = 1000;

function seal(index: number, viewingKey: bigint) {
  const encryptionPublicKey = computeEncryptionPublicKey(viewingKey);
  const contents = { amount: BigInt(index), nonce: assertField(BigInt(index + 1) ** 7n) };
  const assetId = assertField(99n);
  const { walletId } = holder;
  const encryptionPoint = decodeEncryptionPublicKey(encryptionPublicKey);
  const commitment = computeCommitment({ ...contents, assetId, walletId, encryptionPoint });
  const ephemeral = BigInt(index + 2) ** 19n;
  const sealed = sealNote({ ...contents, encryptionPublicKey, commitment, assetId, ephemeral });
  return { sealed, commitment, assetId };
}

/** @param ownPart - 0 … 1, the part of the notes that are the holder's */
export function createScanNotes(
  count: number,
  ownPart: number,
): readonly ReturnType<typeof seal>[] {
  const different = Array.from({ length: Math.min(count, distinct) }, (_, index) => {
    const isOwn = Math.floor((index + 1) * ownPart) > Math.floor(index * ownPart);
    return seal(index, isOwn ? holder.viewingKey : holder.viewingKey + BigInt(index + 1));
  });
  return Array.from({ length: Math.ceil(count / distinct) }, () => different)
    .flat()
    .slice(0, count);
}
