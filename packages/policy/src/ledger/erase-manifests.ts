/**
 * Erases people, amounts and seeds: the files of manifests. What limits future approvals stays.
 *
 * @module
 */
import { appendAudit } from './audit.ts';
import { eraseRecipients } from './counted-digests.ts';
import type { Statements } from './statements.ts';

/** Files that are kept. More would only come from an agent that was taken over. */
const maxFiles = 10_000;

/**
 * Files that arrived before `beforeMs`, and are past their deadline, or were never approved while no request waits for them.
 * @param by - who decided it. Undefined: nobody, their time was over
 * @returns how many
 */
export function eraseManifests(
  statements: Statements,
  beforeMs: number,
  nowMs: number,
  by: string | undefined,
): number {
  const erased = statements.run(
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
  if (erased > 0) {
    const why = by === undefined ? {} : { by };
    appendAudit(statements, 'manifests.erased', { count: erased, ...why }, nowMs);
  }
  return erased;
}

/**
 * Room for one more file. A ledger that is full erases what is past its deadline, before the operator's retention does: nothing of it is
 * ever signed.
 * @returns false: everything that is kept may still be signed
 */
export function makeRoom(statements: Statements, nowMs: number): boolean {
  if (!isFull(statements)) {
    return true;
  }
  const erased = statements.run(
    'UPDATE manifest SET file = NULL WHERE file IS NOT NULL AND deadline < ?',
    Math.floor(nowMs / 1000),
  );
  if (erased > 0) {
    appendAudit(statements, 'manifests.erased', { count: erased, why: 'ledger-full' }, nowMs);
  }
  return !isFull(statements);
}

function isFull({ get }: Statements): boolean {
  const files = get('SELECT count(*) AS count FROM manifest WHERE file IS NOT NULL')?.['count'];
  return Number(files) >= maxFiles;
}
