/**
 * Compares what is asked with what follows from the stored manifest. Only the manifest decides: the first value that differs refuses
 * the request.
 *
 * @module
 */
import { bytesToHex, fieldToHex } from '@pool/core';
import { computeRequestDigest } from '../requests/request-digest.ts';
import type {
  FundAuthorizationRequest,
  PermitSignRequest,
  SpendRequest,
  TokenApprovalRequest,
} from '../requests/requests.ts';
import { readApproval } from '../requests/token-approval.ts';
import type { RebuiltFund, RebuiltSpend } from './rebuild-manifest.ts';

/** Name, asked value, stored value. */
type Pair = readonly [name: string, asked: unknown, stored: unknown];

function findFirstDifference(pairs: readonly Pair[]): string | undefined {
  return pairs.find(([, asked, stored]) => asked !== stored)?.[0];
}

/** @returns the name of the first value that differs; undefined: the request follows from the manifest */
export function findFundMismatch(
  { payload, ...request }: FundAuthorizationRequest,
  manifest: RebuiltFund,
): string | undefined {
  const { authorization } = payload;
  const stored = manifest.authorization;
  return findFirstDifference([
    ['chainId', payload.chainId, manifest.chainId],
    ['pool', payload.pool, manifest.pool],
    ['funder', authorization.funder, stored.funder],
    ['token', authorization.token, stored.token],
    ['total', authorization.total, stored.total],
    ['batchNonce', authorization.batchNonce, stored.batchNonce],
    ['batchRoot', authorization.batchRoot, stored.batchRoot],
    ['sealedNotesHash', authorization.sealedNotesHash, stored.sealedNotesHash],
    ['deadline', authorization.deadline, stored.deadline],
    ['digest', computeRequestDigest({ ...request, payload }), manifest.fundDigest],
  ]);
}

/** {@link findFundMismatch} of a permit: for the pool, of the total, until the batch's own deadline. */
export function findPermitMismatch(
  { payload }: PermitSignRequest,
  manifest: RebuiltFund,
): string | undefined {
  const { domain, permit, expected } = payload;
  return findFirstDifference([
    ['chainId', domain.chainId, manifest.chainId],
    ['token', domain.verifyingContract, manifest.token],
    ['owner', permit.owner, manifest.funder],
    ['spender', permit.spender, manifest.pool],
    ['value', permit.value, manifest.total],
    ['deadline', permit.deadline, manifest.authorization.deadline],
    ['expected chainId', expected.chainId, manifest.chainId],
    ['expected token', expected.token, manifest.token],
    ['expected pool', expected.pool, manifest.pool],
    ['expected total', expected.total, manifest.total],
  ]);
}

/** {@link findFundMismatch} of a token approval: for the pool, of the total or of zero. */
export function findApprovalMismatch(
  { payload, expectedSigner }: TokenApprovalRequest,
  manifest: RebuiltFund,
): string | undefined {
  const approval = readApproval(payload.unsignedTransaction);
  if (approval === undefined) {
    return 'transaction';
  }
  const { expected } = payload;
  return findFirstDifference([
    ['chainId', approval.chainId, manifest.chainId],
    ['token', approval.token, manifest.token],
    ['funder', expectedSigner, manifest.funder],
    ['spender', approval.spender, manifest.pool],
    ['value', approval.value, approval.value === 0n ? 0n : manifest.total],
    ['expected chainId', expected.chainId, manifest.chainId],
    ['expected token', expected.token, manifest.token],
    ['expected pool', expected.pool, manifest.pool],
    // A transport that sees only the transaction cannot know the total of a reset.
    ['expected total', expected.total, approval.value === 0n ? expected.total : manifest.total],
  ]);
}

/** {@link findFundMismatch} of a spend. */
export function findSpendMismatch(
  { payload, ...request }: SpendRequest,
  manifest: RebuiltSpend,
): string | undefined {
  const asked = payload.operation;
  const stored = manifest.operation;
  return findFirstDifference([
    ['circuit', asked.circuit, stored.circuit],
    ['assetId', asked.assetId, stored.assetId],
    ['withdrawAmount', asked.withdrawAmount, stored.withdrawAmount],
    ['recipient', asked.recipient, stored.recipient],
    ['deadline', asked.deadline, stored.deadline],
    ['nullifiers', asked.nullifiers.map(fieldToHex).join(), manifest.nullifiers.join()],
    ['outRoot', asked.outRoot, stored.outRoot],
    ['sealedNotesHash', asked.sealedNotesHash, stored.sealedNotesHash],
    ['salt', bytesToHex(payload.salt), bytesToHex(manifest.salt)],
    ['digest', computeRequestDigest({ ...request, payload }), manifest.digest],
  ]);
}
