/**
 * From a manifest file to everything that may be signed for it (protocol §3, §7, §8). Commitments, dummies, sealed notes, roots and
 * digests are computed here, and never taken from the caller. Dummies have the amount zero by construction.
 * Vectors: vectors/fund-batch.json, vectors/spend.json.
 *
 * @module
 */
import {
  canonicalDigest,
  computeFundAuthorizationData,
  computeTypedDataDigest,
  computeVoidBatchData,
  computeWalletAddress,
  type EncryptionPublicKey,
  type EvidenceDomain,
  type EvmAddress,
  type FundAuthorization,
  type FundFile,
  fieldToHex,
  fundFileSchema,
  type Hex32,
  hexToBytes,
  isFundFile,
  isPoolError,
  type ManifestFile,
  parseAmount,
  parseEvmAddress,
  parseField,
  parseWalletPub,
  parseWire,
  type SignInEvidence,
  type SpendFile,
  spendFileSchema,
  type VerifiedEvidence,
  verifyEvidence,
  type WalletPub,
} from '@pool/core';
import { buildSpend, stepFundBatch } from '@pool/notes';

// Sign-in evidence of the payees of a manifest (protocol §2): it proves that the owner of W chose P. Without this check, a compromised
// agent could seal notes of the right wallet to a key of its own, and the money would be lost.

/** A payee whose own wallet signed for its encryption key. */
export type RebuiltPayee = {
  readonly address: EvmAddress;
  readonly walletPub: WalletPub;
  readonly encryptionPublicKey: EncryptionPublicKey;
  /** Base units. */
  readonly amount: bigint;
  /** Date of the evidence, milliseconds. The decision refuses one that is dated ahead. */
  readonly issuedAtMs: number;
};

/** A payee as a manifest names it. `address` is absent in a spend, which pays a W. */
type ClaimedPayee = {
  readonly address?: string;
  readonly walletPub: string;
  readonly encryptionPublicKey: EncryptionPublicKey;
  readonly evidence: SignInEvidence;
  readonly amount: string;
};

/**
 * The payees, or the first problem. It names the payee by its place in the manifest, never by its evidence. Pauses after each payee,
 * because a recovery takes a millisecond.
 */
function* stepVerifyPayees(
  payees: readonly ClaimedPayee[],
  domain: EvidenceDomain,
): Generator<undefined, readonly RebuiltPayee[] | string, undefined> {
  const verified: RebuiltPayee[] = [];
  for (const [index, payee] of payees.entries()) {
    const result = verifyPayee(payee, domain);
    if (typeof result === 'string') {
      return `recipient ${index + 1}: ${result}`;
    }
    verified.push(result);
    yield;
  }
  return verified;
}

function verifyPayee(payee: ClaimedPayee, domain: EvidenceDomain): RebuiltPayee | string {
  let verified: VerifiedEvidence;
  try {
    // The decision checks the date by its own clock, because a stored manifest is decided more than once.
    verified = verifyEvidence(payee.evidence, domain, Number.MAX_SAFE_INTEGER);
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    return error.message;
  }
  if (verified.walletPub !== payee.walletPub) {
    return 'its walletPub is not the one that signed the evidence';
  }
  if (payee.address !== undefined && !isSameAddress(payee.address, verified.address)) {
    return 'its walletPub belongs to another address';
  }
  if (verified.encryptionPublicKey !== payee.encryptionPublicKey) {
    return 'its encryptionPublicKey is not the one that the wallet signed for';
  }
  return {
    address: verified.address,
    walletPub: verified.walletPub,
    encryptionPublicKey: verified.encryptionPublicKey,
    amount: parseAmount(payee.amount),
    issuedAtMs: verified.issuedAtMs,
  };
}

function isSameAddress(text: string, address: EvmAddress): boolean {
  return parseEvmAddress(text) === address;
}

export type Rebuild =
  | { readonly kind: 'rebuilt'; readonly manifest: RebuiltManifest }
  | {
      readonly kind: 'refused';
      readonly reason: 'manifest-invalid' | 'evidence-invalid';
      /** Names the place, never a value of the file. */
      readonly message: string;
    };

/**
 * Rebuilds a batch or a spend and verifies the evidence of its payees. Deterministic; a batch of 256 takes about a second.
 *
 * @param file - secret; it is parsed again
 * @param domain - the platform that evidence must be for, from the policy
 */
export function rebuildManifest(file: ManifestFile, domain: EvidenceDomain): Rebuild {
  const steps = stepRebuildManifest(file, domain);
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
  }
}

/** {@link rebuildManifest} that pauses after each recipient and each slot, for a process that also serves requests. */
export function* stepRebuildManifest(
  file: ManifestFile,
  domain: EvidenceDomain,
): Generator<undefined, Rebuild, undefined> {
  try {
    const manifest = isFundFile(file)
      ? yield* stepFund(file, domain)
      : yield* stepSpend(file, domain);
    return typeof manifest === 'string'
      ? { kind: 'refused', reason: 'evidence-invalid', message: manifest }
      : { kind: 'rebuilt', manifest };
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    return { kind: 'refused', reason: 'manifest-invalid', message: error.message };
  }
}

type Built<TStep extends (...input: never[]) => Generator<undefined, unknown, undefined>> =
  ReturnType<TStep> extends Generator<undefined, infer T, undefined> ? Exclude<T, string> : never;

/** A batch. Confidential, except for the authorisation and the digests. */
export type RebuiltFund = Built<typeof stepFund>;
/** A transfer, a withdrawal or a merge. Secret: `salt`, `digest`. */
export type RebuiltSpend = Built<typeof stepSpend>;
export type RebuiltManifest = RebuiltFund | RebuiltSpend;

/** @returns what is wrong with the evidence of a payee, or the batch */
function* stepFund(value: FundFile, domain: EvidenceDomain) {
  const file = parseWire(fundFileSchema, value, 'manifest file');
  const { manifest } = file;
  const payees = yield* stepVerifyPayees(manifest.recipients, domain);
  if (typeof payees === 'string') {
    return payees;
  }
  const plan = yield* stepFundBatch(manifest, hexToBytes(file.seed, 32));
  const { chainId, jobKey, attempt } = manifest;
  const { manifestDigest, total, batchRoot, batchNonce, batchId, sealedNotesHash } = plan;
  const pool = parseEvmAddress(manifest.pool);
  const token = parseEvmAddress(manifest.token);
  const funder = parseEvmAddress(manifest.funder);
  const deadline = BigInt(file.deadline);
  const authorization: FundAuthorization = {
    ...{ funder, token, total, batchRoot, batchNonce, sealedNotesHash, deadline },
  };
  const fundData = computeFundAuthorizationData(chainId, pool, authorization);
  const voidData = computeVoidBatchData(chainId, pool, funder, batchNonce);
  return {
    kind: 'fund',
    /** Secret. */
    file,
    manifestDigest,
    chainId,
    pool,
    token,
    /** In the order of the manifest. Confidential. */
    payees,
    /** The platform that the evidence was verified for. */
    evidence: domain,
    funder,
    /** Base units, 1 to 2^128-1. */
    total,
    authorization,
    fundDigest: computeTypedDataDigest(fundData),
    voidDigest: computeTypedDataDigest(voidData),
    batchNonce,
    batchId,
    /** Lower case. */
    employerId: manifest.employerId.toLowerCase(),
    jobKey,
    attempt,
    rosterDigest: computeRosterDigest(chainId, token, payees),
    /** Label part of the job key. Undefined: the key has none. */
    payRunLabel: parsePayRunLabel(jobKey),
  } as const;
}

/** @returns what is wrong with the evidence of a payee, or the spend */
function* stepSpend(value: SpendFile, domain: EvidenceDomain) {
  const file = parseWire(spendFileSchema, value, 'manifest file');
  const { manifest } = file;
  const payees = yield* stepVerifyPayees(manifest.outputs, domain);
  if (typeof payees === 'string') {
    return payees;
  }
  const dummies = file.dummyNullifiers.map(parseField);
  const { operation, ...plan } = buildSpend(manifest, hexToBytes(file.seed, 32), dummies);
  const { assetId, withdrawAmount, recipient, deadline } = operation;
  return {
    kind: 'spend',
    /** Secret. */
    file,
    manifestDigest: plan.manifestDigest,
    chainId: manifest.chainId,
    pool: parseEvmAddress(manifest.pool),
    token: parseEvmAddress(manifest.token),
    /** In the order of the manifest. Confidential. */
    payees,
    /** The platform that the evidence was verified for. */
    evidence: domain,
    walletPub: parseWalletPub(manifest.walletPub),
    /** address(W). */
    address: computeWalletAddress(manifest.walletPub),
    assetId,
    operation,
    /** 31 bytes, secret. */
    salt: plan.salt,
    /** m, which the holder signs; secret. */
    digest: fieldToHex(plan.digest),
    changeEncryptionPublicKey: manifest.changeEncryptionPublicKey,
    /** Every nullifier of the spend, those of dummies too, in the order of the inputs. */
    nullifiers: operation.nullifiers.map(fieldToHex),
    /** What leaves for others: withdrawal and payees, base units. */
    sent: payees.reduce((sum, { amount }) => sum + amount, withdrawAmount),
    withdrawAmount,
    recipient,
    /** Unix seconds. */
    deadline,
  } as const;
}

/**
 * Two batches have the same roster: the same chain and token, and the same sum for each address. Order, memos, keys, job, pool, funder and
 * label do not matter, because the money is the same.
 *
 * @param payees - an address may be listed several times
 */
export function computeRosterDigest(
  chainId: number,
  token: EvmAddress,
  payees: readonly { readonly address: EvmAddress; readonly amount: bigint }[],
): Hex32 {
  const sums = new Map<EvmAddress, bigint>();
  for (const { address, amount } of payees) {
    sums.set(address, (sums.get(address) ?? 0n) + amount);
  }
  const lines = [...sums].map(([address, sum]) => `${address} ${sum}`).sort();
  return canonicalDigest(['pool/v1/roster', chainId, token, lines]);
}

/**
 * The label of a pay run inside a job key. The agent's command writes `<label>-<32 hex digits>`, or `<label>-<part>of<count>-<32 hex digits>`
 * for a part of a roster.
 *
 * @returns undefined for a key that the command did not write: a caller of the HTTP API chooses keys freely
 */
export function parsePayRunLabel(jobKey: string): string | undefined {
  const label = /^(.+)-[0-9a-f]{32}$/s.exec(jobKey)?.[1];
  return label?.replace(/-[0-9]+of[0-9]+$/, '');
}
