/**
 * Recipients whose encryption key changed since this agent last paid them (protocol §2). Their wallet signed the change, so
 * it prevents nothing. The operator is warned, because an attacker who takes over a wallet changes its key first.
 *
 * @module
 */
import { parseSignInMessage } from '@pool/core';
import type { VerifiedRecipient } from '@pool/wallet';
import type { PaidKeys } from '../ports.ts';
import type { KeyRotation } from './checks.ts';
import type { PreflightFinding } from './preflight.ts';

/** The recipients whose key is not the one of their last payment. Recipients without a payment are left out. */
export async function findRotations(
  recipients: readonly (VerifiedRecipient & { readonly requestIndex: number })[],
  paidKeys: Pick<PaidKeys, 'findAll'>,
): Promise<readonly KeyRotation[]> {
  const paid = await paidKeys.findAll(recipients.map(({ walletPub }) => walletPub));
  return recipients.flatMap((recipient, position) => {
    const last = paid[position];
    return last === undefined || last.encryptionPublicKey === recipient.encryptionPublicKey
      ? []
      : [
          {
            requestIndex: recipient.requestIndex,
            signedAtMs: parseSignInMessage(recipient.evidence.message).issuedAtMs,
            paidAtMs: last.atMs,
          },
        ];
  });
}

/** The warning for the operator. Names the position, never the recipient. */
export function describeRotation(rotation: KeyRotation): PreflightFinding {
  const { requestIndex, signedAtMs, paidAtMs } = rotation;
  return {
    code: 'recipient_key_rotated',
    message: `recipients[${requestIndex}]: the recipient changed its encryption key on ${toDay(signedAtMs)}, after its last payment on ${toDay(paidAtMs)}; if you did not expect that, ask the recipient before you pay`,
    severity: 'warning',
  };
}

function toDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
