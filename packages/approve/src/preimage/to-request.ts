/**
 * Makes the typed request that a decision is about from a custodian's preimage. Expectations are copied from the preimage itself: the
 * decision compares them with the stored manifest and the policy, and believes none of them.
 *
 * @module
 */
import {
  type EvmAddress,
  type Hex,
  type Hex32,
  isPoolError,
  parseEvmAddress,
  parseHex,
  parseHex32,
  parseSignInMessage,
} from '@pool/core';
import {
  computeRequestDigest,
  createSignRequest,
  decisionReasons,
  findRefusal,
  type RebuiltManifest,
  type SignRequest,
} from '@pool/policy';
import { Transaction } from 'ethers';
import { type Foreign, foreign, type Preimage } from './preimage.ts';

/**
 * @param expectedSigner - address of the custodian's wallet, from the policy
 * @param stored - the stored manifest that has the digest of a preimage without content
 * @param signedDigest - what the custodian says it signs. Undefined: it does not say
 */
export function toSignRequest(
  preimage: Preimage,
  expectedSigner: EvmAddress,
  stored: RebuiltManifest | undefined,
  signedDigest: Hex32 | undefined,
): SignRequest | Foreign {
  try {
    const request = convert(preimage, expectedSigner, stored);
    if (request.kind === 'foreign') {
      return request;
    }
    // What is judged must have the digest that is signed, whatever the stored manifest says by now.
    const asked = [signedDigest, digestOf(preimage)].filter((digest) => digest !== undefined);
    const digest = readSignedDigest(preimage, request);
    return asked.every((one) => one === digest)
      ? request
      : foreign('the digest to sign is not that of the content');
  } catch (error) {
    if (!isPoolError(error) && !(error instanceof TypeError)) {
      throw error;
    }
    return foreign('the request is not a valid document of its kind');
  }
}

function convert(
  preimage: Preimage,
  expectedSigner: EvmAddress,
  stored: RebuiltManifest | undefined,
): SignRequest | Foreign {
  switch (preimage.kind) {
    case 'fund-authorization':
    case 'void': {
      const { kind, ...payload } = preimage;
      return createSignRequest({ kind, payload, expectedSigner } as never);
    }
    case 'permit': {
      const { domain, permit } = preimage;
      const { chainId, verifyingContract: token } = domain;
      const expected = { chainId, token, pool: permit.spender, total: permit.value };
      const payload = { domain, permit, expected };
      return createSignRequest({ kind: 'permit', payload, expectedSigner });
    }
    case 'disclosure': {
      const payload = { statement: preimage.statement };
      return createSignRequest({ kind: 'disclosure', payload, expectedSigner });
    }
    case 'text': {
      const message = preimage.text;
      const { domain, uri, chainId } = parseSignInMessage(message);
      const payload = { message, expected: { domain, uri, chainId } };
      return createSignRequest({ kind: 'sign-in', payload, expectedSigner });
    }
    case 'transaction':
      return createApproval(preimage.unsignedTransaction, expectedSigner);
    case 'call':
      return createApproval(encodeCall(preimage), expectedSigner);
    case 'built-call':
      return readBuiltCall(preimage.unsignedTransaction, expectedSigner);
    case 'stored':
      return readStored(preimage.digest, expectedSigner, stored);
    case 'hash': {
      if (stored?.kind !== 'spend' || stored.address !== expectedSigner) {
        return foreign(
          'the digest is not that of a stored spend: the agent has posted no manifest for it',
        );
      }
      const { operation, salt } = stored;
      return createSignRequest({ kind: 'spend', payload: { operation, salt }, expectedSigner });
    }
  }
}

/** The digest of a preimage without content. */
function digestOf(preimage: Preimage): Hex32 | undefined {
  return preimage.kind === 'stored' || preimage.kind === 'hash' ? preimage.digest : undefined;
}

/** A batch whose authorisation or withdrawal has this digest. */
function readStored(
  digest: Hex32,
  expectedSigner: EvmAddress,
  stored: RebuiltManifest | undefined,
): SignRequest | Foreign {
  if (stored?.kind !== 'fund') {
    return foreign('the digest is not that of a stored batch');
  }
  const { chainId, pool, authorization, funder, batchNonce } = stored;
  switch (digest) {
    case stored.fundDigest: {
      const payload = { chainId, pool, authorization };
      return createSignRequest({ kind: 'fund-authorization', payload, expectedSigner });
    }
    case stored.voidDigest: {
      const payload = { chainId, pool, funder, batchNonce };
      return createSignRequest({ kind: 'void', payload, expectedSigner });
    }
    default:
      return foreign('the digest is not that of the stored batch');
  }
}

/** The transaction is an approval within the limits of fees. What is judged is the call, which was the same before it was built. */
function readBuiltCall(
  unsignedTransaction: Hex,
  expectedSigner: EvmAddress,
): SignRequest | Foreign {
  const built = createApproval(unsignedTransaction, expectedSigner);
  const refusal = findRefusal(built, expectedSigner, {}, 0);
  if (refusal !== undefined) {
    return foreign(decisionReasons[refusal]);
  }
  const { chainId, to, data } = Transaction.from(unsignedTransaction);
  const call = {
    kind: 'call',
    chainId: Number(chainId),
    to: parseEvmAddress(to ?? ''),
    data: parseHex(data),
  } as const;
  return createApproval(encodeCall(call), expectedSigner);
}

/** Of a built call: the digest of the transaction itself. */
function readSignedDigest(preimage: Preimage, request: SignRequest): Hex32 {
  return preimage.kind === 'built-call'
    ? parseHex32(Transaction.from(preimage.unsignedTransaction).unsignedHash)
    : computeRequestDigest(request);
}

/** The approval that the transaction makes, if it is one. Anything else has no expectation that it could meet. */
function createApproval(unsignedTransaction: Hex, expectedSigner: EvmAddress): SignRequest {
  const { chainId, to, data } = Transaction.from(unsignedTransaction);
  const [, spender = '', value = ''] =
    /^0x095ea7b3(?:0{24})([0-9a-f]{40})([0-9a-f]{64})$/.exec(data) ?? [];
  const expected = {
    chainId: Number(chainId),
    token: parseEvmAddress(to ?? ''),
    pool: parseEvmAddress(`0x${spender}`),
    total: BigInt(`0x${value}`),
  };
  return createSignRequest({
    kind: 'token-approval',
    payload: { unsignedTransaction, expected },
    expectedSigner,
  });
}

/**
 * A contract call whose nonce and fees the custodian chooses. The same call has the same bytes at every stage, so the guard
 * recognises it. The fees of the real transaction are checked where it is shown.
 */
function encodeCall({ chainId, to, data }: Extract<Preimage, { kind: 'call' }>): Hex {
  const transaction = Transaction.from({
    type: 2,
    chainId,
    nonce: 0,
    to,
    data,
    value: 0,
    gasLimit: 100_000,
    maxFeePerGas: 0,
    maxPriorityFeePerGas: 0,
  });
  return parseHex(transaction.unsignedSerialized);
}
