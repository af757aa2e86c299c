/**
 * `approve audit`: verifies the chain of the audit log, and prints its entries.
 *
 * @module
 */

import type { Hex32 } from '@pool/core';
import type { AuditEntry, Ledger } from '@pool/policy';
import { type CommandContext, type CommonOptions, exitCodes, print, withLedger } from './output.ts';

const pageSize = 1_000;

/** @returns the exit code */
export async function runAuditVerify(
  options: CommonOptions & { readonly head?: Hex32 },
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    const verdict = ledger.verifyAudit();
    const isHeadKnown =
      options.head === undefined || listAll(ledger).some(({ hash }) => hash === options.head);
    if (verdict.kind === 'broken') {
      const text = `The audit log is broken at entry ${verdict.seq}: ${verdict.message}`;
      print(context, options, verdict, text);
      return exitCodes.refused;
    }
    if (!isHeadKnown) {
      const message =
        'no entry has the given hash: the end of the log was cut off, or the hash is of another log';
      print(context, options, { kind: 'broken', message }, `The audit log is broken: ${message}.`);
      return exitCodes.refused;
    }
    const text = `The audit log is intact: ${verdict.entries} entries, the newest hash is ${verdict.head}. Keep it elsewhere, and pass it with --head next time.`;
    print(context, options, verdict, text);
    return exitCodes.ok;
  });
}

/** One JSON line for each entry. @returns the exit code */
export async function runAuditList(
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, (ledger) => {
    for (const { seq, atMs, event, data, hash } of listAll(ledger)) {
      const line = { seq, at: new Date(atMs).toISOString(), event, data: parseData(data), hash };
      context.streams.out(JSON.stringify(line));
    }
    return exitCodes.ok;
  });
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
