/**
 * Stores a manifest file, once for each attempt of a job. A file that was never approved makes way after its deadline.
 *
 * @module
 */
import { canonicalJson, fieldToHex, type ManifestFile } from '@pool/core';
import type { IntakeVerdict } from '../decide/decide-intake.ts';
import type { LedgerView, StoredManifest } from '../history/ledger-view.ts';
import type { RebuiltManifest } from '../rebuild/rebuilt.ts';
import { decisionReasons } from '../requests/reasons.ts';
import { isFree } from '../rules/check-batch.ts';
import { appendAudit } from './audit.ts';
import { makeRoom } from './erase-manifests.ts';
import type { IntakeResult } from './ledger.ts';
import { createView } from './read-view.ts';
import type { Statements } from './statements.ts';
import { manifestTable, noBatch } from './tables.ts';

/** A file of 256 recipients with long sign-in texts has about 1.4 MiB. */
const maxFileBytes = 2 * 1024 * 1024;

function refuse(
  reason: Extract<IntakeResult, { kind: 'refused' }>['reason'],
): Extract<IntakeResult, { kind: 'refused' }> {
  return { kind: 'refused', reason, message: decisionReasons[reason] };
}

/** Runs inside a transaction. */
export function storeManifest(
  statements: Statements,
  manifest: RebuiltManifest,
  nowMs: number,
  judge: (view: LedgerView) => IntakeVerdict,
): IntakeResult {
  const { run } = statements;
  const view = createView(statements);
  const stored = view.findManifest(manifest.manifestDigest);
  if (stored !== undefined) {
    // The manifest's digest covers neither seed nor deadline: the digest to sign does.
    return digestOf(manifest) === stored.digest
      ? { kind: 'known', manifest: restoreFile(statements, manifest, stored, nowMs) }
      : refuse('job-has-other-manifest');
  }
  const file = canonicalJson(manifest.file satisfies ManifestFile);
  if (Buffer.byteLength(file) > maxFileBytes) {
    return refuse('manifest-too-large');
  }
  if (!makeRoom(statements, nowMs)) {
    return { kind: 'later', reason: 'ledger-full', message: decisionReasons['ledger-full'] };
  }
  const verdict = judge(view);
  if (verdict.kind !== 'store') {
    const { reason, message } = verdict;
    return { kind: verdict.kind === 'later' ? 'later' : 'refused', reason, message };
  }
  const other = findAttempt(view, manifest);
  if (other !== undefined && !isFree(view, other, nowMs)) {
    return refuse('job-has-other-manifest');
  }
  if (other !== undefined) {
    run('DELETE FROM manifest WHERE manifest_digest = ?', other.manifestDigest);
    appendAudit(statements, 'manifest.replaced', { manifestDigest: other.manifestDigest }, nowMs);
  }
  const row = toStoredManifest(manifest, nowMs);
  const { isErased: _, batch, ...common } = row;
  manifestTable.write(statements, 'INSERT', { ...noBatch, ...batch, ...common, file });
  return { kind: 'stored', manifest: row };
}

/** A file that was erased to make room, and is sent again while it may still be signed. */
function restoreFile(
  statements: Statements,
  manifest: RebuiltManifest,
  stored: StoredManifest,
  nowMs: number,
): StoredManifest {
  const mayBeSigned = 1000 * stored.deadline > nowMs;
  if (!stored.isErased || !mayBeSigned || !makeRoom(statements, nowMs)) {
    return stored;
  }
  statements.run(
    'UPDATE manifest SET file = ? WHERE manifest_digest = ?',
    canonicalJson(manifest.file satisfies ManifestFile),
    stored.manifestDigest,
  );
  return { ...stored, isErased: false };
}

function digestOf(manifest: RebuiltManifest): string {
  return manifest.kind === 'fund' ? manifest.fundDigest : manifest.digest;
}

function findAttempt(view: LedgerView, manifest: RebuiltManifest): StoredManifest | undefined {
  return manifest.kind === 'fund'
    ? view
        .listAttempts(manifest.employerId, manifest.jobKey)
        .find(({ batch }) => batch?.attempt === manifest.attempt)
    : undefined;
}

/** The row of a manifest that arrives now. */
function toStoredManifest(manifest: RebuiltManifest, nowMs: number): StoredManifest {
  const { manifestDigest, kind, chainId, pool, token } = manifest;
  const common = {
    manifestDigest,
    kind,
    chainId,
    pool,
    token,
    receivedAtMs: nowMs,
    isErased: false,
  };
  if (manifest.kind === 'spend') {
    return { ...common, digest: manifest.digest, deadline: manifest.deadline, batch: undefined };
  }
  const { funder, employerId, jobKey, attempt, batchNonce, batchId } = manifest;
  const { total, voidDigest, rosterDigest } = manifest;
  return {
    ...common,
    digest: manifest.fundDigest,
    deadline: manifest.file.deadline,
    batch: {
      funder,
      employerId,
      jobKey,
      attempt,
      batchNonce: fieldToHex(batchNonce),
      batchId: fieldToHex(batchId),
      total,
      voidDigest,
      rosterDigest,
    },
  };
}

/**
 * A view for a manifest that was not posted yet: what would be decided about its payment if it were stored.
 *
 * @returns the view itself if a manifest with this digest is stored, also one with another seed or deadline
 */
export function viewAsStored(
  view: LedgerView,
  manifest: RebuiltManifest,
  nowMs: number,
): LedgerView {
  if (view.findManifest(manifest.manifestDigest) !== undefined) {
    return view;
  }
  const row = toStoredManifest(manifest, nowMs);
  const { batch } = row;
  return {
    ...view,
    findManifest: (digest) => (digest === row.manifestDigest ? row : view.findManifest(digest)),
    listAttempts(employerId, jobKey) {
      const attempts = view.listAttempts(employerId, jobKey);
      return batch?.employerId === employerId && batch.jobKey === jobKey
        ? [...attempts, row]
        : attempts;
    },
  };
}
