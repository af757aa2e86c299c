/**
 * What the platform asks of a chain with a pool on it, and the EVM answer. Reads name the block they are
 * about; nothing here decides.
 *
 * @module
 */

import type { SettlementRequest, VoidRequest } from '@pool/api';
import {
  decodeRevert,
  noPermit,
  parseBatchFunded,
  shieldedPoolInterface as pool,
} from '@pool/contracts';
import {
  type ErrorBody,
  type EvmChainSettings,
  errorCodeOf,
  type Hex32,
  PoolError,
  parseHex32,
  peerCode,
  type Secret,
} from '@pool/core';
import { type Log as EvmLog, type JsonRpcProvider, Transaction } from 'ethers';
import {
  type ContractSignature,
  type ContractVerdict,
  checkContractSignature,
  computeFunderQuestionGas,
  signInQuestionGas,
} from './contract-signature.ts';
import { isEvmFailure } from './evm-failure.ts';
import { assertChainId, createEvmProvider } from './evm-provider.ts';
import { type FinalBlock, fetchFinalBlock } from './finality.ts';
import { computeFundGasCeiling, voidGasCeiling } from './gas-ceilings.ts';
import {
  type Call,
  describeGasCeiling,
  estimateGasLimit,
  fetchGasCeiling,
} from './gas-estimate.ts';
import { isOutOfGas } from './node-answer.ts';
import {
  createTransactionSigner,
  type Purse,
  type SignedTransaction,
  type TransactionCaps,
} from './transaction-signer.ts';

/** The part of a settlement that becomes calldata. */
export type FundCall = Pick<SettlementRequest, 'batch' | 'proof' | 'funderSignature' | 'permit'>;

/** A funder's withdrawal of a batch. */
export type VoidCall = Pick<VoidRequest, 'funder' | 'batchNonce' | 'signature'>;

export type FundedBatch = {
  readonly leafIndex: number;
  readonly batchRoot: Hex32;
  readonly newRoot: Hex32;
  /** Binds the funder (protocol §3). */
  readonly batchId: Hex32;
  readonly sealedNotesHash: Hex32;
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

export type Receipt = {
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly gasUsed: bigint;
};

/** The gas that a call gets, or why it must not be sent. */
export type GasDecision =
  | { readonly kind: 'limit'; readonly gasLimit: bigint }
  | { readonly kind: 'refused'; readonly reason: ErrorBody };

export type PoolChain = {
  readonly key: string;
  readonly settings: EvmChainSettings;
  readonly relayerAddress: string;
  /** @throws PoolError `wrong_chain` when the RPC serves another chain than configured */
  assertChain(): Promise<void>;
  fetchFinalBlock(): Promise<FinalBlock>;
  /** Unix seconds of the newest block. */
  fetchHeadTimestamp(): Promise<number>;
  fetchBlockHash(blockNumber: number): Promise<string | undefined>;
  /** Root for which a funder used a batch nonce as of a block; undefined while unused. */
  fetchBatchRootOf(
    funder: string,
    batchNonce: string,
    block: number | 'latest',
  ): Promise<string | undefined>;
  fetchIsVoided(funder: string, batchNonce: string, block: number): Promise<boolean>;
  /** Root of the note tree as of a block, zero word before the first batch. */
  fetchNoteRoot(block: number): Promise<string>;
  fetchFundedBatches(fromBlock: number, toBlock: number): Promise<FundedBatch[]>;
  /** eth_call of `fund` from the relayer, within the gas ceiling. @returns why it would fail, or undefined */
  simulateFund(call: FundCall): Promise<ErrorBody | undefined>;
  decideFundGas(call: FundCall): Promise<GasDecision>;
  /** @throws PoolError `fee_cap_reached` (retryable) */
  signFund(call: FundCall, nonce: number, gasLimit: bigint): Promise<SignedTransaction>;
  /**
   * Signs a transaction of higher fees for the nonce of one that is not mined.
   * @throws PoolError `fee_cap_reached` (retryable); `gas_ceiling_exceeded` for a withdrawal
   */
  signReplacement(
    rawTransaction: string,
    purpose: 'same-call' | 'cancel' | VoidCall,
  ): Promise<SignedTransaction>;
  /** Signs a payment of 0 to the relayer itself. @throws PoolError `fee_cap_reached` (retryable) */
  signCancel(nonce: number): Promise<SignedTransaction>;
  /** Why signed bytes must not be sent (again): their gas limit is above the ceiling of their call. */
  findExcess(rawTransaction: string): Promise<ErrorBody | undefined>;
  /** eth_call of `voidBatch`, within the gas ceiling. @returns why it would fail, or undefined */
  simulateVoid(call: VoidCall): Promise<ErrorBody | undefined>;
  decideVoidGas(call: VoidCall): Promise<GasDecision>;
  /** @throws PoolError `fee_cap_reached` (retryable) */
  signVoid(call: VoidCall, nonce: number, gasLimit: bigint): Promise<SignedTransaction>;
  /** What the relayer's account has, and what a transaction with so much gas would offer now. */
  fetchPurse(gasLimit: bigint): Promise<Purse>;
  fetchNonce(): Promise<number>;
  fetchNonceAt(block: number): Promise<number>;
  /** @throws PoolError `transaction_rejected` when the node will never take the bytes */
  broadcast(rawTransaction: string): Promise<void>;
  fetchReceipt(txHash: string): Promise<Receipt | undefined>;
  /** Why a mined transaction reverted, by calling it again on the state around its block. */
  explainRevert(txHash: string): Promise<ErrorBody>;
  /** Asks the contract at an address (ERC-1271). @throws PoolError `chain_unreachable` (503, retryable) */
  checkContractSignature(subject: ContractSignature): Promise<ContractVerdict>;
  /** The same as the pool asks it of a funder. @throws PoolError `chain_unreachable` (503, retryable) */
  checkFunderContract(subject: ContractSignature): Promise<ContractVerdict>;
  close(): void;
};

/** Somebody waits at the sign-in, or an agent for its settlement. */
const contractTimeoutMs = 5_000;

/** For calls that run a funder's own code: they take milliseconds, and others wait behind them. */
const tenantCallTimeoutMs = 5_000;

const zeroWord = `0x${'0'.repeat(64)}`;

/** Calldata of `fund`. Public once sent. */
function encodeFundCall({ batch, proof, funderSignature, permit }: FundCall): string {
  return pool.encodeFunctionData('fund', [batch, proof, funderSignature, permit ?? noPermit]);
}

function encodeVoidCall({ funder, batchNonce, signature }: VoidCall): string {
  return pool.encodeFunctionData('voidBatch', [funder, batchNonce, signature]);
}

/** @param caps - what a transaction of the relayer may cost */
export function createEvmPoolChain(
  key: string,
  settings: EvmChainSettings,
  relayerKey: Secret,
  caps: TransactionCaps = {},
): PoolChain {
  const provider = createEvmProvider(settings);
  const tenantProvider = createEvmProvider(settings, tenantCallTimeoutMs);
  const signer = createTransactionSigner(provider, settings.chainId, relayerKey, caps);
  const to = settings.pool;
  const describeFund = (call: FundCall): Call => ({ to, data: encodeFundCall(call) });
  const describeVoid = (call: VoidCall): Call => ({ to, data: encodeVoidCall(call) });
  const sizeOf = ({ batch }: FundCall): number => batch.commitments.length;

  async function simulateWithin(call: Call, kindCeiling: bigint): Promise<ErrorBody | undefined> {
    const gasLimit = await fetchGasCeiling(provider, kindCeiling);
    return await simulate(tenantProvider, { from: signer.address, ...call, gasLimit });
  }

  async function decideGas(call: Call, kindCeiling: bigint): Promise<GasDecision> {
    try {
      const gasLimit = await estimateGasLimit(tenantProvider, signer.address, call, kindCeiling);
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

  async function describeReplacement(purpose: 'same-call' | 'cancel' | VoidCall) {
    if (typeof purpose === 'string') {
      return purpose;
    }
    const decision = await decideGas(describeVoid(purpose), voidGasCeiling);
    if (decision.kind === 'refused') {
      throw new PoolError(peerCode(decision.reason.code), decision.reason.message);
    }
    return { ...describeVoid(purpose), gasLimit: decision.gasLimit };
  }

  async function read(name: string, args: readonly unknown[], blockTag: number | 'latest') {
    const data = pool.encodeFunctionData(name, args);
    const result = pool.decodeFunctionResult(name, await provider.call({ to, data, blockTag }));
    const value: unknown = result[0];
    return value;
  }

  return {
    key,
    settings,
    relayerAddress: signer.address,
    assertChain: () => assertChainId(provider, settings),
    fetchFinalBlock: () => fetchFinalBlock(provider, settings.finality),
    async fetchHeadTimestamp() {
      const head = await provider.getBlock('latest');
      if (head === null) {
        throw new PoolError('chain_unreachable', 'the chain names no newest block', {
          retryable: true,
          status: 503,
        });
      }
      return head.timestamp;
    },
    fetchBlockHash: async (number) => (await provider.getBlock(number))?.hash ?? undefined,
    async fetchBatchRootOf(funder, batchNonce, block) {
      const root = String(await read('batchNonceUsed', [funder, batchNonce], block));
      return root === zeroWord ? undefined : root;
    },
    fetchIsVoided: async (funder, batchNonce, block) =>
      (await read('isVoided', [funder, batchNonce], block)) === true,
    fetchNoteRoot: async (block) => String(await read('currentRoot', [], block)),
    async fetchFundedBatches(fromBlock, toBlock) {
      const topics = [eventTopic('BatchFunded')];
      const logs = await provider.getLogs({ address: to, topics, fromBlock, toBlock });
      return logs.map(parseFundedBatch);
    },
    simulateFund: (call) => simulateWithin(describeFund(call), computeFundGasCeiling(sizeOf(call))),
    decideFundGas: (call) => decideGas(describeFund(call), computeFundGasCeiling(sizeOf(call))),
    signFund: (call, nonce, gasLimit) => signer.sign({ ...describeFund(call), gasLimit }, nonce),
    signReplacement: async (raw, purpose) =>
      await signer.signReplacement(raw, await describeReplacement(purpose)),
    signCancel: (nonce) => signer.signCancel(nonce),
    async findExcess(rawTransaction) {
      const { data, gasLimit } = Transaction.from(rawTransaction);
      const ceiling = await fetchGasCeiling(provider, findKindCeiling(data));
      return gasLimit > ceiling ? describeGasCeiling(ceiling) : undefined;
    },
    simulateVoid: (call) => simulateWithin(describeVoid(call), voidGasCeiling),
    decideVoidGas: (call) => decideGas(describeVoid(call), voidGasCeiling),
    signVoid: (call, nonce, gasLimit) => signer.sign({ ...describeVoid(call), gasLimit }, nonce),
    fetchPurse: (gasLimit) => signer.fetchPurse(gasLimit),
    fetchNonce: () => signer.fetchNonce(),
    fetchNonceAt: (block) => provider.getTransactionCount(signer.address, block),
    broadcast: (raw) => signer.broadcast(raw),
    async fetchReceipt(txHash) {
      const receipt = await provider.getTransactionReceipt(txHash);
      return receipt === null
        ? undefined
        : {
            succeeded: receipt.status === 1,
            blockNumber: receipt.blockNumber,
            gasUsed: receipt.gasUsed,
          };
    },
    explainRevert: (txHash) => explainRevert(provider, txHash),
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
    },
  };
}

function eventTopic(name: string): string {
  const event = pool.getEvent(name);
  if (event === null) {
    throw new PoolError('internal_error', `the pool's ABI has no event ${name}`, { status: 500 });
  }
  return event.topicHash;
}

function parseFundedBatch(log: EvmLog): FundedBatch {
  const event = parseBatchFunded(log);
  if (event === undefined) {
    throw new PoolError('chain_unreachable', 'the RPC answered a log that was not asked for', {
      retryable: true,
    });
  }
  const { index, batchRoot, newRoot, batchId, sealedNotesHash } = event;
  return {
    leafIndex: Number(index),
    batchRoot: parseHex32(batchRoot),
    newRoot: parseHex32(newRoot),
    batchId: parseHex32(batchId),
    sealedNotesHash: parseHex32(sealedNotesHash),
    txHash: parseHex32(log.transactionHash),
    blockNumber: log.blockNumber,
  };
}

type EvmCall = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly gasLimit?: bigint;
  readonly blockTag?: number;
};

// A revert is an answer; everything else that goes wrong with the call is thrown: a settlement must not be
// called reverted because the node was too busy to run it.
async function simulate(provider: JsonRpcProvider, call: EvmCall): Promise<ErrorBody | undefined> {
  try {
    await provider.call(call);
    return undefined;
  } catch (error) {
    if (call.gasLimit !== undefined && isOutOfGas(error)) {
      return describeGasCeiling(call.gasLimit);
    }
    if (isEvmFailure(error)) {
      return decodeRevert(error);
    }
    throw error;
  }
}

/** The ceiling of a call that the relayer signed. */
function findKindCeiling(data: string): bigint {
  const call = data === '0x' ? null : pool.parseTransaction({ data });
  if (call?.name !== 'fund') {
    return voidGasCeiling;
  }
  const batch: unknown = call.args[0];
  const commitments = Array.isArray(batch) ? (batch[6] as unknown) : undefined;
  return computeFundGasCeiling(Array.isArray(commitments) ? commitments.length : 0);
}

async function explainRevert(provider: JsonRpcProvider, txHash: string): Promise<ErrorBody> {
  const [transaction, receipt] = await Promise.all([
    provider.getTransaction(txHash),
    provider.getTransactionReceipt(txHash),
  ]);
  if (transaction === null || receipt === null || transaction.to === null) {
    return { code: 'reverted', message: 'the transaction reverted; its reason is not available' };
  }
  if (receipt.gasUsed === transaction.gasLimit) {
    return { code: 'out_of_gas', message: 'the transaction ran out of gas' };
  }
  const { from, to, data, gasLimit } = transaction;
  // What stopped it may have happened earlier in its own block, so the state after the block is asked
  // first, then the state before.
  for (const blockTag of [receipt.blockNumber, receipt.blockNumber - 1]) {
    const reason = await simulate(provider, { from, to, data, gasLimit, blockTag });
    if (reason !== undefined) {
      return reason;
    }
  }
  return { code: 'reverted', message: 'the transaction reverted; its reason is not available' };
}
