/**
 * The funder over any {@link Signer}: one question, one answer. Waiting for a vote is the job of the run, which stores what it
 * waits for (ask-signer.ts).
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
  type SignRequest,
  type SignRequestContent,
} from '@pool/signers';
import { Transaction } from 'ethers';
import type { ApprovalTransaction, FunderAnswer, FunderPort, FunderRequest } from '../ports.ts';

/** @throws the error of a signer that does not know its own address */
export async function createFunder(signer: Signer): Promise<FunderPort> {
  const address: EvmAddress = await signer.address();

  // A vote of hours asks thousands of times, and the digest of a request is not cheap.
  const made = new WeakMap<FunderRequest, SignRequest>();

  function toSignRequest(request: FunderRequest): SignRequest {
    const known = made.get(request) ?? createSignRequest(createContent(request, address));
    made.set(request, known);
    return known;
  }

  return {
    address,
    needsVote: signer.capabilities.needsApprover,
    approvesOutside: signer.capabilities.approvesOutside === true,
    identify: (request) => toSignRequest(request).externalId,
    async ask(request, providerId, signal) {
      const signRequest = toSignRequest(request);
      const known =
        providerId === undefined
          ? undefined
          : await signer.read(providerId, signRequest, { signal });
      return toAnswer(request, known ?? (await signer.submit(signRequest, { signal })));
    },
    async withdraw(request, providerId, signal) {
      const signRequest = toSignRequest(request);
      const found =
        providerId === undefined ? await signer.find(signRequest, { signal }) : undefined;
      const id = providerId ?? (found !== undefined && isProgress(found) ? found.providerId : '');
      if (id === '') {
        return found === undefined ? undefined : toAnswer(request, found);
      }
      const step =
        signer.withdraw === undefined
          ? await signer.read(id, signRequest, { signal })
          : await signer.withdraw(id, signRequest, { signal });
      return step === undefined ? undefined : toAnswer(request, step);
    },
  };
}

function createContent(request: FunderRequest, expectedSigner: EvmAddress): SignRequestContent {
  if (request.kind === 'token-approval') {
    const { kind, transaction, expected, file } = request;
    const payload = { unsignedTransaction: encodeApproval(transaction), expected };
    return { kind, payload, expectedSigner, file };
  }
  return { ...request, expectedSigner };
}

function isProgress(step: Progress | Outcome): step is Progress {
  return (
    step.state === 'submitted' || step.state === 'awaiting-approval' || step.state === 'signing'
  );
}

/** @throws PoolError for an outage that the signer reports as one */
function toAnswer(request: FunderRequest, step: Progress | Outcome): FunderAnswer {
  switch (step.state) {
    case 'submitted':
    case 'awaiting-approval':
    case 'signing':
      return { state: 'waiting', providerId: step.providerId };
    case 'signed':
      return { state: 'signed', signed: toSigned(request, step.signature) };
    case 'sent':
      return request.kind === 'token-approval'
        ? { state: 'sent', txHash: step.txHash }
        : ended('signature_rejected', 'the signer answered with a transaction, not a signature');
    case 'refused':
      return {
        ...ended('signer_refused', `the funder signer refused: ${step.message}`),
        // Only an answer of the provider names its request.
        ...(step.providerId === undefined ? { isOwn: true } : {}),
      };
    case 'expired':
      return ended('signer_expired', 'the signing request expired before it was approved');
    case 'failed':
      // Only the provider's own end of the request says that there is no signature. An answer that cannot be read does not.
      if (step.code !== 'custodian_failed') {
        throw new PoolError(peerCode(step.code), step.message, { retryable: step.retryable });
      }
      return ended(peerCode(step.code), step.message);
  }
}

function toSigned(request: FunderRequest, signature: Hex): Hex {
  return request.kind === 'token-approval'
    ? encodeSignedTransaction(encodeApproval(request.transaction), signature)
    : signature;
}

function ended(code: string, message: string): Extract<FunderAnswer, { readonly state: 'ended' }> {
  return { state: 'ended', error: { code, message } };
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
