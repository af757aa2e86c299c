/**
 * What the custodian remembers of the gate's own approvals. A ledger that lacks one of them is older than it: it was restored from a
 * backup, and votes nothing before it is re-baselined from this history.
 *
 * @module
 */
import { type EvmAddress, isPoolError, parseSignInMessage } from '@pool/core';
import {
  createSignedHistory,
  type Ledger,
  type LedgerHistory,
  type Policy,
  type SignedRequest,
} from '@pool/policy';
import { findSigner } from '../judge/judge.ts';
import { foreign, type Preimage, type Reading } from '../preimage/preimage.ts';
import { toSignRequest } from '../preimage/to-request.ts';

/** An approval by the gate, as the custodian shows it. */
export type PastApproval = {
  /** The custodian's id of it. */
  readonly id: string;
  readonly wallet: string;
  readonly reading: Reading;
  /** Pages are in the order of this date. */
  readonly createdAtMs: number;
  /** When the gate approved it. */
  readonly atMs: number;
};

/**
 * An approval that may be ours, and of which nothing can be read. Its dates neither end a comparison nor begin it.
 * @param id - undefined: it has none
 */
export function createUnread(id: string | undefined, why: string): PastApproval {
  return {
    id: id ?? 'an approval without an id',
    wallet: '',
    reading: foreign(why),
    createdAtMs: Number.POSITIVE_INFINITY,
    atMs: 0,
  };
}

export type HistorySource = {
  /** Newest first, in pages. */
  pages(): AsyncIterable<readonly PastApproval[]>;
};

/** An approval of which nothing can be said for the ledger. */
export type UnknownApproval = { readonly id: string; readonly why: string };

export type HistoryCheck = {
  /**
   * Reads until a page shows guarded approvals and the ledger has all of them, and at least back to requests that were created `voteMs`
   * before the newest approval was given: an older request may have been approved later. If the ledger lacks an approval, it counts as
   * restored from then on.
   * @throws PoolError of the source; nothing is known then
   */
  compare(range: { readonly nowMs: number; readonly voteMs: number }): Promise<{
    readonly missing: readonly string[];
    readonly unknown: readonly UnknownApproval[];
  }>;
  /**
   * Everything that the custodian remembers.
   * @throws PoolError of the source, also where its list is cut
   */
  readAll(): Promise<{
    readonly history: LedgerHistory;
    readonly approvals: number;
    readonly unknown: readonly UnknownApproval[];
  }>;
};

type Described =
  | { readonly kind: 'signed'; readonly signed: SignedRequest }
  | { readonly kind: 'unknown'; readonly why: string };

export function createHistoryCheck(deps: {
  readonly source: HistorySource;
  readonly ledger: Ledger;
  readonly policy: () => Policy;
}): HistoryCheck {
  const { source, ledger } = deps;

  function describe(approvals: readonly PastApproval[]): {
    readonly history: LedgerHistory;
    readonly unknown: readonly UnknownApproval[];
  } {
    const all = approvals.map((approval) => ({
      id: approval.id,
      described: describeOne(deps.policy(), approval),
    }));
    return {
      history: createSignedHistory(
        all.flatMap(({ described }) => (described.kind === 'signed' ? [described.signed] : [])),
      ),
      unknown: all.flatMap(({ id, described }) =>
        described.kind === 'unknown' ? [{ id, why: described.why }] : [],
      ),
    };
  }

  return {
    async compare({ nowMs, voteMs }) {
      const missing: string[] = [];
      const unknown: UnknownApproval[] = [];
      let newestMs = 0;
      for await (const page of source.pages()) {
        const { history, unknown: unread } = describe(page);
        // The custodian's clock may name another day than ours: a sum is not compared.
        const found = ledger.compareHistory({ ...history, counts: [] }, nowMs).missing;
        missing.push(...found);
        unknown.push(...unread);
        newestMs = Math.max(newestMs, ...page.map(({ atMs }) => atMs));
        const isFarEnough = page.some(({ createdAtMs }) => createdAtMs <= newestMs - voteMs);
        // A permit has no guard here, so a page of permits says nothing about the ledger.
        if (isFarEnough && history.guards.length > 0 && found.length === 0) {
          break;
        }
      }
      return { missing, unknown };
    },
    async readAll() {
      // Pages of custodian B overlap.
      const all = new Map<string, PastApproval>();
      for await (const page of source.pages()) {
        for (const approval of page) {
          all.set(approval.id, approval);
        }
      }
      return { ...describe([...all.values()]), approvals: all.size };
    },
  };
}

function describeOne(policy: Policy, { wallet, reading, atMs }: PastApproval): Described {
  if (reading.kind === 'foreign') {
    return { kind: 'unknown', why: reading.message };
  }
  const { preimage } = reading;
  const listed = findSigner(policy, wallet);
  if (preimage.kind === 'hash') {
    // Its digest is known, whosever wallet it was.
    const { digest } = preimage;
    return { kind: 'signed', signed: { kind: 'spend-digest', digest, holder: listed, atMs } };
  }
  // The document names its signer, also after the wallet left the policy: what was approved outlives its key.
  const signer = findNamedSigner(preimage) ?? listed;
  if (signer === undefined) {
    return { kind: 'unknown', why: `the policy does not list the wallet ${wallet}` };
  }
  const read = toSignRequest(preimage, signer, undefined, undefined);
  return read.kind === 'request'
    ? { kind: 'signed', signed: { kind: 'request', request: read.request, atMs } }
    : { kind: 'unknown', why: read.message };
}

function findNamedSigner(preimage: Preimage): EvmAddress | undefined {
  switch (preimage.kind) {
    case 'fund-authorization':
      return preimage.authorization.funder;
    case 'void':
      return preimage.funder;
    case 'permit':
      return preimage.permit.owner;
    case 'disclosure':
      return preimage.statement.discloser;
    case 'text':
      return tryReadAddress(preimage.text);
    default:
      return undefined;
  }
}

function tryReadAddress(text: string): EvmAddress | undefined {
  try {
    return parseSignInMessage(text).address;
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}
