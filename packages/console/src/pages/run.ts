/**
 * One pay run: its stages while it runs, what became of each payee, what can be done about it.
 *
 * @module
 */
import { type DisbursementJob, formatTokenAmount } from '@pool/core';
import type { PreparedBatchView } from '@pool/operations';
import {
  formatAmount,
  formatMinute,
  formatSeconds,
  type JobTrace,
  nameState,
  type Payer,
  type PayRunView,
} from '@pool/pay-run';
import type { ReleaseEntry } from '@pool/policy';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import type { Draft } from '../runs/drafts.ts';
import { describeStanding, summarizeRun } from '../runs/standing.ts';
import { type Html, placeOf, renderFormToken, renderPage, renderTable } from './layout.ts';
import { describeRelease, pathOfBatch, renderEntries } from './releases.ts';
import { pathOfRun } from './run-list.ts';

type Part = PayRunView['parts'][number];

export type RunPage = {
  readonly view: PayRunView;
  /** Of the jobs that have not ended, by key. */
  readonly traces: ReadonlyMap<string, JobTrace>;
  readonly note: string;
  /** Why not all parts were sent. */
  readonly stop: string | undefined;
  /** Its roster, if the console has it. */
  readonly draft: Draft | undefined;
  readonly releases: RunReleases;
};

/** What people have to do with a pay run. */
export type RunReleases = {
  /** Its prepared batches. */
  readonly prepared: readonly PreparedBatchView[];
  /** Of its parts, oldest first. */
  readonly entries: readonly ReleaseEntry[];
};

export function renderRun(session: Session, page: RunPage, payer: Pick<Payer, 'readChains'>): Html {
  const { view, traces, note } = page;
  const { chain, token, parts } = view;
  const summary = summarizeRun(view);
  const path = pathOfRun(session, view);
  const facts = html`<dl>
<dt>State</dt><dd>${describeStanding(summary)}</dd>
<dt>Paid</dt><dd>${summary.paidRecipients} people, ${formatAmount(summary.paidAmount, view, payer)}</dd>
${summary.skipped === 0 ? '' : html`<dt>Skipped</dt><dd>${summary.skipped} people, who were not paid</dd>`}
<dt>Chain and token</dt><dd>${chain}, ${token}</dd>
${summary.changedAtMs === 0 ? '' : html`<dt>Last sent or changed</dt><dd>${formatMinute(summary.changedAtMs)}</dd>`}
</dl>`;
  const isRunning = summary.standing === 'running';
  const state = html`${facts}
${parts.map((part) => renderPart(part, traces.get(part.key)))}
${isRunning ? html`<noscript><p><a href="${path}">Load this page again</a></p></noscript>` : ''}`;
  return renderPage({
    title: view.payRun,
    session,
    body: html`${note === '' ? '' : html`<div class="warning" role="status"><p>${note}</p></div>`}
${isRunning ? html`<div data-live role="status">${state}</div><div data-live>${renderWaiting(session, page.releases)}</div>` : state}
${renderActions(session, page)}
${renderPayees(view, payer)}
${page.releases.entries.length === 0 ? '' : html`<h2>Prepared and released</h2>${renderEntries(page.releases.entries.toReversed(), payer)}`}
<h2>Downloads</h2>
<p><a href="${path}/payees.csv" download>A line for each payee (CSV)</a></p>`,
  });
}

/** Apart from the stages, so that its links keep the focus while the seconds change. */
function renderWaiting(session: Session, { prepared }: RunReleases): Html | '' {
  return prepared.length === 0
    ? ''
    : html`<h2>Release by a second person</h2>
<ul>${prepared.map((view) => html`<li><a href="${pathOfBatch(session, view)}">${formatTokenAmount(BigInt(view.batch.total), view.batch)} to ${view.batch.count} people</a>: ${describeRelease(view)}</li>`)}</ul>`;
}

function renderActions(session: Session, { view, stop, draft }: RunPage): Html {
  const { standing, skipped } = summarizeRun(view);
  const path = pathOfRun(session, view);
  const isUnsent = view.parts.some(({ job }) => job === undefined);
  const place = placeOf(session);
  return html`${stop === undefined ? '' : html`<div class="problem" role="alert"><p>${stop}</p></div>`}
<div class="actions">
${isUnsent && draft !== undefined ? html`<a class="button" href="${place}/drafts/${draft.id}">Continue with the parts that were not sent</a>` : ''}
${isUnsent && draft === undefined ? html`<p>Parts of it may not have been sent. To continue, <a href="${place}/new">give the same file again under the same label</a>: what was sent is not paid again.</p>` : ''}
${skipped === 0 || draft === undefined ? '' : html`<a class="button" href="${path}/skipped">Pay only the skipped, under a new label</a>`}
${standing === 'running' ? html`<form method="post" action="${path}/cancel">${renderFormToken(session)}<button class="plain">Cancel this payment</button></form>` : ''}
</div>`;
}

function renderPart({ part, of, key, job, isUnseen }: Part, trace: JobTrace | undefined): Html {
  const [batch] = job?.result?.batches ?? [];
  const reason = job?.error ?? batch?.error;
  return html`<section>
<h2>${of === 1 ? 'Payment' : `Part ${part} of ${of}`}: ${nameState(job, isUnseen)}</h2>
${reason === undefined ? '' : html`<div class="problem"><p>${reason.message}</p><p class="faint">${reason.code}</p></div>`}
${job === undefined || trace === undefined ? '' : renderProgress(job, trace)}
<dl>
${batch === undefined ? '' : html`<dt>Transaction</dt><dd class="code">${batch.txHash}</dd>`}
<dt>Key</dt><dd class="code">${key}</dd>
</dl>
</section>`;
}

/** The stages that have ended, and the one that runs with the time that is left. */
function renderProgress(
  job: DisbursementJob,
  { timings, progress, refusal, outage }: JobTrace,
): Html {
  const current = job.stage ?? job.state;
  const ended = timings.filter(({ stage }) => stage !== current);
  const { seconds = 0, fraction } = progress ?? {};
  const left =
    fraction === undefined || fraction < 0.05
      ? ''
      : `, about ${formatSeconds((seconds / fraction) * (1 - fraction))} left`;
  const waiting = refusal ?? outage;
  return html`<ol>
${ended.map((one) => html`<li>${nameStage(one.stage)}: ${formatSeconds(one.seconds)}</li>`)}
<li aria-current="step">${nameStage(current)}: ${formatSeconds(seconds)}${left}
${fraction === undefined ? '' : html`<br><progress max="1" value="${fraction}" aria-label="${nameStage(current)}"></progress>`}</li>
</ol>
${waiting === undefined ? '' : html`<div class="warning"><p>It waits: ${waiting.message}</p><p class="faint">${waiting.code}</p></div>`}`;
}

function nameStage(stage: string): string {
  return stage.replaceAll('-', ' ');
}

function renderPayees(view: PayRunView, payer: Pick<Payer, 'readChains'>): Html | '' {
  const rows = view.parts.flatMap(({ job, isUnseen }) => [
    ...(job?.result?.notes ?? []).map(
      ({ recipientAddress, amount }) => html`<tr>
<td class="code">${recipientAddress}</td>
<td class="number">${formatAmount(BigInt(amount), view, payer)}</td>
<td>${nameState(job, isUnseen)}</td>
</tr>`,
    ),
    ...(job?.result?.skipped ?? []).map(
      ({ recipientAddress, message }) => html`<tr>
<td class="code">${recipientAddress}</td>
<td></td>
<td>skipped: ${message.replace(/^recipients\[[0-9]+\]: /, '')}</td>
</tr>`,
    ),
  ]);
  return rows.length === 0
    ? ''
    : html`<h2>Payees</h2>${renderTable('What became of each payee', ['Wallet', 'Amount', 'State'], rows)}`;
}
