/**
 * Stores a manifest that was rebuilt, and erases people, amounts and seeds again: the file of a manifest. What limits future approvals
 * stays. A job and attempt have one manifest; one that was never approved and whose deadline passed gives way to another, because nothing
 * of it was or will ever be signed.
 *
 * @module
 */
import {
  canonicalJson,
  fieldToHex,
  type Hex32,
  type ManifestFile,
  manifestFileSchema,
  parseWire,
} from '@pool/core';
import type { IntakeVerdict } from '../decide/decide-intake.ts';
import type { LedgerView, StoredManifest } from '../history/ledger-view.ts';
import type { RebuiltManifest } from '../rebuild/rebuild-manifest.ts';
import { type DecisionReason, decisionReasons } from '../requests/reasons.ts';
import { isFree } from '../rules/check-batch.ts';
import { appendAudit, eraseRecipients } from './audit.ts';
import type { Statements } from './table.ts';
import { manifestTable } from './tables.ts';
import type { LedgerFaultPoint } from './votes.ts';

/** A file of 256 recipients with long sign-in texts has about 1.4 MiB. */
const maxFileBytes = 2 * 1024 * 1024;

/** Files that are kept. More would only come from an agent that was taken over. */
const maxFiles = 10_000;

type Refusal = { readonly reason: DecisionReason; readonly message: string };

type IntakeResult =
  | { readonly kind: 'stored' | 'known'; readonly manifest: StoredManifest }
  | (Refusal & { readonly kind: 'refused' })
  /** Nothing is stored: send the manifest again. */
  | (Refusal & { readonly kind: 'later' });

/** @param write - one transaction of the ledger */
export function createManifests(
  statements: Statements,
  view: LedgerView,
  write: <T>(work: () => T) => T,
  passFaultPoint: (point: LedgerFaultPoint) => void,
) {
  const { get, run } = statements;

  function isFull(): boolean {
    const files = get('SELECT count(*) AS count FROM manifest WHERE file IS NOT NULL')?.['count'];
    return Number(files) >= maxFiles;
  }

  /**
   * Room for one more file. A ledger that is full erases what is past its deadline, before the operator's retention does: nothing of it is
   * ever signed.
   * @returns false: everything that is kept may still be signed
   */
  function makeRoom(nowMs: number): boolean {
    if (!isFull()) {
      return true;
    }
    const count = run(
      'UPDATE manifest SET file = NULL WHERE file IS NOT NULL AND deadline < ?',
      Math.floor(nowMs / 1000),
    );
    if (count > 0) {
      appendAudit(statements, 'manifests.erased', { count, why: 'ledger-full' }, nowMs);
    }
    return !isFull();
  }

  /** A file that was erased to make room, and is sent again while it may still be signed. */
  function restoreFile(file: ManifestFile, stored: StoredManifest, nowMs: number): StoredManifest {
    const mayBeSigned = 1000 * stored.deadline > nowMs;
    if (!stored.isErased || !mayBeSigned || !makeRoom(nowMs)) {
      return stored;
    }
    const sql = 'UPDATE manifest SET file = ? WHERE manifest_digest = ?';
    run(sql, canonicalJson(file), stored.manifestDigest);
    return { ...stored, isErased: false };
  }

  function store(
    manifest: RebuiltManifest,
    nowMs: number,
    judge: (view: LedgerView) => IntakeVerdict,
  ): IntakeResult {
    const row = toStoredManifest(manifest, nowMs);
    const stored = view.findManifest(manifest.manifestDigest);
    if (stored !== undefined) {
      // The manifest's digest covers neither seed nor deadline: the digest to sign does.
      return row.digest === stored.digest
        ? { kind: 'known', manifest: restoreFile(manifest.file, stored, nowMs) }
        : answer('refused', 'job-has-other-manifest');
    }
    const file = canonicalJson(manifest.file satisfies ManifestFile);
    if (Buffer.byteLength(file) > maxFileBytes) {
      return answer('refused', 'manifest-too-large');
    }
    if (!makeRoom(nowMs)) {
      return answer('later', 'ledger-full');
    }
    const verdict = judge(view);
    if (verdict.kind !== 'store') {
      const { kind, reason, message } = verdict;
      return { kind: kind === 'later' ? kind : 'refused', reason, message };
    }
    const { isErased: _, batch, ...common } = row;
    const attempts = batch === undefined ? [] : view.listAttempts(batch.employerId, batch.jobKey);
    const other = attempts.find((one) => one.batch?.attempt === batch?.attempt);
    if (other !== undefined && !isFree(view, other, nowMs)) {
      return answer('refused', 'job-has-other-manifest');
    }
    if (other !== undefined) {
      const { manifestDigest } = other;
      run('DELETE FROM manifest WHERE manifest_digest = ?', manifestDigest);
      appendAudit(statements, 'manifest.replaced', { manifestDigest }, nowMs);
    }
    manifestTable.write(statements, 'INSERT', { ...batch, ...common, file });
    return { kind: 'stored', manifest: row };
  }

  return {
    /**
     * Stores a manifest that was rebuilt, unless another one has its job and attempt. `judge` decides with a view of the same
     * transaction: pass `decideIntake`.
     */
    storeManifest(
      manifest: RebuiltManifest,
      nowMs: number,
      judge: (view: LedgerView) => IntakeVerdict,
    ): IntakeResult {
      const result = write(() => {
        const stored = store(manifest, nowMs, judge);
        if (stored.kind === 'stored' || stored.kind === 'refused') {
          const { manifestDigest, kind } = manifest;
          const reason = stored.kind === 'refused' ? stored.reason : undefined;
          const content = { manifestDigest, kind, reason };
          appendAudit(statements, `manifest.${stored.kind}`, content, nowMs);
        }
        passFaultPoint('manifest.recorded');
        return stored;
      });
      passFaultPoint('manifest.committed');
      return result;
    },
    /** Undefined: none is stored, or it was erased. Secret. */
    readFile(manifestDigest: Hex32): ManifestFile | undefined {
      const sql = 'SELECT file FROM manifest WHERE manifest_digest = ?';
      const text = get(sql, manifestDigest)?.['file'];
      return typeof text === 'string'
        ? parseWire(manifestFileSchema, JSON.parse(text), 'stored manifest')
        : undefined;
    },
    /**
     * Erases people, amounts and seeds of manifests that arrived before `beforeMs`, and are past their deadline, or were never approved
     * while no request waits for them.
     * @param by - who decided it, for the audit log. Undefined: nobody, their time was over
     * @returns how many
     */
    eraseManifests: (beforeMs: number, nowMs: number, by?: string): number =>
      write(() => {
        const count = run(
          `UPDATE manifest SET file = NULL
           WHERE file IS NOT NULL AND received_at_ms < ? AND (deadline < ? OR (
             manifest_digest NOT IN (SELECT manifest_digest FROM vote WHERE value = 'approve' AND manifest_digest IS NOT NULL) AND
             manifest_digest NOT IN (SELECT manifest_digest FROM waiting WHERE manifest_digest IS NOT NULL)))`,
          beforeMs,
          Math.floor(nowMs / 1000),
        );
        // What a recipient was paid is about one person, and limits nothing after two days.
        const sums = eraseRecipients(statements, nowMs);
        if (sums > 0) {
          appendAudit(statements, 'sums.erased', { count: sums }, nowMs);
        }
        if (count > 0) {
          appendAudit(statements, 'manifests.erased', { count, by }, nowMs);
        }
        return count;
      }),
  };
}

function answer(kind: 'refused' | 'later', reason: DecisionReason): IntakeResult {
  return { kind, reason, message: decisionReasons[reason] };
}

/** The row of a manifest that arrives now. */
function toStoredManifest(manifest: RebuiltManifest, receivedAtMs: number): StoredManifest {
  const { manifestDigest, kind, chainId, pool, token } = manifest;
  const place = { manifestDigest, kind, chainId, pool, token };
  const common = { ...place, receivedAtMs, isErased: false };
  if (manifest.kind === 'spend') {
    return { ...common, digest: manifest.digest, deadline: manifest.deadline, batch: undefined };
  }
  const { funder, employerId, jobKey, attempt, total, voidDigest, rosterDigest } = manifest;
  return {
    ...common,
    digest: manifest.fundDigest,
    deadline: manifest.file.deadline,
    batch: {
      ...{ funder, employerId, jobKey, attempt, total, voidDigest, rosterDigest },
      batchNonce: fieldToHex(manifest.batchNonce),
      batchId: fieldToHex(manifest.batchId),
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
