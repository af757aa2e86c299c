/**
 * `contract_wallet` as the funder's signer: a Safe or another contract that answers for its owners (ERC-1271). No key is here. The owners
 * sign outside, and their signatures are imported. A request waits at the desk of the owners until then, and after every restart.
 *
 * A signature counts only while the contract itself says so: it is asked before a signature is stored, and again before it is used.
 *
 * @module
 */
import {
  computeTypedDataDigest,
  type EvmAddress,
  type Hex,
  type Hex32,
  PoolError,
  type TypedData,
} from '@pool/core';
import { computeRequestData, findRefusal, type SignerAllow, type SignRequest } from '@pool/policy';
import { refuse } from '../refusal.ts';
import type { Outcome, Progress, Signer } from '../signer.ts';

/** What the owners are asked for. It has no recipient. */
export type OwnersRequest = {
  /** Of the same content it is the same. */
  readonly id: string;
  readonly kind: 'fund-authorization' | 'void';
  readonly wallet: EvmAddress;
  readonly chainId: number;
  /** Idempotency-Key, chain key and token of the batch. */
  readonly batch: { readonly key: string; readonly chain: string; readonly token: string };
  /** Base units, decimal. */
  readonly total: string;
  readonly count: number;
  /** Of the batch, Unix seconds. No signature is of use after it. */
  readonly deadline: number;
  readonly digest: Hex32;
  readonly data: TypedData;
};

/** How far a request is. */
export type OwnersAnswer =
  | { readonly state: 'waiting' | 'withdrawn' }
  /** Newest first. Each was valid when it was stored. */
  | { readonly state: 'signed'; readonly signatures: readonly Hex[] };

/** Where requests wait for the owners. It survives the process. Every function throws if it does not answer. */
export type OwnersDesk = {
  /** Asking again changes nothing. */
  ask(request: OwnersRequest): Promise<void>;
  /** Undefined: it was never asked. */
  read(request: OwnersRequest): Promise<OwnersAnswer | undefined>;
  /** Takes a request back for good, unless it is signed. */
  withdraw(request: OwnersRequest): Promise<OwnersAnswer | undefined>;
  /** Whether the contract accepts the signature now. @throws PoolError `chain_unreachable` */
  isAccepted(request: OwnersRequest, signature: Hex): Promise<boolean>;
};

export type ContractWalletOptions = {
  readonly address: EvmAddress;
  readonly allow?: SignerAllow;
  /** Undefined: this process only describes the signer, and signs nothing. */
  readonly owners: OwnersDesk | undefined;
};

const name = 'contract_wallet';
const kinds = ['fund-authorization', 'void'] as const;

export function createContractWalletSigner(options: ContractWalletOptions): Signer {
  const { address, allow = {} } = options;

  function findDesk(): OwnersDesk {
    if (options.owners === undefined) {
      throw new PoolError('invalid_configuration', 'this process has no desk for the owners');
    }
    return options.owners;
  }

  async function look(
    request: OwnersRequest,
    answer: OwnersAnswer | undefined,
  ): Promise<Progress | Outcome | undefined> {
    const providerId = `owners:${request.id}`;
    switch (answer?.state) {
      case undefined:
        return undefined;
      case 'waiting':
        return { state: 'awaiting-approval', providerId };
      case 'withdrawn':
        return {
          ...{ state: 'refused', providerId, reason: 'denied' },
          message: 'the request to the owners of the contract wallet was withdrawn',
        };
      case 'signed':
        for (const signature of answer.signatures) {
          if (await findDesk().isAccepted(request, signature)) {
            return { state: 'signed', providerId, signature };
          }
        }
        throw new PoolError(
          'signature_rejected',
          'the contract wallet does not accept the signatures of its owners any more: its owners or its threshold changed since the import. Let the owners of now sign, and import again',
          { retryable: true },
        );
    }
  }

  async function readAnswer(request: SignRequest): Promise<Progress | Outcome | undefined> {
    const asked = describe(request, address);
    return look(asked, await findDesk().read(asked));
  }

  return {
    name,
    capabilities: {
      ...{ deterministic: false, needsApprover: true, curves: ['secp256k1'] },
      approvesOutside: true,
    },
    address: async () => address,
    publicKey: async () => {
      throw new PoolError('contract_wallet_unsupported', 'a contract wallet has no public key');
    },
    async submit(request, { signal } = {}) {
      signal?.throwIfAborted();
      const refusal = findRefusal(request, address, { ...allow, kinds }, Date.now());
      if (refusal !== undefined) {
        return refuse(refusal, 'the contract wallet');
      }
      const asked = describe(request, address);
      await findDesk().ask(asked);
      return (await look(asked, await findDesk().read(asked))) as Progress | Outcome;
    },
    read: (_providerId, request) => readAnswer(request),
    find: readAnswer,
    async withdraw(_providerId, request) {
      const asked = describe(request, address);
      return look(asked, await findDesk().withdraw(asked));
    },
  };
}

/** @throws PoolError `signature_rejected` for a request that this contract cannot sign */
function describe(request: SignRequest, address: EvmAddress): OwnersRequest {
  if (request.expectedSigner !== address) {
    throw new PoolError('signature_rejected', 'the request is for another wallet');
  }
  if (request.kind !== 'fund-authorization' && request.kind !== 'void') {
    throw new PoolError('signature_rejected', 'a contract wallet signs no such request');
  }
  const { file, kind, externalId: id, expectedSigner: wallet } = request;
  if (file === undefined) {
    throw new PoolError('signature_rejected', 'the request has no batch');
  }
  const { manifest } = file;
  const data = computeRequestData(request);
  return {
    ...{ id, kind, wallet, data, digest: computeTypedDataDigest(data) },
    chainId: request.payload.chainId,
    batch: { key: manifest.jobKey, chain: manifest.chain, token: manifest.token },
    total: manifest.recipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n).toString(),
    count: manifest.recipients.length,
    deadline: file.deadline,
  };
}
