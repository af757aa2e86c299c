/**
 * The payees of one payment, from every source that lists them: its job, its record, the ledger, the roster.
 *
 * @module
 */
import type { DisbursementJob, TokenUnit } from '@pool/core';
import type { DisbursementRecord } from '@pool/operations';
import type { StatementLine } from '@pool/statements';
import { labelOf } from '../ledger/invited-record.ts';
import type { RosterEntry } from '../roster/roster-csv.ts';

/** What is known of one payment: a part of a pay run, or a job without a label. */
export type PaymentSource = {
  /** As a report names it: `paid`, `not submitted`. */
  readonly state: string;
  readonly chain: string;
  readonly unit: Pick<TokenUnit, 'symbol'> & Partial<TokenUnit>;
  readonly key: string;
  /** Label and part. Absent: a job that no label names. */
  readonly place?: { readonly payRun: string; readonly part: number } | undefined;
  readonly job?: DisbursementJob | undefined;
  readonly record?: DisbursementRecord | undefined;
  /** Whom ledger or roster name. An empty amount: neither has it. */
  readonly entries: readonly RosterEntry[];
};

type Facts = Partial<Pick<StatementLine, 'amount' | 'memo' | 'state' | 'reason'>> &
  Pick<Partial<StatementLine>, 'commitment' | 'txHash'> & {
    readonly recipientAddress: string;
    readonly requestIndex?: number;
  };

/** One line for each wallet. What the chain has comes last, so it is what the line says. */
export function listPaymentLines(source: PaymentSource): readonly StatementLine[] {
  const { key, place, chain, unit, state, job } = source;
  const { code, message } = job?.error ?? job?.result?.batches[0]?.error ?? {};
  const reason = code === undefined ? undefined : `${code}: ${message}`;
  const lines = new Map<string, StatementLine>();
  for (const { recipientAddress: wallet, requestIndex, ...facts } of listFacts(source)) {
    const id = wallet.toLowerCase();
    const position =
      requestIndex === undefined
        ? {}
        : {
            reference:
              place === undefined
                ? `${key}/${requestIndex + 1}`
                : `${place.payRun}/${place.part}.${requestIndex + 1}`,
          };
    lines.set(id, {
      ...{ wallet, token: unit.symbol, decimals: unit.decimals, state, reason },
      ...{ payRun: place && labelOf(place.payRun), jobKey: key, chain },
      ...lines.get(id),
      ...position,
      ...facts,
    });
  }
  return [...lines.values()];
}

function* listFacts({ entries, record, job }: PaymentSource): Generator<Facts> {
  for (const { recipientAddress, amount, memo } of entries) {
    yield { recipientAddress, ...(amount === '' ? {} : { amount }), ...optionalMemo(memo) };
  }
  for (const { address, requestIndex, amount, memo } of record?.recipients ?? []) {
    yield { recipientAddress: address, requestIndex, amount, ...optionalMemo(memo) };
  }
  const { notes = [], batches = [], skipped = record?.skipped ?? [] } = job?.result ?? {};
  const txHash = batches[0]?.txHash;
  for (const { recipientAddress, requestIndex, amount, commitment, status } of notes) {
    const onChain = status === 'success' ? { commitment } : {};
    yield { recipientAddress, requestIndex, amount, ...(txHash ? { txHash } : {}), ...onChain };
  }
  for (const { recipientAddress, requestIndex, code, message } of skipped) {
    yield { recipientAddress, requestIndex, state: 'skipped', reason: `${code}: ${message}` };
  }
}

function optionalMemo(memo: string | undefined): { readonly memo?: string } {
  return memo === undefined || memo === '' ? {} : { memo };
}
