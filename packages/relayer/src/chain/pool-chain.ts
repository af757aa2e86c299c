/**
 * What the platform reads from a chain with a pool and sends to it. Every read names its block, and nothing here
 * decides.
 *
 * @module
 */

import type { SettlementRequest, SpendRequest, VoidRequest } from '@pool/api';
import {
  type ContractSignature,
  type ContractVerdict,
  checkContractSignature,
  computeFunderQuestionGas,
  computeFundGasCeiling,
  computeSpendGasCeiling,
  connectShieldedPool,
  createPoolComparison,
  createPoolReader,
  decodeRevert,
  encodeSpend,
  noPermit,
  type PoolReader,
  shieldedPoolInterface as pool,
  requirePoolCode,
  signInQuestionGas,
  simulateCall,
  voidGasCeiling,
} from '@pool/contracts';
import { type KeySource, readPinnedKeys } from '@pool/contracts/pinned-keys';
import {
  type ErrorBody,
  type EvmChainSettings,
  errorCodeOf,
  type Hex,
  PoolError,
  peerCode,
  type Secret,
  spendCircuits,
  spendShapes,
} from '@pool/core';
import {
  askChain,
  createEvmProvider,
  createTransactionSigner,
  describeGasCeiling,
  estimateGasLimit,
  fetchGasCeiling,
  fetchReceipt,
  isEvmFailure,
  type SignedTransaction,
  type TransactionCaps,
  type TransactionSigner,
} from '@pool/evm-sender';
import { computeAddress, concat, id, Transaction, ZeroAddress } from 'ethers';

/** The part of a settlement that becomes calldata. */
export type FundCall = Pick<SettlementRequest, 'batch' | 'proof' | 'funderSignature' | 'permit'>;

/** A funder's withdrawal of a batch. */
export type VoidCall = Pick<VoidRequest, 'funder' | 'batchNonce' | 'signature'>;

/** A spend of a holder with its sealed notes, in slot order. */
export type HolderSpendCall = Pick<SpendRequest, 'spend' | 'proof'> & {
  readonly sealedNotes: readonly Hex[];
};

/** A call of the pool that the relayer sends. */
export type PoolCall =
  | { readonly kind: 'fund'; readonly call: FundCall }
  | { readonly kind: 'void'; readonly call: VoidCall }
  | { readonly kind: 'spend'; readonly call: HolderSpendCall };

/** The gas that a call gets, or why it must not be sent. */
export type GasDecision =
  | { readonly kind: 'limit'; readonly gasLimit: bigint }
  | { readonly kind: 'refused'; readonly reason: ErrorBody };

export type PoolChain = PoolReader &
  Omit<TransactionSigner, 'address' | 'sign' | 'signReplacement'> & {
    readonly key: string;
    readonly settings: EvmChainSettings;
    /** Of the key in use. */
    readonly relayerAddress: string;
    /** Whether the pool accepts `fund` from the account of a key. Default: the key in use. */
    hasRelayerRole(key?: Secret): Promise<boolean>;
    /**
     * That the RPC serves the configured chain, and that the contracts of the pool have the code that the pinned keys give. The second
     * is asked until it is true, and not again.
     * @throws PoolError `wrong_chain`, `pool_code_differs`, `chain_unreachable`
     */
    assertChain(): Promise<void>;
    /**
     * eth_call from the relayer, within the gas ceiling.
     * @param state - default: of the head. `pending`: after what the node has not mined yet
     * @returns why it would fail, or undefined
     */
    simulate(call: PoolCall, state?: 'latest' | 'pending'): Promise<ErrorBody | undefined>;
    decideGas(call: PoolCall): Promise<GasDecision>;
    /** @throws PoolError `fee_cap_reached` (retryable) */
    sign(call: PoolCall, nonce: number, gasLimit: bigint): Promise<SignedTransaction>;
    /**
     * Signs a transaction of higher fees for the nonce of one that is not mined.
     * @throws PoolError `fee_cap_reached` (retryable); `gas_ceiling_exceeded` for another call
     */
    signReplacement(
      rawTransaction: string,
      purpose: 'same-call' | 'cancel' | PoolCall,
    ): Promise<SignedTransaction>;
    /** Why signed bytes must not be sent (again): their gas limit is above the ceiling of their call. */
    findExcess(rawTransaction: string): Promise<ErrorBody | undefined>;
    /** Asks the contract at an address (ERC-1271). @throws PoolError `chain_unreachable` (503, retryable) */
    checkContractSignature(subject: ContractSignature): Promise<ContractVerdict>;
    /** Asks as the pool asks the contract of a funder. @throws PoolError `chain_unreachable` (503, retryable) */
    checkFunderContract(subject: ContractSignature): Promise<ContractVerdict>;
    close(): void;
  };

const relayerRole = id('RELAYER_ROLE');

/** A person waits at the sign-in, or an agent for its settlement. */
const contractTimeoutMs = 5_000;

/** Receipts that are asked for together are one request, where the node accepts that. */
const receiptsAtOnce = 100;

/** For calls that run a funder's own code: an honest one takes milliseconds, and other settlements wait behind it. */
const tenantCallTimeoutMs = 5_000;

function encodeSpendCall({ spend, proof, sealedNotes }: HolderSpendCall): string {
  const { digest, withdrawAmount, recipient, deadline, ...rest } = spend;
  return encodeSpend({
    operation: {
      ...rest,
      withdrawAmount: BigInt(withdrawAmount),
      recipient: recipient ?? ZeroAddress,
      deadline: BigInt(deadline),
      D: digest,
    },
    proof,
    sealedNotes: concat(sealedNotes),
  });
}

/** Calldata. Public once sent. */
function encodeCall({ kind, call }: PoolCall): string {
  switch (kind) {
    case 'fund': {
      const { batch, proof, funderSignature, permit } = call;
      return pool.encodeFunctionData('fund', [batch, proof, funderSignature, permit ?? noPermit]);
    }
    case 'void':
      return pool.encodeFunctionData('voidBatch', [call.funder, call.batchNonce, call.signature]);
    case 'spend':
      return encodeSpendCall(call);
  }
}

function findCeiling({ kind, call }: PoolCall): bigint {
  switch (kind) {
    case 'fund':
      return computeFundGasCeiling(call.batch.commitments.length);
    case 'void':
      return voidGasCeiling;
    case 'spend':
      return findSpendCeiling(call.spend.nullifiers.length);
  }
}

function findSpendCeiling(inputs: number): bigint {
  const circuit = spendCircuits.find((name) => spendShapes[name].inputs === inputs);
  return computeSpendGasCeiling(circuit);
}

/**
 * @param caps - upper bounds on the cost of a transaction of the relayer, read at each signature
 * @param keys - with which the pool's verifiers are compared. Default: the development keys
 */
export function createEvmPoolChain(
  key: string,
  settings: EvmChainSettings,
  relayerKey: Secret,
  caps: TransactionCaps = {},
  keys?: KeySource,
): PoolChain {
  const provider = createEvmProvider(settings);
  const tenantProvider = createEvmProvider(settings, tenantCallTimeoutMs);
  const receiptProvider = createEvmProvider(settings, undefined, receiptsAtOnce);
  const reader = createPoolReader(provider, settings);
  const signer = createTransactionSigner(provider, settings.chainId, relayerKey, caps);
  const compare = createPoolComparison(provider, settings, () => readPinnedKeys(keys));
  const to = settings.pool;

  async function simulate(
    call: PoolCall,
    blockTag: 'latest' | 'pending' = 'latest',
  ): Promise<ErrorBody | undefined> {
    const gasLimit = await fetchGasCeiling(provider, findCeiling(call));
    const transaction = { from: signer.address, to, data: encodeCall(call), gasLimit, blockTag };
    const outcome = await simulateCall(tenantProvider, transaction);
    switch (outcome.kind) {
      case 'success':
        return undefined;
      case 'out-of-gas':
        return describeGasCeiling(gasLimit);
      case 'reverted':
        return outcome.reason;
    }
  }

  async function decideGas(call: PoolCall): Promise<GasDecision> {
    const target = { to, data: encodeCall(call) };
    const ceiling = findCeiling(call);
    try {
      const gasLimit = await estimateGasLimit(tenantProvider, signer.address, target, ceiling);
      return { kind: 'limit', gasLimit };
    } catch (error) {
      if (errorCodeOf(error) === 'gas_ceiling_exceeded' && error instanceof PoolError) {
        return { kind: 'refused', reason: { code: error.code, message: error.message } };
      }
      if (isEvmFailure(error)) {
        return { kind: 'refused', reason: decodeRevert(error) };
      }
      throw error;
    }
  }

  async function describeReplacement(purpose: 'same-call' | 'cancel' | PoolCall) {
    if (typeof purpose === 'string') {
      return purpose;
    }
    const decision = await decideGas(purpose);
    if (decision.kind === 'refused') {
      throw new PoolError(peerCode(decision.reason.code), decision.reason.message);
    }
    return { to, data: encodeCall(purpose), gasLimit: decision.gasLimit };
  }

  return {
    ...reader,
    ...signer,
    key,
    settings,
    get relayerAddress() {
      return signer.address;
    },
    hasRelayerRole: (other) =>
      askChain(() =>
        connectShieldedPool(to, provider).hasRole(
          relayerRole,
          other === undefined ? signer.address : computeAddress(other.reveal()),
        ),
      ),
    fetchReceipt: (txHash) =>
      fetchReceipt(receiptProvider, txHash).catch(() => reader.fetchReceipt(txHash)),
    assertChain: () => requirePoolCode(compare),
    simulate,
    decideGas,
    sign: (call, nonce, gasLimit) => signer.sign({ to, data: encodeCall(call), gasLimit }, nonce),
    signReplacement: async (raw, purpose) =>
      await signer.signReplacement(raw, await describeReplacement(purpose)),
    async findExcess(rawTransaction) {
      const { data, gasLimit } = Transaction.from(rawTransaction);
      const ceiling = await fetchGasCeiling(provider, findKindCeiling(data));
      return gasLimit > ceiling ? describeGasCeiling(ceiling) : undefined;
    },
    checkContractSignature: (subject) =>
      checkContractSignature(provider, settings, subject, {
        timeoutMs: contractTimeoutMs,
        gas: signInQuestionGas,
      }),
    checkFunderContract: (subject) =>
      checkContractSignature(provider, settings, subject, {
        timeoutMs: contractTimeoutMs,
        gas: computeFunderQuestionGas(subject),
        from: settings.pool,
        asksDelegated: true,
      }),
    close() {
      provider.destroy();
      tenantProvider.destroy();
      receiptProvider.destroy();
    },
  };
}

/** The ceiling of a call that the relayer signed. */
function findKindCeiling(data: string): bigint {
  const call = data === '0x' ? null : pool.parseTransaction({ data });
  const [argument]: readonly unknown[] = call?.args ?? [];
  switch (call?.name) {
    case 'fund':
      return computeFundGasCeiling(countAt(argument, 6));
    case 'spend':
      return findSpendCeiling(countAt(argument, 4));
    default:
      return voidGasCeiling;
  }
}

/** Length of a list in a struct; 0 where there is none. */
function countAt(struct: unknown, place: number): number {
  const list = Array.isArray(struct) ? (struct[place] as unknown) : undefined;
  return Array.isArray(list) ? list.length : 0;
}
