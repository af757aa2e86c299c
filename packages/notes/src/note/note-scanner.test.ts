import { type AssetId, assertField } from '@pool/core';
import { expect, it } from 'vitest';
import { computeEncryptionPublicKey, decodeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { computeCommitment } from './note.ts';
import { createNoteScanner } from './note-scanner.ts';
import { openNote, sealNote } from './sealed-note.ts';

const walletId = assertField(4321n);
const assetId: AssetId = assertField(99n);

function createNote(viewingKey: bigint, amount: bigint) {
  const encryptionPublicKey = computeEncryptionPublicKey(viewingKey);
  const encryptionPoint = decodeEncryptionPublicKey(encryptionPublicKey);
  const contents = { amount, nonce: assertField(8n), assetId };
  const commitment = computeCommitment({ ...contents, walletId, encryptionPoint });
  const sealed = sealNote({ ...contents, encryptionPublicKey, commitment, ephemeral: 9n });
  return { sealed, commitment, assetId };
}

it('finds the notes that openNote opens, for several holders at once, and ends with close', async () => {
  const keys = [0x1234n, 0x5678n];
  const notes = [0n, 1n, 2n, 3n, 4n].map((amount) => createNote(keys[Number(amount) % 2]!, amount));
  const scanner = await createNoteScanner({ threads: 1 });
  expect(scanner.detail).toMatch(/1 thread/);
  const found = await Promise.all(
    keys.map(async (viewingKey) => {
      const mine: [number, bigint][] = [];
      for await (const { index, opened } of scanner.scan({ notes, viewingKey, walletId })) {
        mine.push([index, opened.amount]);
      }
      return mine;
    }),
  );
  const expected = keys.map((viewingKey) =>
    notes.flatMap((note, index) => {
      const opened = openNote({ ...note, viewingKey, walletId });
      return opened === undefined ? [] : [[index, opened.amount]];
    }),
  );
  expect(expected.map(({ length }) => length)).toEqual([3, 2]);
  expect(found).toEqual(expected);

  const started: unknown[] = [];
  const rest = scanner.scan(
    { notes, viewingKey: keys[0]!, walletId },
    { onProgress: (scanned) => started.push(scanned) },
  );
  await scanner.close();
  await expect(rest.next()).rejects.toMatchObject({ code: 'kernels_closed' });
  expect(started).toEqual([]);
});
