import type { ChainFamily, EncryptionPublicKey, EvmChainSettings, Hex, Secret } from '@pool/core';
import type { HolderSigner } from '@pool/signers/holder-signer';

/** A viewing key with its P. */
export type HolderKey = {
  /** v, secret: reads the notes of this P. */
  readonly viewingKey: Secret<bigint>;
  /** P on the curve of W. */
  readonly encryptionPublicKey: EncryptionPublicKey;
};

/** An opened holder: its signer, W and keys. */
export type Holder = HolderKey & {
  readonly signer: HolderSigner;
  readonly family: ChainFamily;
  /** W, hex. */
  readonly walletPub: Hex;
  /** address(W) as the chain family writes it. */
  readonly address: string;
  /** Of earlier P. Notes of these are still shown and spent; change goes to the present P. */
  readonly earlier: readonly HolderKey[];
};

/** A chain with a pool, by the agent's own settings. */
export type HolderChain = { readonly key: string; readonly settings: EvmChainSettings };
