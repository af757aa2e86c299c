/**
 * Verifies a disclosure against the chain (docs/disclosure.md, "Verification"). Pure: the caller reads the events from final blocks of
 * its own node or archive. A claim is not proved unless every check of it passes. Vectors: vectors/disclosure.json.
 *
 * @module
 */
import {
  type AssetId,
  computeAssetId,
  computeBatchId,
  computeDisclosureSigningDigest,
  computeWalletAddress,
  type DisclosedInsertion,
  type DisclosedPayment,
  type Disclosure,
  type DisclosureContent,
  disclosureSchema,
  type Field,
  fieldToHex,
  type Hex,
  isPoolError,
  maxEvidenceSkewMs,
  parseAmount,
  parseField,
  parseWire,
  recoverDigestSigner,
  verifyEvidence,
  type WalletPub,
} from '@pool/core';
import { computeSealedNotesHash } from '../note/note-slot.ts';
import type {
  ChainFacts,
  Claim,
  DisclosureGap,
  DisclosureReport,
  InsertionFact,
  PaymentClaims,
} from './claims.ts';
import {
  computeOpeningCommitment,
  findDocumentProblem,
  memoProofOf,
  type NoteOpening,
} from './create-disclosure.ts';
import { openWithSecret } from './message-key.ts';

/** What the verifier decides itself. */
export type VerificationTerms = {
  /** The verifier's clock, milliseconds since the epoch. */
  readonly nowMs: number;
  /** The text that the verifier gave to the discloser. Undefined: none, and a document made for a challenge is refused. */
  readonly challenge?: string | undefined;
};

type Payer = Extract<PaymentClaims['payer'], { state: 'proved' }>;

/** What the checks of one payment need. */
type Context = {
  readonly content: DisclosureContent;
  /** The key that signed. */
  readonly signer: WalletPub;
  readonly facts: ChainFacts;
  readonly nowMs: number;
  readonly assetId: AssetId;
};

/**
 * Decides what a disclosure proves.
 *
 * @param document - parsed JSON, untrusted
 * @param facts - from the verifier's own sources, never from the discloser
 * @returns a claim for each part. It never throws for a bad document
 *
 * @example
 * const report = verifyDisclosure(JSON.parse(text), facts, { nowMs: Date.now(), challenge });
 * const paid = report.payments.every(({ amount }) => amount.state === 'proved');
 */
export function verifyDisclosure(
  document: unknown,
  facts: ChainFacts,
  { nowMs, challenge }: VerificationTerms,
): DisclosureReport {
  const parsed = attempt(() => parseWire(disclosureSchema, document, 'disclosure'));
  if (parsed === undefined) {
    return { discloser: gap('malformed'), payments: [] };
  }
  const { signature, ...content } = parsed;
  const signer = recoverSigner(content, signature);
  const reason = findDocumentGap(content, signer, facts, { nowMs, challenge });
  if (reason !== undefined || signer === undefined) {
    return denyAll(parsed, reason ?? 'signature-rejected');
  }
  const { role, discloser, purpose, issuedAt, expiresAt, chainId, pool, token } = content;
  const assetId = computeAssetId(chainId, pool, token);
  const context = { content, signer, facts, nowMs, assetId };
  return {
    discloser: {
      state: 'proved',
      role,
      address: discloser,
      walletPub: signer,
      purpose,
      issuedAt,
      expiresAt,
    },
    payments: content.insertions.flatMap((insertion) => verifyInsertion(context, insertion)),
  };
}

/** True if the signature holds, and existence and amount of every payment are proved. */
export function isProved({ discloser, payments }: DisclosureReport): boolean {
  return (
    discloser.state === 'proved' &&
    payments.length > 0 &&
    payments.every(({ exists, amount }) => exists.state === 'proved' && amount.state === 'proved')
  );
}

function findDocumentGap(
  content: DisclosureContent,
  signer: WalletPub | undefined,
  facts: ChainFacts,
  { nowMs, challenge }: VerificationTerms,
): DisclosureGap | undefined {
  if (findDocumentProblem(content) !== undefined) {
    return 'malformed';
  }
  if (content.chainId !== facts.chainId) {
    return 'foreign-chain';
  }
  if (content.pool !== facts.pool) {
    return 'foreign-pool';
  }
  if (challenge === undefined && content.challenge !== undefined) {
    return 'challenge-not-given';
  }
  if (content.challenge !== challenge) {
    return 'other-challenge';
  }
  // Written so that a clock that is not a number proves nothing.
  if (!(1000 * content.issuedAt <= nowMs + maxEvidenceSkewMs)) {
    return 'not-yet-valid';
  }
  if (!(nowMs <= 1000 * content.expiresAt)) {
    return 'expired';
  }
  const isSigned = signer !== undefined && computeWalletAddress(signer) === content.discloser;
  return isSigned ? undefined : 'signature-rejected';
}

function recoverSigner(content: DisclosureContent, signature: Hex): WalletPub | undefined {
  return attempt(() => recoverDigestSigner(computeDisclosureSigningDigest(content), signature));
}

function verifyInsertion(context: Context, insertion: DisclosedInsertion): PaymentClaims[] {
  const fact = findFact(context.facts, insertion);
  if (typeof fact === 'string') {
    return insertion.payments.map((payment) => denyPayment(insertion, payment, fact));
  }
  const payer = findPayer(context, insertion, fact);
  return insertion.payments.map((payment) => {
    const reason = findPaymentGap(context, insertion, payment, fact, payer);
    return reason === undefined
      ? provePayment(context, insertion, payment, fact, payer)
      : denyPayment(insertion, payment, reason);
  });
}

function findFact(
  { insertions }: ChainFacts,
  { kind, txHash, index }: DisclosedInsertion,
): InsertionFact | DisclosureGap {
  const found = insertions.filter((fact) => fact.index === index);
  const [fact] = found;
  // Two events with one index: the source contradicts itself.
  if (fact === undefined || found.length > 1) {
    return 'not-on-chain';
  }
  return fact.txHash === txHash && fact.kind === kind ? fact : 'other-transaction';
}

/** Who paid all payments of an insertion, if the document has that part. */
function findPayer(
  { assetId }: Context,
  insertion: DisclosedInsertion,
  fact: InsertionFact,
): PaymentClaims['payer'] {
  if (insertion.kind === 'batch' && fact.kind === 'batch') {
    const { funding } = insertion;
    if (funding === undefined) {
      return gap('not-disclosed');
    }
    // The contract computes batchId from the funder whose signature it checked.
    const batchId = attempt(() => computeBatchId(funding.funder, parseField(funding.batchNonce)));
    return batchId === fact.batchId
      ? { state: 'proved', address: funding.funder, walletPub: undefined }
      : gap('wrong-payer');
  }
  const change = insertion.kind === 'spend' ? insertion.change : undefined;
  if (change === undefined) {
    return gap('not-disclosed');
  }
  // The circuit gives the note in slot 0 the wallet id of the inputs, whatever its amount.
  return opensTo(change, assetId, fact.commitments[0])
    ? {
        state: 'proved',
        address: computeWalletAddress(change.walletPub),
        walletPub: change.walletPub,
      }
    : gap('wrong-payer');
}

function findPaymentGap(
  { content, signer, assetId }: Context,
  { kind }: DisclosedInsertion,
  payment: DisclosedPayment,
  fact: InsertionFact,
  payer: PaymentClaims['payer'],
): DisclosureGap | undefined {
  const { slot, commitment } = payment;
  if (kind === 'spend' && slot === 0) {
    return 'change';
  }
  const served = fact.commitments[slot];
  if (served === undefined || fieldToHex(served) !== commitment) {
    return 'other-commitment';
  }
  if (!opensTo(payment, assetId, served)) {
    return 'wrong-opening';
  }
  if (content.role === 'payee') {
    return payment.walletPub === signer ? undefined : 'not-a-party';
  }
  return isPayer(payer, content, signer) ? undefined : 'not-a-party';
}

/** For a spend the keys are compared and not their addresses, which have 160 bits only. */
function isPayer(
  payer: PaymentClaims['payer'],
  { discloser }: DisclosureContent,
  signer: WalletPub,
): payer is Payer {
  return (
    payer.state === 'proved' &&
    payer.address === discloser &&
    (payer.walletPub === undefined || payer.walletPub === signer)
  );
}

function provePayment(
  context: Context,
  insertion: DisclosedInsertion,
  payment: DisclosedPayment,
  fact: InsertionFact,
  payer: PaymentClaims['payer'],
): PaymentClaims {
  const { txHash, index } = insertion;
  const { slot, commitment, amount } = payment;
  return {
    txHash,
    index,
    slot,
    exists: { state: 'proved', commitment },
    amount: { state: 'proved', amount: parseAmount(amount), token: context.content.token },
    memo: verifyMemo(context, insertion, payment, fact),
    payer,
    payee: verifyPayee(context, payment),
  };
}

function verifyMemo(
  { content, assetId }: Context,
  { sealedNotes }: DisclosedInsertion,
  payment: DisclosedPayment,
  fact: InsertionFact,
): PaymentClaims['memo'] {
  const { memo, slot, encryptionPublicKey, commitment } = payment;
  if (memo === undefined || sealedNotes === undefined) {
    return gap('not-disclosed');
  }
  const sealed = sealedNotes[slot];
  // Only the concatenation has a hash on chain, so one missing or changed sealed note makes all of them useless.
  if (
    sealed === undefined ||
    sealedNotes.length !== fact.commitments.length ||
    computeSealedNotesHash(sealedNotes) !== fact.sealedNotesHash
  ) {
    return gap('sealed-notes-mismatch');
  }
  // With a key of its own choice a payer could show a memo that the payee was never able to read.
  if (memo.proof !== memoProofOf(content.role)) {
    return gap('wrong-memo');
  }
  const bound = { encryptionPublicKey, commitment: parseField(commitment), assetId };
  const opened = attempt(() => openWithSecret(sealed, memo, bound));
  const isOpened =
    opened !== undefined &&
    opened.amount === BigInt(payment.amount) &&
    fieldToHex(opened.nonce) === payment.nonce &&
    (opened.memo ?? null) === memo.text;
  return isOpened ? { state: 'proved', memo: memo.text } : gap('wrong-memo');
}

/** P must be the payee's own. A note of W under another P pays nobody. */
function verifyPayee(
  { content, facts, nowMs }: Context,
  { walletPub, encryptionPublicKey, evidence }: DisclosedPayment,
): PaymentClaims['payee'] {
  const isConfirmed =
    // W signed the document, which lists P.
    content.role === 'payee' ||
    attempt(() => {
      const { evidenceDomain } = facts;
      if (evidence === undefined || evidenceDomain === undefined) {
        return false;
      }
      const verified = verifyEvidence(evidence, evidenceDomain, nowMs);
      return (
        verified.walletPub === walletPub && verified.encryptionPublicKey === encryptionPublicKey
      );
    }) === true;
  return isConfirmed
    ? { state: 'proved', address: computeWalletAddress(walletPub), walletPub, encryptionPublicKey }
    : gap('key-not-confirmed');
}

function opensTo(opening: NoteOpening, assetId: AssetId, commitment: Field | undefined): boolean {
  const computed = attempt(() => computeOpeningCommitment(opening, assetId));
  return computed !== undefined && computed === commitment;
}

function gap(reason: DisclosureGap): Claim<never> {
  return { state: 'not-proved', reason };
}

function denyAll({ insertions }: Disclosure, reason: DisclosureGap): DisclosureReport {
  return {
    discloser: gap(reason),
    payments: insertions.flatMap((insertion) =>
      insertion.payments.map((payment) => denyPayment(insertion, payment, reason)),
    ),
  };
}

function denyPayment(
  { txHash, index }: DisclosedInsertion,
  { slot }: DisclosedPayment,
  reason: DisclosureGap,
): PaymentClaims {
  const denied = gap(reason);
  return {
    txHash,
    index,
    slot,
    exists: denied,
    amount: denied,
    memo: denied,
    payer: denied,
    payee: denied,
  };
}

/** Undefined for what a parser or a check refuses. Any other error is a mistake of ours. */
function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}
