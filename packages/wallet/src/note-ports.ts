/**
 * What the spends of a holder and the synchronisation of its notes tell each other. Neither imports the other; the composition in
 * apps/agent connects them.
 *
 * @module
 */
import type {
  AssetId,
  EncryptionPublicKey,
  EvmAddress,
  Field,
  Hex,
  Hex32,
  WalletPub,
} from '@pool/core';

/** One holder and P in one pool. */
export type NoteOwner = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly walletPub: WalletPub;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

/** The contract says that a spend used a note, as of a final block. */
export type NoteUse = {
  readonly nullifier: Field;
  readonly outRoot: Field;
  readonly finalBlock: number;
};

/** Slot 0 of a spend that the holder made itself. Confidential. */
export type OwnChange = {
  readonly outRoot: Hex32;
  readonly assetId: AssetId;
  readonly commitment: Field;
  readonly sealed: Hex;
};

/** Change that the archive of notes does not have yet, rebuilt from what the holder archived when it made the spends. */
export type OwnChangePort = {
  list(): Promise<readonly OwnChange[]>;
  /** Call it once the archive of notes has the change on disk. */
  markKept(outRoot: Hex32): Promise<void>;
};
