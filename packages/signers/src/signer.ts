/**
 * The interface of every signer: local key, enclave, custodian.
 *
 * `submit` and `read` are separate, so that a job can store `providerId` and survive a crash while people approve. `find`
 * recovers a request whose answer was lost. A signer only returns a signature that passed {@link acceptSignature}.
 *
 * @module
 */
import type { EvmAddress, Hex, Hex32, WalletPub } from '@pool/core';
import type { RefusalReason, SignRequest } from '@pool/policy';

export type Progress = {
  readonly state: 'submitted' | 'awaiting-approval' | 'signing';
  readonly providerId: string;
  readonly approvalId?: string;
};

export type Outcome =
  | {
      readonly state: 'signed';
      readonly providerId: string;
      /** 65 bytes r ‖ s ‖ v: low s, v 27 or 28, recovered to the signer's address. */
      readonly signature: Hex;
    }
  | {
      /** A token approval that the provider signs and sends itself. */
      readonly state: 'sent';
      readonly providerId: string;
      readonly txHash: Hex32;
    }
  | {
      readonly state: 'refused';
      readonly providerId?: string;
      readonly reason: RefusalReason;
      /** Public explanation, without values from the request. */
      readonly message: string;
    }
  | { readonly state: 'expired'; readonly providerId: string }
  | {
      readonly state: 'failed';
      readonly providerId?: string;
      readonly retryable: boolean;
      readonly code: string;
      readonly message: string;
    };

/** The request is at the provider, which has not decided it. */
export function isProgress(step: Progress | Outcome): step is Progress {
  return (
    step.state === 'submitted' || step.state === 'awaiting-approval' || step.state === 'signing'
  );
}

export type SignerCapabilities = {
  /** The same request always gives the same signature (RFC 6979). */
  readonly deterministic: boolean;
  /** A separate approval process must receive the manifest first. Only such a signer lets a request wait for a vote. */
  readonly needsApprover: boolean;
  readonly curves: readonly ('secp256k1' | 'ed25519')[];
  /** The wallet gives the pool its allowance by a transaction of its own: neither permits nor approvals are signed. */
  readonly approvesOutside?: true;
};

export type SubmitOptions = {
  /** Ends the call early. A request that was accepted stays at the provider. */
  readonly signal?: AbortSignal;
};

export type Signer = {
  /** Kind of the signer in the configuration, for example `local-key`. */
  readonly name: string;
  readonly capabilities: SignerCapabilities;
  address(): Promise<EvmAddress>;
  publicKey(): Promise<WalletPub>;
  /**
   * Asks the provider whether it signs with the configured address, without asking for a signature. Undefined member: ask for
   * {@link publicKey}.
   * @throws PoolError if it does not, or does not answer
   */
  probe?(options?: SubmitOptions): Promise<void>;
  /** Ends a connection to the provider. A later call makes another one. Undefined member: no connection stays open. */
  close?(): void;
  /**
   * Requests a signature. Safe to call again with the same request: the provider has one request for each `externalId`.
   */
  submit(request: SignRequest, options?: SubmitOptions): Promise<Progress | Outcome>;
  /**
   * Reads a request that was submitted. The request is passed again, because a signature is checked against the digest that we
   * compute, also after a restart.
   * @returns undefined if the signer does not know the id any more: submit again
   */
  read(
    providerId: string,
    request: SignRequest,
    options?: SubmitOptions,
  ): Promise<Progress | Outcome | undefined>;
  /** Finds a request by the id of its content, after an answer was lost. Undefined: the provider does not have it. */
  find(request: SignRequest, options?: SubmitOptions): Promise<Progress | Outcome | undefined>;
  /**
   * Takes back a request that waits for a vote. Undefined member: requests of this signer never wait.
   * @returns the state after it; a request that was signed before stays signed
   */
  withdraw?(
    providerId: string,
    request: SignRequest,
    options?: SubmitOptions,
  ): Promise<Progress | Outcome | undefined>;
};
