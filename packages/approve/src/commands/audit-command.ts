/**
 * `approve audit`: verifies the chain of the audit log, and prints its entries.
 *
 * @module
 */

import type { Hex32 } from '@pool/core';
import type { AuditEntry, Ledger } from '@pool/policy';
import { type CommonOptions, exitCodes, type LedgerCall, type Outcome } from './output.ts';

const pageSize = 1_000;

export function runAuditVerify({
  ledger,
  options: { head },
}: LedgerCall<CommonOptions & { readonly head?: Hex32 }>): Outcome {
  const verdict = ledger.verifyAudit();
  if (verdict.kind === 'broken') {
    const text = `The audit log is broken at entry ${verdict.seq}: ${verdict.message}`;
    return { code: exitCodes.refused, document: verdict, text };
  }
  if (head !== undefined && !listAll(ledger).some(({ hash }) => hash === head)) {
    const message =
      'no entry has the given hash: the end of the log was cut off, or the hash is of another log';
    const text = `The audit log is broken: ${message}.`;
    return { code: exitCodes.refused, document: { kind: 'broken', message }, text };
  }
  return {
    document: verdict,
    text: `The audit log is intact: ${verdict.entries} entries, the newest hash is ${verdict.head}. Keep it elsewhere, and pass it with --head next time.`,
  };
}

/** One JSON line for each entry. */
export function runAuditList({ ledger }: LedgerCall): Outcome {
  const lines = listAll(ledger).map(({ seq, atMs, event, data, hash }) =>
    JSON.stringify({ seq, at: new Date(atMs).toISOString(), event, data: parseData(data), hash }),
  );
  return { text: lines.join('\n') };
}

function parseData(data: string): unknown {
  return JSON.parse(data);
}

function listAll(ledger: Ledger): readonly AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (;;) {
    const page = ledger.listAudit(entries.at(-1)?.seq ?? 0, pageSize);
    entries.push(...page);
    if (page.length < pageSize) {
      return entries;
    }
  }
}
