/**
 * The holder's signature of a spend. At most one rSig per manifest ever leaves this agent (protocol §7, "One rSig per manifest"): two
 * signatures over one m reveal W. So the signature is stored before the first proof is made, and another one over the same m is
 * discarded, whichever process or signer made it.
 *
 * @module
 */
import { bigintToHex32, hexToBigint, PoolError } from '@pool/core';
import { computeMaskedSigner, type SpendSignature, verifyMaskedSigner } from '@pool/notes';
import type { PlannedSpend } from './plan-spend.ts';
import { type ArchivedSpend, changeSpendState } from './spend-archive.ts';
import { passSpendPoint, type SpendDeps } from './spend-deps.ts';
import type { StoredSignature } from './spend-state.ts';

/** Signs a spend that has no signature yet. @returns the spend as it is stored now, with whichever signature was stored first */
export async function signSpend(
  spend: ArchivedSpend,
  planned: PlannedSpend,
  deps: SpendDeps,
): Promise<ArchivedSpend> {
  deps.onEvent({ kind: 'stage', stage: 'signing' });
  const { operation, salt } = planned.plan;
  const signature = await deps.signer.signSpend(operation, salt);
  assertSignature(planned, signature);
  await passSpendPoint(deps, 'signature.before-store');
  const stored = await changeSpendState(deps.archive, spend.outRoot, (state) =>
    state.kind === 'archived'
      ? { kind: 'signed', signature: serializeSignature(signature) }
      : undefined,
  );
  await passSpendPoint(deps, 'signature.after-store');
  return stored;
}

/** The contract's own check. A wrong signature must not be stored: the manifest could have no other. */
function assertSignature({ manifest, plan }: PlannedSpend, signature: SpendSignature): void {
  const { walletPub } = manifest;
  let isValid = false;
  try {
    const masked = computeMaskedSigner({ ...plan, walletPub, rSig: signature.rSig });
    isValid = verifyMaskedSigner(masked, signature);
  } catch {
    // An rSig out of range. The message would repeat nothing, and the answer is the same.
  }
  if (!isValid) {
    throw new PoolError(
      'signature_rejected',
      'the signature was rejected: the configured wallet did not make it for this spend',
    );
  }
}

function serializeSignature({ rSig, s, parity }: SpendSignature): StoredSignature {
  return { rSig: bigintToHex32(rSig), s: bigintToHex32(s), parity };
}

export function parseStoredSignature({ rSig, s, parity }: StoredSignature): SpendSignature {
  return { rSig: hexToBigint(rSig), s: hexToBigint(s), parity };
}
