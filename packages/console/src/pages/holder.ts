/**
 * What the agent's own holder has, and the history of a month.
 *
 * @module
 */
import { formatTokenAmount } from '@pool/core';
import { formatMinute, type HolderClient } from '@pool/pay-run';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import { type Html, placeOf, renderPage, renderTable } from './layout.ts';

export type HolderReport = {
  readonly balance: Awaited<ReturnType<HolderClient['balance']>>;
  readonly history: Awaited<ReturnType<HolderClient['history']>>;
  /** Of contacts, by W. */
  readonly labels: ReadonlyMap<string, string>;
};

type Entry = HolderReport['history']['entries'][number];
type Progress = Awaited<ReturnType<HolderClient['progress']>>;

/** While the agent reads the pool, which takes minutes the first time. */
export function renderReading(session: Session, progress: Progress | undefined): Html {
  const { read = 0, total = 0 } = progress?.blocks ?? {};
  return renderPage({
    title: 'Balance',
    session,
    body: html`<div data-live role="status"><p>The agent is reading the pool: ${read} of ${total} blocks.</p></div>
<noscript><p><a href="${placeOf(session)}/holder">Load this page again</a></p></noscript>`,
  });
}

export function renderHolder(
  session: Session,
  { balance, history, labels, month }: HolderReport & { readonly month: string },
): Html {
  const { symbol, decimals, entries, more } = history;
  const show = (amount: string): string => formatTokenAmount(BigInt(amount), { symbol, decimals });
  const rows = entries.toReversed().map(
    (entry) => html`<tr>
<th scope="row">${formatMinute(Date.parse(entry.time))}</th>
<td>${nameKind(entry)}</td>
<td class="number">${describeAmount(entry, show)}</td>
<td class="number">${show(entry.balance)}</td>
<td class="code">${describeOther(entry, show, labels)}</td>
<td class="code">${entry.txHash}</td>
</tr>`,
  );
  const heads = ['Time', 'What', 'Amount', 'Balance', 'Payees or memo', 'Transaction'];
  return renderPage({
    title: 'Balance',
    session,
    body: html`<dl>
<dt>Can be spent</dt><dd>${show(balance.total)}</dd>
${balance.locked === undefined ? '' : html`<dt>Locked by spends under way</dt><dd>${show(balance.locked)}, part of that sum</dd>`}
<dt>Notes</dt><dd>${balance.notes}, the largest with ${show(balance.largestNote)}</dd>
<dt>Chain</dt><dd>${balance.chain}</dd>
<dt>Holder</dt><dd class="code">${history.walletPub}</dd>
</dl>
<h2>History of ${month}</h2>
<form class="filters" method="get" action="${placeOf(session)}/holder">
<div><label for="month">Month, for example 2026-11</label><input id="month" name="month" value="${month}"></div>
<button class="plain">Show</button>
</form>
${rows.length === 0 ? html`<p>Nothing happened in this month.</p>` : renderTable('History, the newest first', heads, rows)}
${more ? html`<p class="faint">There is more: "disburse-agent history" has everything.</p>` : ''}`,
  });
}

function nameKind(entry: Entry): string {
  switch (entry.kind) {
    case 'received':
      return entry.isChange ? 'change' : 'received';
    case 'transfer':
      return 'paid to holders';
    case 'send':
      return 'withdrawn';
    case 'merge':
      return 'notes merged';
  }
}

function describeAmount(entry: Entry, show: (amount: string) => string): string {
  switch (entry.kind) {
    case 'received':
      return show(entry.amount);
    case 'transfer':
    case 'send':
      return entry.amount === undefined ? 'unknown' : `-${show(entry.amount)}`;
    case 'merge':
      return '';
  }
}

/** A memo is the text of a stranger. */
function describeOther(
  entry: Entry,
  show: (amount: string) => string,
  labels: HolderReport['labels'],
): string {
  switch (entry.kind) {
    case 'received':
      return entry.memo ?? '';
    case 'transfer':
      return (entry.payees ?? [])
        .map(({ walletPub, amount }) => {
          const label = labels.get(walletPub);
          return `${show(amount)} to ${label === undefined ? walletPub : `@${label} (${walletPub})`}`;
        })
        .join('; ');
    case 'send':
      return entry.address;
    case 'merge':
      return '';
  }
}
