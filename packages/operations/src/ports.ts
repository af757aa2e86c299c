/**
 * What the disbursement pipeline needs from outside, as interfaces. The composition in apps/agent passes
 * the real chain, platform, gate, prover and signer; tests pass fakes.
 *
 * - **final**: in a block that the chain's own finality rule counts as final (chain settings).
 * - **used**: a batchNonce that a `fund()` of its funder has consumed; another funder's use of the same nonce is another
 *   batch. **Voided**: withdrawn by its funder.
 *
 * Errors are `PoolError`s; `retryable` ones are tried again, the others end the step that made the call.
 *
 * @module
 */

import type { SettlementRecord, SettlementRequest, VoidRequest } from '@pool/api';
import type {
  BatchSize,
  EligibilityPathWire,
  EncryptionPublicKey,
  ErrorBody,
  EvmAddress,
  EvmChainSettings,
  FundFile,
  Hex,
  Hex32,
  WalletPub,
} from '@pool/core';
import type {
  ApprovalExpectation,
  FundAuthorizationPayload,
  PermitPayload,
  VoidPayload,
} from '@pool/signers';
import type {
  FinalBlock,
  ProvedBatch,
  ProveOptions,
  Receipt,
  RecipientPort,
  WitnessInput,
} from '@pool/wallet';

/** A `fund()` call, from its event on chain. */
export type FundedBatch = {
  /** Binds the funder (protocol §3). */
  readonly batchId: Hex32;
  readonly batchRoot: Hex32;
  readonly sealedNotesHash: Hex32;
  readonly commitments: readonly Hex32[];
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/** The state of one batchNonce of one funder on chain. */
export type NonceState = {
  readonly finalBlock: FinalBlock;
  /** The final use, if any. */
  readonly funded: FundedBatch | undefined;
  /** A void is final. */
  readonly voided: boolean;
  /** Used in a block that is not final yet: wait. */
  readonly pending: boolean;
};

export type Transferred = {
  /** Base units of the requested token. */
  readonly amount: bigint;
  /** It moved something, in this token or another. */
  readonly anyToken: boolean;
};

/** An unsigned `approve` of the token contract: type 2, value 0. */
export type ApprovalTransaction = {
  readonly chainId: number;
  readonly nonce: number;
  readonly token: EvmAddress;
  readonly spender: EvmAddress;
  /** Base units; 0 takes an approval back. */
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** What a transaction has to pay now, wei for each gas. */
export type ChainFees = {
  /** Of the newest block. No block takes a transaction that pays less. */
  readonly baseFeePerGas: bigint;
  /** Enough for some time. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** One EVM chain, read through the agent's own RPC. */
export type ChainPort = {
  /**
   * Compares the contracts of the pool with the code that the pinned keys give. An answer without a difference is kept.
   * @throws PoolError `pool_code_differs`, `chain_unreachable`
   */
  requirePool(): Promise<void>;
  fetchNonceState(funder: EvmAddress, batchNonce: Hex32): Promise<NonceState>;
  /** Timestamp of the newest block, Unix seconds. */
  fetchHeadTimestamp(): Promise<number>;
  isEligibilityRootAccepted(root: Hex32): Promise<boolean>;
  /** Allowance of the pool over the funder's tokens. */
  fetchAllowance(token: EvmAddress, funder: EvmAddress): Promise<bigint>;
  /** Base units of the token that an account holds. */
  fetchTokenBalance(token: EvmAddress, account: EvmAddress): Promise<bigint>;
  /** Wei of the chain's own coin that an account holds. */
  fetchCoinBalance(account: EvmAddress): Promise<bigint>;
  fetchPermitNonce(token: EvmAddress, funder: EvmAddress): Promise<bigint>;
  /** Undefined: not mined. */
  fetchReceipt(txHash: Hex32): Promise<Receipt | undefined>;
  /** The batch of a transaction that calls `fund()`. Undefined: it is unknown, or does not call `fund()` of the pool. */
  fetchCarriedBatch(
    txHash: Hex32,
  ): Promise<{ readonly batchNonce: Hex32; readonly batchRoot: Hex32 } | undefined>;
  /** Why a mined transaction reverted, decoded. */
  fetchRevertReason(txHash: Hex32): Promise<ErrorBody>;
  /** What a final transaction moved from the funder into the pool. */
  fetchTransferred(txHash: Hex32, token: EvmAddress, funder: EvmAddress): Promise<Transferred>;
  prepareApproval(
    token: EvmAddress,
    funder: EvmAddress,
    value: bigint,
  ): Promise<ApprovalTransaction>;
  fetchFees(): Promise<ChainFees>;
  /** Next nonce of the account counting mined transactions only. */
  fetchMinedNonce(account: EvmAddress): Promise<number>;
  /** Sending the same transaction again is not an error. */
  broadcast(rawTransaction: Hex): Promise<void>;
};

/** `/agent-edge` of the platform. */
export type PlatformPort = RecipientPort & {
  postSettlement(key: string, request: SettlementRequest): Promise<SettlementRecord>;
  getSettlement(key: string): Promise<SettlementRecord | undefined>;
  /**
   * Sends the funder's withdrawal of a batch. The answer is the platform's row. Only the chain shows that the batch is
   * void.
   * @throws PoolError 404 `not_found` when the platform has no such settlement
   */
  postVoid(key: string, request: VoidRequest): Promise<SettlementRecord>;
};

/** The pool-gate's read side. */
export type GatePort = {
  paths(walletIds: readonly string[]): Promise<{
    readonly root: Hex32;
    readonly paths: readonly EligibilityPathWire[];
    readonly missing: readonly string[];
  }>;
};

export type ProverPort = {
  /** `mock` proves nothing: jobs refuse, checks and dry runs work. */
  readonly mode: 'real' | 'mock';
  prove(size: BatchSize, input: WitnessInput, options: ProveOptions): Promise<ProvedBatch>;
  verify(size: BatchSize, proved: ProvedBatch): Promise<boolean>;
};

/**
 * What the funder is asked to sign. `file` is the batch that the request belongs to: a signer outside this process rebuilds the
 * batch from it, and refuses a request that does not follow from it. Secret.
 */
export type FunderRequest = { readonly file: FundFile } & (
  | { readonly kind: 'fund-authorization'; readonly payload: FundAuthorizationPayload }
  /** Withdraws an authorisation: the contract then never accepts its batch. */
  | { readonly kind: 'void'; readonly payload: VoidPayload }
  | { readonly kind: 'permit'; readonly payload: PermitPayload }
  | {
      readonly kind: 'token-approval';
      readonly transaction: ApprovalTransaction;
      /** The required fields of the approval. */
      readonly expected: ApprovalExpectation;
    }
);

/** The answer of the signer to one question. */
export type FunderAnswer =
  | {
      readonly state: 'signed';
      /** 65 bytes r ‖ s ‖ v. Of a token approval: the raw signed transaction. */
      readonly signed: Hex;
    }
  /** A token approval that the provider signed and sent itself. */
  | { readonly state: 'sent'; readonly txHash: Hex32 }
  /** A vote is underway, or the provider is signing. */
  | { readonly state: 'waiting'; readonly providerId: string }
  /** Final: refused, expired or failed. There is no signature, and there will be none. */
  | {
      readonly state: 'ended';
      readonly error: ErrorBody;
      /** This side refused the request and did not ask the provider. A request that was sent earlier may still be signed. */
      readonly isOwn?: true;
    };

/** The funder's key, local or remote. It computes every digest itself. */
export type FunderPort = {
  readonly address: EvmAddress;
  /**
   * True: its signature requires a vote, which takes minutes or hours. It is asked with a deadline that includes the vote, and for the
   * authorisation without the allowance lock, so that no other batch waits for that vote.
   */
  readonly needsVote: boolean;
  /** True: it signs neither permits nor approvals. The wallet gives the pool its allowance by a transaction of its own. */
  readonly approvesOutside?: boolean;
  /** Id of a request at the signer. The same content has the same id after every crash. */
  identify(request: FunderRequest): string;
  /**
   * Sends the request, or reads it if it was sent before. Asking again makes no second request at the provider.
   * @param providerId - from an earlier `waiting`
   * @throws PoolError when the signer does not answer; the request may have arrived
   */
  ask(
    request: FunderRequest,
    providerId: string | undefined,
    signal: AbortSignal,
  ): Promise<FunderAnswer>;
  /**
   * Takes back a request that waits for a vote. A request that was signed before stays signed.
   * @returns undefined: the provider has no such request
   */
  withdraw(
    request: FunderRequest,
    providerId: string | undefined,
    signal: AbortSignal,
  ): Promise<FunderAnswer | undefined>;
};

/** The encryption key that each wallet was last paid under. Durable, so that the operator is warned of a change. */
export type PaidKeys = {
  /** In the order given. Undefined: this agent never paid the wallet. */
  findAll(wallets: readonly WalletPub[]): Promise<readonly (PaidKey | undefined)[]>;
  /** Keeps the later payment of a wallet. Recording the same payment again changes nothing. */
  record(paid: readonly PaidWallet[], atMs: number): Promise<void>;
};

/** A wallet and the key that it was paid under. */
export type PaidWallet = {
  readonly walletPub: Hex;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

export type PaidKey = {
  readonly encryptionPublicKey: EncryptionPublicKey;
  /** When the payment settled, milliseconds since the epoch. */
  readonly atMs: number;
};

export type { JobJournal } from '@pool/idempotency/engine';

/** One chain the agent can settle on, with what is needed there. */
export type ChainContext = {
  readonly key: string;
  readonly settings: EvmChainSettings;
  readonly chain: ChainPort;
};
