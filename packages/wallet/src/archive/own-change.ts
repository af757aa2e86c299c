/**
 * The change of the holder's own spends, rebuilt from the archived manifest and seed (protocol §8): it depends on no server, no relayer
 * and no calldata. The sync looks for it on the chain, and keeps it like every other note.
 *
 * @module
 */
import { fieldToHex, type Hex32, hexToBytes, isPoolError } from '@pool/core';
import { buildSpend } from '@pool/notes';
import type { NoteOwner, OwnChange, OwnChangePort } from '../note-ports.ts';
import { fillInputs } from './kept-openings.ts';
import type { ArchivedSpend, SpendArchive } from './spend-archive.ts';

/** @param archive - of all holders, P and pools of one agent directory */
export function createOwnChange(
  archive: Pick<SpendArchive, 'listUnkept' | 'change'>,
  owner: NoteOwner,
): OwnChangePort {
  /** A rebuild takes milliseconds, and a sync asks each time. */
  const rebuilt = new Map<Hex32, OwnChange | undefined>();
  return {
    async list() {
      const spends = (await archive.listUnkept()).filter((spend) => isOf(owner, spend));
      return spends.flatMap((spend) => {
        if (!rebuilt.has(spend.outRoot)) {
          rebuilt.set(spend.outRoot, rebuildChange(spend));
        }
        return rebuilt.get(spend.outRoot) ?? [];
      });
    },
    async markKept(outRoot) {
      await archive.change(outRoot, (spend) => ({ ...spend, isChangeKept: true }));
    },
  };
}

function isOf(owner: NoteOwner, { chainId, pool, changeAmount, secrets }: ArchivedSpend): boolean {
  return (
    chainId === owner.chainId &&
    pool === owner.pool &&
    changeAmount !== '0' &&
    secrets?.manifest.walletPub === owner.walletPub &&
    secrets.manifest.changeEncryptionPublicKey === owner.encryptionPublicKey
  );
}

/** Undefined: manifest and seed do not give the spend. It must not stop the others, and retention erases nothing of it. */
function rebuildChange({ outRoot, secrets }: ArchivedSpend): OwnChange | undefined {
  if (secrets === undefined) {
    return undefined;
  }
  const { manifest, seed } = secrets;
  try {
    const plan = buildSpend(manifest, hexToBytes(seed, 32), fillInputs(manifest));
    const [commitment] = plan.commitments;
    const [note] = plan.sealedNotes;
    const { assetId } = plan.operation;
    return fieldToHex(plan.operation.outRoot) !== outRoot ||
      commitment === undefined ||
      note === undefined
      ? undefined
      : { outRoot, assetId, commitment, sealed: note.sealed };
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Whether manifest and seed of a decided spend may be erased without losing its change.
 * @param isRead - the chain was read just now, up to a final block, and every change that it has is kept
 */
export function isChangeSafe(spend: ArchivedSpend, isRead: boolean): boolean {
  const { state, changeAmount, isChangeKept } = spend;
  if (changeAmount === '0' || isChangeKept === true || state.kind === 'abandoned') {
    return true;
  }
  // The others have no change if the chain decided what this agent stored. A node that lied then can be found out now.
  return state.kind !== 'settled' && isRead;
}
