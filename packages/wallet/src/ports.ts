/**
 * What the code of a holder needs from outside, as interfaces: clock, prover, the state of the chain, and the memory of sign-in evidence.
 *
 * @module
 */
import type { RecipientRecord, SolidityProof } from '@pool/api';
import type { EncryptionPublicKey, WalletPub } from '@pool/core';
import type { WitnessSignal } from '@pool/notes';

export type Clock = {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Of a clock that does not step when the clock of the machine is set. */
  steadyMs(): number;
  /** @throws when the signal is aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
};

export type FinalBlock = { readonly number: number; readonly timestampSeconds: number };

export type Receipt = {
  readonly reverted: boolean;
  readonly final: boolean;
  readonly blockNumber: number;
  readonly gasUsed: bigint;
};

/** A proof with the three public signals it was made for (D, z, y). */
export type ProvedBatch = {
  readonly proof: SolidityProof;
  readonly publicSignals: readonly bigint[];
};

/** Circuit inputs by signal name. Secret. */
export type WitnessInput = Readonly<Record<string, WitnessSignal>>;

export type ProveOptions = {
  readonly signal: AbortSignal;
  /** @param fraction - 0 … 1 */
  readonly onProgress: (fraction: number) => void;
};

/** Newest sign-in evidence seen per wallet (protocol §2). Durable: a restart must not forget a rotation. */
export type EvidencePins = {
  /**
   * Records each piece of evidence that is the newest of its wallet. All are one write, because each write waits for the
   * disk.
   * @returns in the order given; false when newer evidence of this wallet names another P
   */
  pinAll(evidence: readonly PinnedEvidence[]): Promise<readonly boolean[]>;
};

export type PinnedEvidence = {
  readonly walletPub: WalletPub;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly issuedAtMs: number;
};

/** What `/agent-edge` says of the recipients of a payment. */
export type RecipientPort = {
  lookupRecipients(
    chain: string,
    addresses: readonly string[],
  ): Promise<readonly RecipientRecord[]>;
};
