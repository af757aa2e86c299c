/**
 * Custody in the sandbox: where the keys of the funder and of holders are, if not in the agent's process.
 *
 * @module
 */
import type { ChainsFile, EncryptionPublicKey, EvmAddress, Hex, WalletPub } from '@pool/core';
import type { FunderKind } from '@pool/signers';
import type { Environment, StartNode } from '../processes/env-file.ts';
import type { Service } from '../processes/service.ts';

/** Signers of `--signer`: a key in the agent's process, or in the custody of a signer that has a simulator here. */
export type SignerKind = 'local-key' | FunderKind;

/** A wallet whose key is in custody. */
export type CustodyWallet = { readonly address: EvmAddress; readonly privateKey: Hex };

/** A holder whose key is in custody. */
export type CustodyHolder = CustodyWallet & {
  /** Names its home, `<name>-home`. */
  readonly name: string;
  readonly walletPub: WalletPub;
  /** The only P that its signer vouches for and sends change to. */
  readonly encryptionPublicKey: EncryptionPublicKey;
  /** Labels and addresses that it may withdraw to are the agent's; its policy lists the addresses too. */
  readonly sendTo: readonly EvmAddress[];
  /** W of the wallets that it may pay. */
  readonly transferTo: readonly WalletPub[];
};

export type CustodyPlace = {
  /** Everything is written below this folder. */
  readonly directory: string;
  readonly start: StartNode;
  readonly chain: string;
  readonly chains: ChainsFile;
  readonly platformUrl: string;
  readonly employerId: string;
  readonly funder: CustodyWallet;
  readonly holders: readonly CustodyHolder[];
};

export type Custody = {
  readonly kind: FunderKind;
  /** Variables of the funding agent. */
  readonly funder: Environment;
  /** Variables of a holder's agent. Undefined: the kind has no signer for holders. */
  readonly holder: ((name: string) => Environment) | undefined;
  /** The custodian, with control routes for tests. Undefined: none. */
  readonly custodian: Service | undefined;
  /** The gate that votes. Undefined: none is needed. */
  readonly gate: Service | undefined;
  /** The directory of that gate, for its commands. */
  readonly gateHome: string | undefined;
};

/** Deadlines include the vote, also at the platform. */
export const voteLimitSeconds = 1_800;
