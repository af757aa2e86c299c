/**
 * What the custodian remembers of the gate's own approvals. A ledger that lacks one of them is older than it: it was restored from a
 * backup, and votes nothing before it is re-baselined from this history.
 *
 * @module
 */

import {
  createSignedHistory,
  type Ledger,
  type LedgerHistory,
  type Policy,
  type SignedRequest,
} from '@pool/policy';
import type { Preimage } from '../preimage/preimage.ts';
import { toSignRequest } from '../preimage/to-request.ts';
import { findSigner } from './judge.ts';

/** An approval by the gate, as the custodian shows it. */
export type PastApproval = {
  readonly wallet: string;
  readonly preimage: Preimage;
  readonly atMs: number;
};

export type HistorySource = {
  /** Newest first, in pages. */
  pages(): AsyncIterable<readonly PastApproval[]>;
};

export type HistoryCheck = {
  /**
   * Reads back to `backToMs`, and from there until a page shows guarded approvals and the ledger has all of them. If the ledger lacks
   * an approval, it counts as restored from then on.
   * @throws PoolError of the source; nothing is known then
   */
  compare(range: {
    readonly nowMs: number;
    readonly backToMs: number;
  }): Promise<{ readonly missing: readonly string[] }>;
  /**
   * Everything that the custodian remembers.
   * @throws PoolError of the source, also where its list is cut
   */
  readAll(): Promise<{ readonly history: LedgerHistory; readonly approvals: number }>;
};

export function createHistoryCheck(deps: {
  readonly source: HistorySource;
  readonly ledger: Ledger;
  readonly policy: () => Policy;
}): HistoryCheck {
  const { source, ledger } = deps;

  function describe(approvals: readonly PastApproval[]): LedgerHistory {
    return createSignedHistory(approvals.flatMap((approval) => readSigned(approval)));
  }

  function readSigned({ wallet, preimage, atMs }: PastApproval): readonly SignedRequest[] {
    if (preimage.kind === 'hash') {
      return [{ kind: 'spend-digest', digest: preimage.digest, atMs }];
    }
    const signer = findSigner(deps.policy(), wallet);
    const reading =
      signer === undefined ? undefined : toSignRequest(preimage, signer, undefined, undefined);
    return reading?.kind === 'request' ? [{ kind: 'request', request: reading.request, atMs }] : [];
  }

  return {
    async compare({ nowMs, backToMs }) {
      const missing: string[] = [];
      for await (const page of source.pages()) {
        const history = describe(page);
        // The custodian's clock may name another day than ours: a sum is not compared.
        const found = ledger.compareHistory({ ...history, counts: [] }, nowMs).missing;
        missing.push(...found);
        const isFarEnough = page.some(({ atMs }) => atMs <= backToMs);
        // A permit has no guard here, so a page of permits says nothing about the ledger.
        if (isFarEnough && history.guards.length > 0 && found.length === 0) {
          break;
        }
      }
      return { missing };
    },
    async readAll() {
      const all: PastApproval[] = [];
      for await (const page of source.pages()) {
        all.push(...page);
      }
      return { history: describe(all), approvals: all.length };
    },
  };
}
