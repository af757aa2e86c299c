/**
 * What a spend needs from outside, as interfaces. The composition in apps/agent passes the real chain, platform, gate, notes, prover
 * and signer; tests pass fakes.
 *
 * **final**: in a block that the chain's own finality rule counts as final. **Used**: a nullifier that a spend has consumed.
 *
 * Errors are `PoolError`s; `retryable` ones are tried again.
 *
 * @module
 */
import type { SolidityProof } from '@pool/api';
import type {
  AssetId,
  EligibilityPathWire,
  EncryptionPublicKey,
  ErrorBody,
  EvmAddress,
  EvmChainSettings,
  Field,
  Hex,
  Hex32,
  Secret,
  SpendCircuit,
  WalletPub,
} from '@pool/core';
import type { NotePath } from '@pool/notes';
import type { NoteUse } from '../note-ports.ts';
import type { FinalBlock, ProvedBatch, ProveOptions, Receipt, WitnessInput } from '../ports.ts';

/** The keys of the holder whose notes are spent. */
export type SpendHolder = {
  readonly walletPub: WalletPub;
  /** address(W), checksummed: the default destination of a withdrawal. */
  readonly address: EvmAddress;
  /** P of the change: the newest one whose viewing key this agent has. */
  readonly changeKey: EncryptionPublicKey;
  /** v of a P, secret. Undefined: this agent does not have it, and does not spend notes under that P. */
  viewingKeyOf(encryptionPublicKey: EncryptionPublicKey): Secret<bigint> | undefined;
};

/** An unspent note of the holder. Secret: the nonce shows when it is spent. */
export type HolderNote = {
  readonly commitment: Field;
  /** Base units, at least 1. */
  readonly amount: bigint;
  readonly nonce: Field;
  readonly nullifier: Field;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

/** Paths of notes to one root. Secret: they tell which notes are spent. */
export type NotePaths = {
  /** The newest final root of the note tree, so that it tells nobody apart (protocol §6). */
  readonly noteRoot: Field;
  /** One for each note, in the order asked for. */
  readonly paths: readonly NotePath[];
};

/** The holder's notes, from chain events that this agent has read itself. */
export type HolderNotesPort = {
  /** Notes whose nullifier no final block has used, as far as this agent has read the chain. */
  listSpendable(assetId: AssetId): Promise<readonly HolderNote[]>;
  computePaths(notes: readonly HolderNote[]): Promise<NotePaths>;
  /**
   * Reads the chain, and compares the notes that its contract has as used with its events.
   * @throws PoolError `note_history_incomplete` (retryable) if the events show one of them as unspent; the next call reads them again
   */
  compareUses(assetId: AssetId, uses: readonly NoteUse[]): Promise<void>;
};

/** What the chain says about the inputs of one spend. */
export type NullifierState = {
  readonly finalBlock: FinalBlock;
  /** For each nullifier in the order asked for: the outRoot of the final spend that used it. */
  readonly outRoots: readonly (Hex32 | undefined)[];
  /** At least one is used in a block that is not final yet: wait. */
  readonly pending: boolean;
};

export type SpentTransaction = { readonly txHash: Hex32; readonly blockNumber: number };

export type SpendChainPort = {
  fetchNullifierState(nullifiers: readonly Hex32[]): Promise<NullifierState>;
  fetchFinalBlockNumber(): Promise<number>;
  /**
   * The final transaction that settled an outRoot.
   * @param fromBlock - it is not in an earlier one. Undefined: it can be anywhere since the deployment
   */
  fetchSpentTransaction(outRoot: Hex32, fromBlock?: number): Promise<SpentTransaction>;
  /** Timestamp of the newest block, Unix seconds. */
  fetchHeadTimestamp(): Promise<number>;
  /** `registry.current()` as of a final block: everybody has this root at that time. Zero word: no root was published. */
  fetchFinalEligibilityRoot(): Promise<Hex32>;
  isEligibilityRootAccepted(root: Hex32): Promise<boolean>;
  /** Undefined: not mined. */
  fetchReceipt(txHash: Hex32): Promise<Receipt | undefined>;
  /** The outRoot of a transaction that calls `spend()`. Undefined: it is unknown, or does not call `spend()` of the pool. */
  fetchCarriedOutRoot(txHash: Hex32): Promise<Hex32 | undefined>;
  /** Why a mined transaction reverted, decoded. */
  fetchRevertReason(txHash: Hex32): Promise<ErrorBody>;
};

/** One chain with a pool, and what is needed there. */
export type SpendContext = {
  readonly key: string;
  readonly settings: EvmChainSettings;
  readonly chain: SpendChainPort;
};

/** A proved and signed spend as the platform's relayer receives it. All of it becomes public on chain. */
export type SpendSubmission = {
  readonly chain: string;
  readonly spend: {
    readonly token: EvmAddress;
    /** Decimal base units; `0` for a transfer. */
    readonly withdrawAmount: string;
    /** Absent for a transfer. */
    readonly recipient?: EvmAddress;
    /** Unix seconds. */
    readonly deadline: number;
    readonly nullifiers: Hex32[];
    readonly commitments: Hex32[];
    readonly outRoot: Hex32;
    readonly noteRoot: Hex32;
    readonly eligibilityRoot: Hex32;
    readonly digest: Hex32;
    readonly maskedX: Hex32;
    readonly maskedY: Hex32;
    readonly slope: Hex32;
    readonly maskedDigest: Hex32;
    readonly rSig: Hex32;
    readonly s: Hex32;
    readonly parity: 0 | 1;
  };
  readonly proof: SolidityProof;
  readonly sealedNotes: { encryptionPublicKey: EncryptionPublicKey; sealed: Hex }[];
};

/** The platform's row of one spend. */
export type SpendRow = {
  readonly state: 'accepted' | 'submitted' | 'settled' | 'reverted';
  readonly outRoot: Hex32;
  /** Of the transaction that settled or reverted. Absent while none is mined. */
  readonly txHash?: Hex32 | undefined;
  readonly error?: ErrorBody | undefined;
};

/** The spend routes of `/agent-edge`, called with the credential of one role. */
export type SpendPlatformPort = {
  postSpend(key: string, submission: SpendSubmission): Promise<SpendRow>;
  /** Undefined: the platform has no such spend. */
  getSpend(key: string): Promise<SpendRow | undefined>;
};

/** The pool-gate's read side. */
export type SpendGatePort = {
  /** @param root - that all paths must lead to */
  paths(
    walletIds: readonly string[],
    root: string,
  ): Promise<{
    readonly root: Hex32;
    readonly paths: readonly EligibilityPathWire[];
    readonly missing: readonly string[];
  }>;
};

export type SpendProverPort = {
  /** `mock` proves nothing: only dry runs work. */
  readonly mode: 'real' | 'mock';
  prove(circuit: SpendCircuit, input: WitnessInput, options: ProveOptions): Promise<ProvedBatch>;
  verify(circuit: SpendCircuit, proved: ProvedBatch): Promise<boolean>;
};
