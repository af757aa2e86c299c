/**
 * The funder over any {@link Signer}: it requests a signature, waits for the vote, and turns every other outcome into an
 * error.
 *
 * @module
 */
import { type EvmAddress, type Hex, PoolError, parseHex, peerCode } from '@pool/core';
import {
  createSignRequest,
  encodeApproveCall,
  encodeSignedTransaction,
  type Outcome,
  type Progress,
  type Signer,
  type SignRequestContent,
} from '@pool/signers';
import { Transaction } from 'ethers';
import type { ApprovalTransaction, Clock, FunderPort } from '../ports.ts';

/** Pause between two reads of a signature that is not approved yet. */
const pollMs = 2_000;

/** @throws the error of a signer that does not know its own address */
export async function createFunder(signer: Signer, clock: Clock): Promise<FunderPort> {
  const address: EvmAddress = await signer.address();

  async function sign(content: SignRequestContent, signal: AbortSignal): Promise<Hex> {
    const request = createSignRequest(content);
    let step = await signer.submit(request);
    while (isProgress(step)) {
      await clock.sleep(pollMs, signal);
      step = (await signer.read(step.providerId)) ?? (await signer.submit(request));
    }
    return readSignature(step);
  }

  return {
    address,
    needsVote: signer.capabilities.needsApprover,
    signAuthorization: (payload, signal) =>
      sign({ kind: 'fund-authorization', payload, expectedSigner: address }, signal),
    signPermit: (payload, signal) =>
      sign({ kind: 'permit', payload, expectedSigner: address }, signal),
    signVoid: (payload, signal) => sign({ kind: 'void', payload, expectedSigner: address }, signal),
    async signApproval(transaction, expected, signal) {
      const unsignedTransaction = encodeApproval(transaction);
      const signature = await sign(
        {
          kind: 'token-approval',
          payload: { unsignedTransaction, expected },
          expectedSigner: address,
        },
        signal,
      );
      return encodeSignedTransaction(unsignedTransaction, signature);
    },
  };
}

function isProgress(step: Progress | Outcome): step is Progress {
  return (
    step.state === 'submitted' || step.state === 'awaiting-approval' || step.state === 'signing'
  );
}

function readSignature(outcome: Outcome): Hex {
  switch (outcome.state) {
    case 'signed':
      return outcome.signature;
    case 'refused':
      throw new PoolError('signer_refused', `the funder signer refused: ${outcome.message}`);
    case 'expired':
      throw new PoolError('signer_expired', 'the signing request expired before it was approved');
    case 'failed':
      throw new PoolError(peerCode(outcome.code), outcome.message, {
        retryable: outcome.retryable,
      });
  }
}

function encodeApproval(transaction: ApprovalTransaction): Hex {
  const unsigned = Transaction.from({
    type: 2,
    chainId: transaction.chainId,
    nonce: transaction.nonce,
    to: transaction.token,
    value: 0n,
    data: encodeApproveCall(transaction.spender, transaction.value),
    gasLimit: transaction.gasLimit,
    maxFeePerGas: transaction.maxFeePerGas,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas,
  });
  return parseHex(unsigned.unsignedSerialized);
}
