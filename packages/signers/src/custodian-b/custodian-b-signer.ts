/**
 * `custodian_b` as the funder's signer: one vault account at a custodian whose co-signer asks the approve process before it signs. There
 * is no holder's signer for this custodian: a spend is a bare digest, and it would need RAW signing, which stays off.
 *
 * Every answer is checked against what this side asked for: the document that the custodian shows, and the digest that this side
 * computed.
 *
 * @module
 */
import { type EvmAddress, isPoolError, type WalletPub } from '@pool/core';
import {
  findRefusal,
  type RefusalReason,
  type SignerAllow,
  type SignRequest,
  type TokenApprovalRequest,
} from '@pool/policy';
import * as v from 'valibot';
import type { Approver } from '../approver/approver-client.ts';
import { createCustodianFlow } from '../custodian/custodian-flow.ts';
import { failForeign, type Step } from '../custodian/custodian-outcomes.ts';
import type { Signer } from '../signer.ts';
import { createdSchema } from './answers.ts';
import { type CustodianBAccount, createCustodianBClient } from './custodian-client.ts';
import { interpretTransaction } from './interpret-transaction.ts';
import {
  createTransactionBody,
  isSupported,
  type SupportedRequest,
  supportedKinds,
} from './transaction-body.ts';
import { createVaultRequests } from './vault-requests.ts';

export type CustodianBSignerOptions = CustodianBAccount & {
  /** Id of the vault account that signs. */
  readonly vaultAccountId: string;
  /** Id of the asset at the custodian, which chooses the key, and the chain of a contract call. */
  readonly assetId: string;
  /**
   * EIP-155 id of the chain of `assetId`. The custodian sends token approvals there, so an approval for another chain is refused.
   * Omitted: every token approval is refused.
   */
  readonly assetChainId?: number;
  /** Address of the vault account, from this side's own configuration, never from the custodian. */
  readonly address: EvmAddress;
  readonly allow?: SignerAllow;
  /** Gets the manifest file of a request before the custodian is asked. Omitted: the co-signer's handler decides without it. */
  readonly approver?: Approver;
};

const signerName = 'the vault account at the custodian';

/**
 * A funder at custodian B. A request waits there for the approve process, for hours if need be; `submit`, `read` and `find` say where it
 * stands. A token approval ends as `sent`: the custodian signs the transaction and sends it.
 *
 * @example
 * const signer = createCustodianBSigner({ url, apiKey, apiSecret, vaultAccountId: '0', assetId: 'ETH', address });
 * const step = await signer.submit(createSignRequest({ kind: 'void', payload, expectedSigner: address }));
 *
 * @throws PoolError `invalid_configuration`
 */
export function createCustodianBSigner(options: CustodianBSignerOptions): Signer {
  const { address, approver, vaultAccountId, assetId, assetChainId, nowMs = Date.now } = options;
  const place = { vaultAccountId, assetId };
  const expectation = { place, address };
  const allow = {
    ...options.allow,
    kinds: supportedKinds.filter((kind) => options.allow?.kinds?.includes(kind) ?? true),
  };
  const client = createCustodianBClient(options);
  const vault = createVaultRequests(client, place);
  let isVerified = false;

  async function verifyAddress(signal?: AbortSignal): Promise<void> {
    if (!isVerified) {
      await vault.assertAddress(address, signal);
      isVerified = true;
    }
  }

  function findOwnRefusal(request: SignRequest): RefusalReason | undefined {
    return (
      findRefusal(request, address, allow, nowMs()) ??
      (request.kind === 'token-approval' ? findChainRefusal(request) : undefined)
    );
  }

  function findChainRefusal({ payload }: TokenApprovalRequest): RefusalReason | undefined {
    if (assetChainId === undefined) {
      return 'kind-not-allowed';
    }
    return payload.expected.chainId === assetChainId ? undefined : 'foreign-chain';
  }

  async function lookUp(
    request: SupportedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const record = await vault.find(request.externalId, signal);
    return record === undefined ? undefined : interpretTransaction(record, request, expectation);
  }

  async function readKnown(
    id: string,
    request: SupportedRequest,
    signal?: AbortSignal,
  ): Promise<Step | undefined> {
    const record = await vault.fetch(id, signal);
    if (record === undefined) {
      return undefined;
    }
    return record.id === id ? interpretTransaction(record, request, expectation) : failForeign(id);
  }

  const flow = createCustodianFlow<SupportedRequest>({
    signerName,
    approver,
    nowMs,
    isSupported,
    findRefusal: findOwnRefusal,
    verify: verifyAddress,
    lookUp,
    prepare: (request, signal) => vault.prepare(createTransactionBody(request, place), signal),
    async readCreated(body, request, signal) {
      const created = v.safeParse(createdSchema, body);
      if (!created.success) {
        return undefined;
      }
      const { id: providerId } = created.output;
      // What the custodian stored is compared at once. An outage does not lose the id.
      const step = await readKnown(providerId, request, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        ignoreOutage(error);
      });
      return step ?? { state: 'submitted', providerId };
    },
    // The code of a repeated externalTxId is not documented, so every 400 is looked up.
    readExisting: async ({ status }, request, signal) =>
      status === 400 ? lookUp(request, signal) : undefined,
    createRefusal: client.createRefusal,
    readKnown,
    cancel: ({ providerId }, signal) => vault.cancel(providerId, signal),
  });

  return {
    name: 'custodian_b',
    capabilities: { deterministic: false, needsApprover: true, curves: ['secp256k1'] },
    address: async () => address,
    publicKey: (): Promise<WalletPub> => vault.fetchWalletPub(address),
    probe: ({ signal } = {}) => vault.assertAddress(address, signal),
    ...flow,
  };
}

/** @throws the error itself unless the custodian may answer later */
function ignoreOutage(error: unknown): void {
  if (!isPoolError(error) || !error.retryable) {
    throw error;
  }
}
