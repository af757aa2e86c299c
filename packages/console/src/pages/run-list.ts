/**
 * The list of pay runs.
 *
 * @module
 */
import { formatAmount, formatMinute, type Payer, type PayRunView } from '@pool/pay-run';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import type { Draft } from '../runs/drafts.ts';
import {
  describeStanding,
  type Standing,
  standingNames,
  standings,
  summarizeRun,
} from '../runs/standing.ts';
import { type Html, placeOf, renderOption, renderPage, renderTable } from './layout.ts';

export type RunFilter = {
  /** Part of a label. Empty: every label. */
  readonly text: string;
  readonly standing: Standing | undefined;
};

/** The address of a pay run's page. */
export function pathOfRun(
  session: Session,
  { chain, token, payRun }: Pick<PayRunView, 'chain' | 'token' | 'payRun'>,
): string {
  return [placeOf(session), 'runs', ...[chain, token, payRun].map(encodeURIComponent)].join('/');
}

/** @param views - before the filter by standing. @param more - pay runs beyond those of the list */
export function renderRunList(
  session: Session,
  {
    views,
    filter,
    more,
    note,
    drafts,
  }: {
    /** Rosters that the console has. */
    readonly drafts: readonly Draft[];
    readonly views: readonly PayRunView[];
    readonly filter: RunFilter;
    readonly more: number;
    /** Why the list knows only what was sent. Empty: it knows all. */
    readonly note: string;
  },
  payer: Pick<Payer, 'readChains'>,
): Html {
  const rows = views
    .map((view) => ({ view, summary: summarizeRun(view) }))
    .filter(({ summary }) => [undefined, summary.standing].includes(filter.standing))
    .map(({ view, summary }) => {
      const skipped = summary.skipped === 0 ? '' : `, ${summary.skipped} skipped`;
      return html`<tr>
<th scope="row"><a href="${pathOfRun(session, view)}">${view.payRun}</a></th>
<td>${view.chain}</td>
<td>${describeStanding(summary)}${skipped}</td>
<td class="number">${summary.paidRecipients}</td>
<td class="number">${formatAmount(summary.paidAmount, view, payer)}</td>
<td>${summary.changedAtMs === 0 ? '' : formatMinute(summary.changedAtMs)}</td>
</tr>`;
    });
  const heads = ['Label', 'Chain', 'State', 'People paid', 'Amount paid', 'Last sent or changed'];
  return renderPage({
    title: 'Pay runs',
    session,
    body: html`${note === '' ? '' : html`<div class="warning" role="status"><p>${note}</p></div>`}
<p class="actions"><a class="button" href="${placeOf(session)}/new">New pay run</a></p>
${drafts.length === 0 ? '' : html`<h2>Given to the console</h2><ul>${drafts.map(({ id, payRun, chain }) => html`<li><a href="${placeOf(session)}/drafts/${id}">${payRun} on ${chain}</a></li>`)}</ul>`}
<form class="filters" method="get" action="${placeOf(session)}/">
<div><label for="text">Label contains</label><input id="text" name="text" value="${filter.text}"></div>
<div><label for="standing">State</label><select id="standing" name="standing">
${renderOption('', 'all', filter.standing ?? '')}
${standings.map((one) => renderOption(one, standingNames[one], filter.standing ?? ''))}
</select></div>
<button class="plain">Show</button>
</form>
${rows.length === 0 ? html`<p>No pay run is in this list.</p>` : renderTable('Pay runs, the newest first', heads, rows)}
${more === 0 ? '' : html`<p class="faint">${more} older pay runs are not shown; search for their label.</p>`}`,
  });
}
