/**
 * One pay run: its stages while it runs, what became of each payee, what can be done about it.
 *
 * @module
 */
import { type DisbursementJob, formatTokenAmount } from '@pool/core';
import type { OwnersView, PreparedBatchView } from '@pool/operations';
import {
  formatAmount,
  formatMinute,
  formatSeconds,
  type JobTrace,
  listPaymentLines,
  nameState,
  type Payer,
  type PayRunView,
} from '@pool/pay-run';
import type { ReleaseEntry } from '@pool/policy';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import type { Draft } from '../runs/drafts.ts';
import { listFailed } from '../runs/review.ts';
import { describeStanding, summarizeRun } from '../runs/standing.ts';
import { type Html, placeOf, renderFormToken, renderPage, renderTable } from './layout.ts';
import { renderAsked } from './owners.ts';
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
  /** In the column `name` of the roster, by wallet. Empty: nobody knows it. */
  nameOf(wallet: string): string;
};

/** What people have to do with a pay run. */
export type RunReleases = {
  /** Its prepared batches. */
  readonly prepared: readonly PreparedBatchView[];
  /** What the owners of a contract wallet are asked about its parts. */
  readonly asked: readonly OwnersView[];
  /** Why the log does not show what they are asked. */
  readonly problem?: string | undefined;
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
${renderPayees(session, page, payer)}
${page.releases.entries.length === 0 ? '' : html`<h2>Prepared and released</h2>${renderEntries(page.releases.entries.toReversed(), payer)}`}
${renderDownloads(session, page)}`,
  });
}

/** Apart from the stages, so that its links keep the focus while the seconds change. */
function renderWaiting(session: Session, { prepared, asked, problem }: RunReleases): Html {
  const people =
    prepared.length === 0
      ? ''
      : html`<h2>Release by a second person</h2>
<ul>${prepared.map((view) => html`<li><a href="${pathOfBatch(session, view)}">${formatTokenAmount(BigInt(view.batch.total), view.batch)} to ${view.batch.count} people</a>: ${describeRelease(view)}</li>`)}</ul>`;
  const damage =
    problem === undefined ? '' : html`<div class="problem" role="alert"><p>${problem}</p></div>`;
  return html`${people}${damage}${renderAsked(session, asked)}`;
}

function renderActions(session: Session, { view, stop, draft }: RunPage): Html {
  const { standing, skipped } = summarizeRun(view);
  const path = pathOfRun(session, view);
  const isUnsent = view.parts.some(({ job }) => job === undefined);
  const failed = listFailed(view);
  const place = placeOf(session);
  return html`${stop === undefined ? '' : html`<div class="problem" role="alert"><p>${stop}</p></div>`}
<div class="actions">
${failed.length > 0 && draft !== undefined ? html`<a class="button" href="${place}/drafts/${draft.id}">Send again what has failed</a>` : ''}
${failed.length > 0 && draft === undefined ? html`<p>It can be sent again. <a href="${place}/new">Give the same file under the same label</a>: what was paid is not paid again.</p>` : ''}
${isUnsent && failed.length === 0 && draft !== undefined ? html`<a class="button" href="${place}/drafts/${draft.id}">Continue with the parts that were not sent</a>` : ''}
${isUnsent && failed.length === 0 && draft === undefined ? html`<p>Parts of it may not have been sent. To continue, <a href="${place}/new">give the same file again under the same label</a>: what was sent is not paid again.</p>` : ''}
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

function renderPayees(
  session: Session,
  { view, nameOf }: RunPage,
  payer: Pick<Payer, 'readChains'>,
): Html | '' {
  const { chain, token, payRun, parts } = view;
  const path = pathOfRun(session, view);
  const lines = parts.flatMap(({ part, key, job, isUnseen }) =>
    listPaymentLines({
      ...{ state: nameState(job, isUnseen), chain, unit: { symbol: token }, key, job },
      ...{ place: { payRun, part }, entries: [] },
    }),
  );
  const rows = lines.map(
    ({ reference = '', wallet = '', amount, state, reason, txHash = '', commitment }) => html`<tr>
<th scope="row">${reference}</th>
<td>${nameOf(wallet)}</td>
<td class="code">${wallet}</td>
<td class="number">${amount === undefined ? '' : formatAmount(BigInt(amount), view, payer)}</td>
<td>${state}${state === 'skipped' ? `: ${reason?.replace(/^[a-z_-]+: recipients\[[0-9]+\]: /, '')}` : ''}</td>
<td class="code">${txHash}</td>
<td>${state === 'paid' && commitment !== undefined ? html`<a href="${path}/payslips/${commitment}" download aria-label="PDF of the payslip ${reference}">PDF</a>` : ''}</td>
</tr>`,
  );
  const heads = ['Reference', 'Name', 'Wallet', 'Amount', 'State', 'Transaction', 'Payslip'];
  return rows.length === 0
    ? ''
    : html`<h2>Payees</h2>${renderTable('What became of each payee', heads, rows)}`;
}

/** The roster adds its further columns. The console has it until it is removed, or the agent ends. */
function renderDownloads(session: Session, { view, draft }: RunPage): Html {
  const hasPaid = summarizeRun(view).paidRecipients > 0;
  return html`<h2>Downloads</h2>
<form method="post" action="${pathOfRun(session, view)}/files" enctype="multipart/form-data">
${renderFormToken(session)}
<label for="as">What to download</label>
<select id="as" name="as">
<option value="csv">A line for each payee, for a spreadsheet (CSV)</option>
<option value="json">A line for each payee, for a program (JSON)</option>
${hasPaid ? html`<option value="payslips">A payslip for each payee, with a summary (ZIP of PDFs)</option>` : ''}
</select>
<label for="roster">The roster as it was sent</label>
<p class="faint" id="roster-help">${draft === undefined ? 'With it, names and further columns are in the files.' : 'The console has it: names and further columns are in the files. Choose a file only to take another copy.'}</p>
<input id="roster" name="roster" type="file" accept=".csv,.txt,.tsv,text/csv" aria-describedby="roster-help">
<div class="actions"><button class="plain">Download</button></div>
</form>`;
}
