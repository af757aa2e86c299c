/**
 * A roster before it is paid: its defects by row and cell, the control totals, what differs from last time, and what would be paid.
 *
 * @module
 */
import { formatTokenAmount, numberFormatExamples } from '@pool/core';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import type { Comparison } from '../runs/comparison.ts';
import type { Draft } from '../runs/drafts.ts';
import { nameAttempts, type Review } from '../runs/review.ts';
import { type Html, placeOf, renderFormToken, renderPage, renderTable } from './layout.ts';

export function renderReview(
  session: Session,
  draft: Draft,
  review: Review,
  { control, percent }: { readonly control: readonly string[]; readonly percent: number },
): Html {
  const { roster, problems, obstacles, warnings, skipped, comparison } = review;
  const path = `${placeOf(session)}/drafts/${draft.id}`;
  const canPay =
    [problems, obstacles, control].every(({ length }) => length === 0) && review.parts > 0;
  return renderPage({
    title: `Check ${draft.payRun}`,
    session,
    body: html`${renderProblems(path, review)}
${renderTexts('problem', 'It cannot be paid now', obstacles)}
${roster.kind === 'mistakes' ? '' : renderTexts('problem', 'The control totals do not agree', control)}
${renderTexts('warning', 'Look at this first', warnings)}
${
  review.failed.length === 0
    ? ''
    : renderTexts(
        'warning',
        'It has failed, paid nobody, and is sent again',
        review.failed.map(({ part, of, reason }) =>
          of === 1 ? reason : `part ${part} of ${of}: ${reason}`,
        ),
      )
}
${review.parts > 0 || problems.length > 0 ? '' : html`<div class="warning" role="status"><p>All of it was sent before under this label. A new payment needs a new label.</p></div>`}
${roster.unread.length === 0 ? '' : html`<p class="faint">Columns that a payment does not read: ${roster.unread.join(', ')}. Downloads and payslips have them.</p>`}
${roster.kind === 'mistakes' ? '' : renderAmounts(draft, review)}
${comparison === undefined ? html`<p class="faint">No earlier pay run of this kind has paid anybody, so nothing is compared.</p>` : renderComparison(path, draft, comparison, percent)}
${skipped.length === 0 ? '' : renderSkipped(review)}
<div class="actions">
${canPay ? renderPay(session, path, review) : ''}
<form method="post" action="${path}/drop">${renderFormToken(session)}<button class="plain">Remove this roster</button></form>
</div>`,
  });
}

function renderTexts(
  kind: 'problem' | 'warning',
  title: string,
  texts: readonly string[],
): Html | '' {
  return texts.length === 0
    ? ''
    : html`<div class="${kind}" role="${kind === 'problem' ? 'alert' : 'status'}"><h2>${title}</h2><ul>${texts.map((text) => html`<li>${text}</li>`)}</ul></div>`;
}

function renderProblems(path: string, { problems }: Review): Html | '' {
  if (problems.length === 0) {
    return '';
  }
  const rows = problems.map(
    ({ line, column, message }) =>
      html`<tr><th scope="row">${line}</th><td>${column ?? 'row'}</td><td>${message}</td></tr>`,
  );
  return html`<div class="problem" role="alert"><p>Nothing can be paid: ${problems.length} defects. Correct the file, and give it again.</p></div>
${renderTable('Defects by line and column', ['Line', 'Column', 'What is wrong'], rows)}
<p><a href="${path}/defects.csv" download>The wrong rows with their defects (CSV)</a></p>`;
}

function renderAmounts({ chain, unit, control }: Draft, { roster, total, parts }: Review): Html {
  return html`<dl>
<dt>People</dt><dd>${roster.entries.length} (control total: ${control.count})</dd>
<dt>Amount</dt><dd>${formatTokenAmount(total, unit)} (control total: ${formatTokenAmount(control.sum, unit)})</dd>
<dt>Chain</dt><dd>${chain}</dd>
${parts > 1 ? html`<dt>Parts</dt><dd>${parts}, one after the other</dd>` : ''}
${unit.format === 'base-units' || unit.format === 'decimal' ? '' : html`<dt>Amounts are written</dt><dd>${numberFormatExamples[unit.format]}</dd>`}
</dl>`;
}

function renderComparison(
  path: string,
  { unit }: Draft,
  comparison: Comparison,
  percent: number,
): Html {
  const { last, added, missing, changed } = comparison;
  const show = (amount: string): string => formatTokenAmount(BigInt(amount), unit);
  const row = (what: string, address: string, before: string, after: string): Html =>
    html`<tr><td>${what}</td><td class="code">${address}</td><td class="number">${before}</td><td class="number">${after}</td></tr>`;
  const rows = [
    ...added.map((one) => row('new', one.recipientAddress, '', show(one.amount))),
    ...missing.map((one) => row('missing', one.recipientAddress, show(one.amount), '')),
    ...changed.map(({ entry, before }) =>
      row('changed', entry.recipientAddress, show(before), show(entry.amount)),
    ),
  ];
  return html`<h2>Compared with ${last}</h2>
<form class="filters" method="get" action="${path}">
<div><label for="percent">Show changes of more than (percent)</label><input id="percent" name="percent" inputmode="decimal" value="${percent}"></div>
<button class="plain">Compare</button>
</form>
<p>${added.length} new, ${missing.length} missing, ${changed.length} changed by more than ${percent} %.</p>
${rows.length === 0 ? '' : renderTable(`Differences from ${last}`, ['Difference', 'Wallet', 'Then', 'Now'], rows)}`;
}

function renderSkipped({ skipped }: Review): Html {
  const rows = skipped.map(
    ({ line, recipientAddress, message }) =>
      html`<tr><td>${line ?? ''}</td><td class="code">${recipientAddress}</td><td>${message}</td></tr>`,
  );
  return html`<h2>Skipped</h2>
<p>These ${skipped.length} people are not paid.</p>
${renderTable('People who are skipped', ['Line', 'Wallet', 'Why'], rows)}`;
}

function renderPay(
  session: Session,
  path: string,
  { people, skipped, isPaidBefore, failed }: Review,
): Html {
  return html`<form method="post" action="${path}/pay">
${renderFormToken(session)}
<input type="hidden" name="skipped" value="${skipped.length}">
<input type="hidden" name="failed" value="${nameAttempts(failed)}">
${isPaidBefore ? html`<label class="choice" for="again"><input id="again" name="again" type="checkbox" value="yes" required> Pay everybody on this roster once more</label>` : ''}
<button>Pay ${people - skipped.length} people</button>
</form>`;
}
