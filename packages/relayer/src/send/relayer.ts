/**
 * The relayer: sends stored settlements and spends and follows them to a final outcome (docs/decisions/0007, protocol §8).
 *
 * The order makes a crash harmless: simulate → sign → store the signed bytes → broadcast. After a restart the stored bytes
 * are broadcast again, which the chain accepts once. A row with open bytes is signed again only for the nonce of
 * those bytes. The indexer alone decides success: a settlement is settled when its batch is in a final block, whichever
 * transaction carried it, and a spend when its outputs are.
 *
 * Rows are tried in parallel, since a funder's contract may keep the node busy. Employers take turns
 * (docs/decisions/0009), and so do holders. Nonces are assigned one at a time.
 *
 * @module
 */
import { deriveTraceId, errorCodeOf } from '@pool/core';
import { type Leaders, soleLeader } from '@pool/database';
import { describeFailure } from '@pool/http-server';
import { traceJob } from '@pool/tracing';
import { type SubmissionKind, type SubmissionRow, selectSubmission } from '../store/submissions.ts';
import { advance, type Pass } from './advance.ts';
import { closeGap, findGaps } from './close-gaps.ts';
import { createFairQueue, type FairQueue, type RowOutcome, runBounded } from './fair-queue.ts';
import { followNonce } from './nonces.ts';
import { readOutcomes } from './read-outcomes.ts';
import { type RelayerDeps, selectOpenNonces } from './sent-nonces.ts';

export type { RelayerDeps } from './sent-nonces.ts';

/** Calls of the chain's node at once. */
const parallel = 8;
/** Calls of one employer or holder at once: a contract that blocks its calls leaves most of them free. */
const perOwner = 2;

/** Each kind with its own queue, since an employer's failing contract must not delay the spends of a holder. */
type Line = { readonly kind: SubmissionKind; readonly queue: FairQueue };

/** The processes of a platform. */
export type RelayerPeers = {
  /** Absent: an embedded database, whose process leads. */
  readonly leaders?: Leaders;
  /**
   * The accounts of the chain's relayers, this one's included, in any order. They change with the keys. The submissions are divided
   * among them by their ids. The first by address follows what accounts without a key have sent. Absent: this one is alone.
   */
  readonly addresses?: () => readonly string[];
};

/** What leads one account of the relayer: whoever decides about its nonces. */
function nameRelayerRole(chain: string, address: string): string {
  return `relayer ${chain} ${address}`;
}

/**
 * Its passes work on every unfinished row of the chain, while this process leads the account of the relayer. They must not overlap, since
 * they assign nonces.
 */
export function createRelayer(deps: RelayerDeps & RelayerPeers) {
  const lines = (['settlement', 'spend'] as const).map((kind) => ({
    kind,
    queue: createFairQueue(deps.nowMs),
  }));
  const { leaders = soleLeader, addresses = () => [deps.chain.relayerAddress] } = deps;
  /** Accounts that it leads, or stands for. */
  const standing = new Set<string>();
  return {
    async pass(): Promise<void> {
      /** Another process leads them, or nobody yet. */
      const waiting = new Set<string>();
      const leadAs = (address: string): RelayerDeps | undefined => {
        const term = leaders.term(nameRelayerRole(deps.chain.key, address));
        standing.add(address);
        if (term === undefined) {
          waiting.add(address);
          return undefined;
        }
        return { ...deps, assertLeader: term.assertLeader };
      };
      try {
        await runPass(deps, addresses(), leadAs, lines);
      } finally {
        // Of an account that has no key here: a process that has it can also replace and cancel.
        const accounts = addresses();
        for (const address of standing) {
          if (!accounts.includes(address) && !waiting.has(address)) {
            standing.delete(address);
            leaders.leave(nameRelayerRole(deps.chain.key, address));
          }
        }
      }
    },
  };
}

/** One pass of a relayer without state of earlier passes. */
export async function runRelayerPass(deps: RelayerDeps): Promise<void> {
  await createRelayer(deps).pass();
}

/** @param leadAs - the same term for the whole pass: if it ends meanwhile, nothing of the pass is stored, even if another term begins */
async function runPass(
  { chain }: RelayerDeps,
  addresses: readonly string[],
  leadAs: (address: string) => RelayerDeps | undefined,
  lines: readonly Line[],
): Promise<void> {
  // Sorted: each process divides alike, whatever the order of its keys.
  const accounts = addresses.toSorted();
  const mine = accounts.indexOf(chain.relayerAddress);
  const deps = leadAs(chain.relayerAddress);
  if (deps === undefined) {
    return;
  }
  const final = await deps.chain.fetchFinalBlock();
  const open = await selectOpenNonces(deps);
  // An earlier account is followed by one process too, which may be one that still has its key.
  const leadOf = (sender: string): RelayerDeps | undefined => {
    const isEarlier = mine === 0 && !accounts.includes(sender);
    return sender === chain.relayerAddress ? deps : isEarlier ? leadAs(sender) : undefined;
  };
  const followed = open.flatMap((sent) => {
    const follower = leadOf(sent[0].sender);
    return follower === undefined ? [] : [{ sent, follower }];
  });
  const readsOf = await readOutcomes(
    deps,
    followed.map(({ sent }) => sent),
    final,
  );
  // Nonces have no limit per owner: every transaction behind a nonce would wait too.
  await runBounded(
    followed,
    { parallel, perOwner: parallel },
    () => '',
    async ({ sent, follower }) => {
      const row = await selectSubmission(deps.db, sent[0].submission_id);
      await isolate(follower, row, (own) => followNonce(own, sent, row, final, readsOf(sent)));
    },
  );
  for (const gap of await findGaps(deps, open)) {
    const row = await selectSubmission(deps.db, gap.behind.submission_id);
    await isolate(deps, row, (own) => closeGap(own, gap));
  }
  if (deps.isWaiting?.() === true) {
    return;
  }
  const pass: Pass = { ...deps, final, inTurn: createTurns() };
  const chosen = await Promise.all(
    lines.map(async ({ kind, queue }) => {
      const all = await selectUnfinished(deps, kind);
      const rows = queue.choose(all.filter(({ id }) => id % accounts.length === mine));
      return rows.map((row) => ({ queue, row }));
    }),
  );
  await runBounded(
    alternate(chosen),
    { parallel, perOwner },
    ({ row }) => `${row.kind} ${row.owner}`,
    async ({ queue, row }) => {
      if (!queue.isPaused(row.owner)) {
        queue.note(row, await attempt(pass, row));
      }
    },
  );
}

/** What names a row in the log, beside its job. */
type NamedRow = Pick<SubmissionRow, 'id' | 'kind' | 'key'>;

/** Those of one kind that have not ended, the oldest first. */
async function selectUnfinished({ db, chain }: RelayerDeps, kind: SubmissionKind) {
  return await db
    .selectFrom('submissions')
    .select(['id', 'kind', 'key', 'owner'])
    .where('chain', '=', chain.key)
    .where('kind', '=', kind)
    .where('state', 'in', ['accepted', 'submitted'])
    .where('superseded_at', 'is', null)
    .orderBy('id')
    .execute();
}

/** One of each list in turn: neither kind waits behind all of the other. */
function alternate<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) =>
    lists.flatMap((list) => list.slice(place, place + 1)),
  ).flat();
}

async function attempt(pass: Pass, row: NamedRow): Promise<RowOutcome> {
  let outcome: RowOutcome = 'failed';
  const error = await isolate(pass, row, async ({ log }) => {
    outcome = await advance({ ...pass, log }, row.id);
  });
  // Fees and missing coin are not caused by the owner.
  return isTooDear(error) ? 'refused' : outcome;
}

function createTurns(): Pass['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/**
 * Keeps a failure of one row from the others. Every log line of `work` names the row and its job.
 * @returns what `work` threw, after it was logged
 */
async function isolate(
  deps: RelayerDeps,
  { kind, id, key }: NamedRow,
  work: (own: RelayerDeps) => Promise<void>,
): Promise<unknown> {
  const log = deps.log.child({ [kind]: id, trace: deriveTraceId(key) });
  let failure: unknown;
  try {
    await traceJob(key, `${kind} step`, () => work({ ...deps, log }));
  } catch (error) {
    failure = error;
    // Both last for many passes; the relayer health reports them once.
    const level = isTooDear(error) ? 'debug' : 'warn';
    log[level]({ ...describeFailure(error) }, `${kind} step failed`);
  }
  deps.onStep?.();
  return failure;
}

/** The chain's fees are above the cap, or the coin of the day is used up. */
function isTooDear(error: unknown): boolean {
  return ['fee_cap_reached', 'gas_budget_exceeded'].includes(errorCodeOf(error) ?? '');
}
