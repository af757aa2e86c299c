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
  type EvidenceDomain,
  type EvmAddress,
  type FundFile,
  fieldToHex,
  fundFileSchema,
  type Hex32,
  hexToBytes,
  isFundFile,
  isPoolError,
  type ManifestFile,
  parseEvmAddress,
  parseField,
  parseWalletPub,
  parseWire,
  type SpendFile,
  spendFileSchema,
} from '@pool/core';
import { buildSpend, stepFundBatch } from '@pool/notes';
import { stepVerifyPayees } from './evidence.ts';
import type { RebuiltManifest } from './rebuilt.ts';

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
export function stepRebuildManifest(file: ManifestFile, domain: EvidenceDomain): RebuildSteps {
  return isFundFile(file) ? stepFund(file, domain) : stepSpend(file, domain);
}

type RebuildSteps = Generator<undefined, Rebuild, undefined>;

function stepFund(value: FundFile, domain: EvidenceDomain): RebuildSteps {
  return stepWith(function* () {
    const file = parseWire(fundFileSchema, value, 'manifest file');
    const { manifest } = file;
    const payees = yield* stepVerifyPayees(manifest.recipients, domain);
    if (typeof payees === 'string') {
      return refuseEvidence(payees);
    }
    const plan = yield* stepFundBatch(manifest, hexToBytes(file.seed, 32));
    const pool = parseEvmAddress(manifest.pool);
    const token = parseEvmAddress(manifest.token);
    const funder = parseEvmAddress(manifest.funder);
    const { chainId } = manifest;
    const authorization = {
      funder,
      token,
      total: plan.total,
      batchRoot: plan.batchRoot,
      batchNonce: plan.batchNonce,
      sealedNotesHash: plan.sealedNotesHash,
      deadline: BigInt(file.deadline),
    };
    return {
      kind: 'rebuilt',
      manifest: {
        kind: 'fund',
        file,
        manifestDigest: plan.manifestDigest,
        chainId,
        pool,
        token,
        payees,
        evidence: domain,
        funder,
        total: plan.total,
        authorization,
        fundDigest: computeTypedDataDigest(
          computeFundAuthorizationData(chainId, pool, authorization),
        ),
        voidDigest: computeTypedDataDigest(
          computeVoidBatchData(chainId, pool, funder, plan.batchNonce),
        ),
        batchNonce: plan.batchNonce,
        batchId: plan.batchId,
        employerId: manifest.employerId.toLowerCase(),
        jobKey: manifest.jobKey,
        attempt: manifest.attempt,
        rosterDigest: computeRosterDigest(chainId, token, payees),
        payRunLabel: parsePayRunLabel(manifest.jobKey),
      },
    };
  });
}

function stepSpend(value: SpendFile, domain: EvidenceDomain): RebuildSteps {
  return stepWith(function* () {
    const file = parseWire(spendFileSchema, value, 'manifest file');
    const { manifest } = file;
    const payees = yield* stepVerifyPayees(manifest.outputs, domain);
    if (typeof payees === 'string') {
      return refuseEvidence(payees);
    }
    const plan = buildSpend(
      manifest,
      hexToBytes(file.seed, 32),
      file.dummyNullifiers.map(parseField),
    );
    const { operation } = plan;
    return {
      kind: 'rebuilt',
      manifest: {
        kind: 'spend',
        file,
        manifestDigest: plan.manifestDigest,
        chainId: manifest.chainId,
        pool: parseEvmAddress(manifest.pool),
        token: parseEvmAddress(manifest.token),
        payees,
        evidence: domain,
        walletPub: parseWalletPub(manifest.walletPub),
        address: computeWalletAddress(manifest.walletPub),
        assetId: operation.assetId,
        operation,
        salt: plan.salt,
        digest: fieldToHex(plan.digest),
        changeEncryptionPublicKey: manifest.changeEncryptionPublicKey,
        nullifiers: operation.nullifiers.map(fieldToHex),
        sent: payees.reduce((sum, { amount }) => sum + amount, operation.withdrawAmount),
        withdrawAmount: operation.withdrawAmount,
        recipient: operation.recipient,
        deadline: operation.deadline,
      },
    };
  });
}

function refuseEvidence(message: string): Rebuild {
  return { kind: 'refused', reason: 'evidence-invalid', message };
}

function* stepWith(build: () => RebuildSteps): RebuildSteps {
  try {
    return yield* build();
  } catch (error) {
    if (!isPoolError(error)) {
      throw error;
    }
    return { kind: 'refused', reason: 'manifest-invalid', message: error.message };
  }
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
