/**
 * The pages about pay runs that were sent.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { listOwnersRequests } from '@pool/operations';
import {
  computePayRunDigest,
  inspectPayRuns,
  type JobTrace,
  locateSkipped,
  type NamedPayRun,
  type PayRunView,
  pickRows,
  readFurtherColumns,
} from '@pool/pay-run';
import type { ConsoleApp, ConsoleDeps } from './access/ports.ts';
import { renderNewRun } from './pages/new-run.ts';
import { type RunReleases, renderRun } from './pages/run.ts';
import { pathOfRun, type RunFilter, renderRunList } from './pages/run-list.ts';
import type { Draft, Drafts } from './runs/drafts.ts';
import type { Payments } from './runs/payments.ts';
import { listWaiting } from './runs/releases.ts';
import { createPlan, readDraft } from './runs/review.ts';
import { standings } from './runs/standing.ts';

/** Pay runs of one list. The agent is asked about each. */
const maxListed = 100;

export function addRunRoutes(
  app: ConsoleApp,
  { payer, releases, owners }: ConsoleDeps,
  { drafts, payments }: { readonly drafts: Drafts; readonly payments: Payments },
): void {
  app.get('/:place/', async (c) => {
    const filter: RunFilter = {
      text: c.req.query('text')?.trim() ?? '',
      standing: standings.find((one) => one === c.req.query('standing')),
    };
    let matching = 0;
    const isWanted = ({ payRun }: NamedPayRun): boolean => {
      if (!payRun.includes(filter.text.toLowerCase())) {
        return false;
      }
      matching += 1;
      return matching <= maxListed;
    };
    const { terminal, note } = createNote();
    const views = await inspectPayRuns(payer, {}, { terminal }, isWanted);
    const more = Math.max(0, matching - maxListed);
    return c.html(
      renderRunList(
        c.get('session'),
        { views, filter, more, note: note(), drafts: drafts.list() },
        payer,
      ),
    );
  });

  app.get('/:place/runs/:chain/:token/:label', async (c) => {
    const { view, note } = await findRun(c.req.param());
    const draft = drafts.findOf(view);
    const page = {
      ...{ view, note, traces: await readTraces(view), releases: await readReleases(view) },
      ...{ stop: payments.findStop(view), draft, nameOf: createNames(view, draft) },
    };
    return c.html(renderRun(c.get('session'), page, payer));
  });

  // The rows of those who were skipped, for a pay run of their own.
  app.get('/:place/runs/:chain/:token/:label/skipped', async (c) => {
    const { view } = await findRun(c.req.param());
    const draft = drafts.findOf(view);
    if (draft === undefined) {
      throw new PoolError(
        'not_found',
        'the console has the roster no more: make a file of the people who were skipped',
      );
    }
    const skipped = view.parts.flatMap(({ job }) => job?.result?.skipped ?? []);
    const lines = locateSkipped(readDraft(draft).entries, skipped).map(({ line }) => line ?? 0);
    const { chain, token, unit, payRun } = draft;
    const { format } = unit;
    const shown = {
      text: pickRows(draft.text, new Set(lines)),
      payRun: `${payRun} skipped`.slice(0, 64),
      target: `${chain} ${token}`,
      ...(format === 'base-units' || format === 'decimal' ? {} : { format }),
    };
    return c.html(renderNewRun(c.get('session'), shown, payer));
  });

  app.post('/:place/runs/:chain/:token/:label/cancel', async (c) => {
    const { view } = await findRun(c.req.param());
    payments.cancel(view);
    return c.redirect(pathOfRun(c.get('session'), view), 303);
  });

  async function findRun({
    chain,
    token,
    label,
  }: Readonly<Record<'chain' | 'token' | 'label', string>>) {
    const { terminal, note } = createNote();
    const isWanted = ({ payRun }: NamedPayRun): boolean => payRun === label;
    const [view] = await inspectPayRuns(payer, { chain, token }, { terminal }, isWanted);
    if (view === undefined) {
      throw new PoolError('not_found', `no pay run ${label} was sent from this agent`);
    }
    return { view, note: note() };
  }

  /** A damaged log does not close the page: the payment can still be cancelled. */
  async function readAsked(
    keys: readonly string[],
  ): Promise<Pick<RunReleases, 'asked' | 'problem'>> {
    try {
      return { asked: owners === undefined ? [] : await listOwnersRequests(owners, keys) };
    } catch (error) {
      if (isPoolError(error) && error.code === 'store_damaged') {
        return { asked: [], problem: error.message };
      }
      throw error;
    }
  }

  async function readReleases({ parts }: PayRunView): Promise<RunReleases> {
    const keys = parts.map(({ key }) => key);
    const { asked, problem } = await readAsked(keys);
    if (releases === undefined) {
      return { prepared: [], entries: [], asked, problem };
    }
    const prepared = await listWaiting(releases, payer);
    const entries = await Promise.all(keys.map((key) => releases.log.listOf(key)));
    return {
      ...{ asked, problem },
      prepared: prepared.filter(({ batch }) => keys.includes(batch.key)),
      entries: entries.flat().toSorted((one, other) => one.number - other.number),
    };
  }

  /** Of the jobs that run. A page without them is still right. */
  async function readTraces({ parts }: PayRunView): Promise<ReadonlyMap<string, JobTrace>> {
    const traces = new Map<string, JobTrace>();
    for (const { key, job } of parts) {
      if (job?.state === 'accepted' || job?.state === 'submitted') {
        try {
          traces.set(key, await payer.openAgent().trace(key));
        } catch (error) {
          if (!isPoolError(error)) {
            throw error;
          }
        }
      }
    }
    return traces;
  }
}

/** Names of payees, from a roster that was sent. */
function createNames(view: PayRunView, draft: Draft | undefined): (wallet: string) => string {
  const roster = draft && readDraft(draft);
  if (
    draft === undefined ||
    roster?.kind !== 'roster' ||
    computePayRunDigest(createPlan(draft, roster)) !== view.record.digest
  ) {
    return () => '';
  }
  const further = readFurtherColumns(draft.text);
  const names = new Map(
    roster.entries.map(({ recipientAddress, line = 0 }) => {
      const columns = Object.entries(further.get(line) ?? {});
      const [, name = ''] = columns.find(([column]) => column.toLowerCase() === 'name') ?? [];
      return [recipientAddress.toLowerCase(), name];
    }),
  );
  return (wallet) => names.get(wallet.toLowerCase()) ?? '';
}

/** What a command would write beside its outcome. */
function createNote() {
  const lines: string[] = [];
  return {
    terminal: { isTty: false, write: (text: string) => void lines.push(text.trim()) },
    note: (): string => lines.join('\n'),
  };
}
