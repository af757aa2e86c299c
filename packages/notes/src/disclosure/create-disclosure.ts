/**
 * Makes the unsigned part of a disclosure (docs/disclosure.md). Pure. The discloser's signer signs it as kind `disclosure`. Vectors:
 * vectors/disclosure.json.
 *
 * @module
 */
import {
  type AssetId,
  computeAssetId,
  computeWalletAddress,
  type DisclosedInsertion,
  type DisclosedPayment,
  type DisclosureContent,
  disclosureContentSchema,
  type EncryptionPublicKey,
  type Field,
  fieldToHex,
  type Hex,
  PoolError,
  parseField,
  parseWire,
} from '@pool/core';
import { decodeEncryptionPublicKey } from '../keys/encryption-key.ts';
import { computeWalletId } from '../keys/wallet-id.ts';
import { computeCommitment } from '../note/note.ts';

/** The opened values of a note, as a disclosure writes them. */
export type NoteOpening = {
  readonly amount: string;
  readonly nonce: string;
  readonly walletPub: Hex;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

/**
 * The commitment of an opening.
 * @throws PoolError `invalid_wallet_pub`, `invalid_encryption_key`, `invalid_field_element`, `invalid-amount`
 */
export function computeOpeningCommitment(opening: NoteOpening, assetId: AssetId): Field {
  return computeCommitment({
    assetId,
    amount: BigInt(opening.amount),
    nonce: parseField(opening.nonce),
    walletId: computeWalletId(opening.walletPub),
    encryptionPoint: decodeEncryptionPublicKey(opening.encryptionPublicKey),
  });
}

/**
 * Checks a disclosure against itself: the layout, the times, that no payment occurs twice, that each commitment belongs to its
 * opening, and that the discloser has its role in each payment. What the chain says is checked by `verifyDisclosure`. A signer
 * calls this before it signs.
 *
 * @throws PoolError `invalid_request` with the place and the problem; like {@link computeOpeningCommitment}
 */
export function createDisclosure(content: DisclosureContent): DisclosureContent {
  const parsed = parseWire(disclosureContentSchema, content, 'disclosure');
  const problem = findDocumentProblem(parsed);
  if (problem !== undefined) {
    throw refuse(problem);
  }
  const assetId = computeAssetId(parsed.chainId, parsed.pool, parsed.token);
  for (const insertion of parsed.insertions) {
    if (!isParty(parsed, insertion)) {
      throw refuse(`the discloser is not the ${parsed.role} of every payment`);
    }
    for (const payment of insertion.payments) {
      checkPayment(insertion, payment, assetId, parsed.role);
    }
  }
  return parsed;
}

/** A contradiction within the document. The result does not quote it. */
export function findDocumentProblem(content: DisclosureContent): string | undefined {
  if (content.expiresAt <= content.issuedAt) {
    return 'expiresAt must be after issuedAt';
  }
  const payments = content.insertions.flatMap((insertion) => insertion.payments);
  // A payment that occurs twice would count twice. Commitments are unique, because nonces are.
  if (new Set(payments.map(({ commitment }) => commitment)).size !== payments.length) {
    return 'a payment occurs twice';
  }
  const places = content.insertions.map(({ index }) => index);
  return new Set(places).size === places.length
    ? undefined
    : 'a batch or spend occurs twice; put its payments together';
}

/**
 * The party that the document names as the payer or payee of an insertion is the discloser. It compares addresses. `verifyDisclosure`
 * compares the key that made the signature.
 */
function isParty({ role, discloser }: DisclosureContent, insertion: DisclosedInsertion): boolean {
  if (role === 'payee') {
    return insertion.payments.every(
      ({ walletPub }) => computeWalletAddress(walletPub) === discloser,
    );
  }
  if (insertion.kind === 'batch') {
    return insertion.funding?.funder === discloser;
  }
  return (
    insertion.change !== undefined && computeWalletAddress(insertion.change.walletPub) === discloser
  );
}

function checkPayment(
  { kind, sealedNotes }: DisclosedInsertion,
  payment: DisclosedPayment,
  assetId: AssetId,
  role: DisclosureContent['role'],
): void {
  const { slot, memo } = payment;
  if (kind === 'spend' && slot === 0) {
    throw refuse('slot 0 of a spend is its change, which is not a payment');
  }
  if (fieldToHex(computeOpeningCommitment(payment, assetId)) !== payment.commitment) {
    throw refuse('a commitment does not belong to its opening');
  }
  if (memo === undefined) {
    return;
  }
  if (sealedNotes === undefined) {
    throw refuse('a memo needs all sealed notes of its batch or spend');
  }
  if (memo.proof !== memoProofOf(role)) {
    throw refuse(`a ${role} proves a memo with the ${memoProofOf(role)}`);
  }
}

/** A payer shows the ephemeral scalar and a payee the message key. */
export function memoProofOf(
  role: DisclosureContent['role'],
): NonNullable<DisclosedPayment['memo']>['proof'] {
  return role === 'payer' ? 'ephemeral-scalar' : 'message-key';
}

function refuse(problem: string): PoolError {
  return new PoolError('invalid_request', `disclosure: ${problem}`);
}
