/**
 * What the custodian remembers of the gate's own approvals. A ledger that lacks one of them is older than it: it was restored from a
 * backup, and votes nothing before it is re-baselined from this history.
 *
 * @module
 */
import { type EvmAddress, isPoolError, parseSignInMessage } from '@pool/core';
import { createSignedHistory, type Ledger, type Policy, type SignedRequest } from '@pool/policy';
import { type GateLog, nameError } from '../config/gate-home.ts';
import { findSigner } from '../judge/judge.ts';
import { foreign, type Preimage, type Reading } from '../preimage/preimage.ts';
import { toSignRequest } from '../preimage/to-request.ts';
import { checked, type DoctorCheck } from './doctor.ts';

// The comparison of the custodian's history with the ledger, as a check of the doctor. A ledger that was restored is only noticed by it.

export function createHistoryExamination(deps: {
  readonly history: HistoryCheck;
  /** A request that is older cannot be voted on any more. */
  readonly voteLimitSeconds: number;
  readonly nowMs: () => number;
  readonly log: Pick<GateLog, 'warn' | 'error'>;
}) {
  const { history, log } = deps;
  let isCompared = false;
  let forgotten = 0;
  return {
    /** Fails until one comparison succeeded. */
    async examine(): Promise<readonly DoctorCheck[]> {
      const startedAfter = forgotten;
      const nowMs = deps.nowMs();
      try {
        const voteMs = isCompared ? 0 : 1000 * deps.voteLimitSeconds;
        const { missing, unknown } = await history.compare({ nowMs, voteMs });
        isCompared = startedAfter === forgotten;
        if (missing.length > 0) {
          log.error(
            { missing: missing.length },
            'the custodian shows approvals that the ledger does not have; nothing is voted before "pool-approve ledger rebaseline --by NAME"',
          );
        }
        if (unknown.length > 0) {
          log.warn(
            {
              unknown: unknown.length,
              first: unknown[0]?.id ?? null,
              why: unknown[0]?.why ?? null,
            },
            "the custodian shows approvals by the gate's user that the gate cannot describe",
          );
        }
      } catch (error) {
        const code = nameError(error);
        log.warn({ error: code }, "the custodian's history could not be read");
      }
      return [
        checked(
          'history',
          isCompared,
          "the custodian's history was compared with the ledger",
          "the custodian's history was not compared with the ledger yet; read the log, and let the gate's user read it",
        ),
      ];
    },
    /** The next comparison goes back as far as the first one: another policy may know other wallets, or the custodian showed more. */
    forget(): void {
      isCompared = false;
      forgotten += 1;
    },
  };
}

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

export type HistoryCheck = ReturnType<typeof createHistoryCheck>;

export function createHistoryCheck(deps: {
  readonly source: HistorySource;
  readonly ledger: Ledger;
  readonly policy: () => Policy;
}) {
  const { source, ledger } = deps;

  function describe(approvals: readonly PastApproval[]) {
    const all = approvals.map(({ id, ...approval }) => {
      const described = describeOne(deps.policy(), approval);
      return typeof described === 'string' ? { id, why: described } : described;
    });
    return {
      history: createSignedHistory(all.filter((one) => 'kind' in one)),
      unknown: all.filter((one): one is UnknownApproval => 'why' in one),
    };
  }

  return {
    /**
     * Reads until a page shows guarded approvals and the ledger has all of them, and at least back to requests that were created `voteMs`
     * before the newest approval was given: an older request may have been approved later. If the ledger lacks an approval, it counts as
     * restored from then on.
     * @throws PoolError of the source; nothing is known then
     */
    async compare({ nowMs, voteMs }: { readonly nowMs: number; readonly voteMs: number }) {
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
    /**
     * Everything that the custodian remembers.
     * @throws PoolError of the source, also where its list is cut
     */
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

/** @returns what was signed, or why nothing can be said about it */
function describeOne(
  policy: Policy,
  { wallet, reading, atMs }: Omit<PastApproval, 'id'>,
): SignedRequest | string {
  if (reading.kind === 'foreign') {
    return reading.message;
  }
  const listed = findSigner(policy, wallet);
  if (reading.kind === 'hash') {
    // Its digest is known, whosever wallet it was.
    return { kind: 'spend-digest', digest: reading.digest, holder: listed, atMs };
  }
  // The document names its signer, also after the wallet left the policy: what was approved outlives its key.
  const signer = findNamedSigner(reading) ?? listed;
  if (signer === undefined) {
    return `the policy does not list the wallet ${wallet}`;
  }
  const request = toSignRequest(reading, signer, undefined, undefined);
  return request.kind === 'foreign' ? request.message : { kind: 'request', request, atMs };
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
