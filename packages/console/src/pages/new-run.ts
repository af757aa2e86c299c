/**
 * The form of a new pay run.
 *
 * @module
 */
import { type NumberFormat, numberFormatExamples, numberFormats } from '@pool/core';
import type { Payer } from '@pool/pay-run';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import { type Html, placeOf, renderFormToken, renderOption, renderPage } from './layout.ts';

/** What the form shows at first. */
export type NewRun = {
  readonly text?: string;
  readonly payRun?: string;
  /** `<chain> <token>` */
  readonly target?: string;
  readonly format?: NumberFormat;
};

export function renderNewRun(
  session: Session,
  { text = '', payRun = '', target = '', format }: NewRun,
  payer: Pick<Payer, 'chain' | 'readChains'>,
): Html {
  const targets = Object.entries(payer.readChains()).flatMap(([chain, { tokens }]) =>
    Object.keys(tokens).map((token) => `${chain} ${token}`),
  );
  const chosen = target === '' ? `${payer.chain} USDC` : target;
  return renderPage({
    title: 'New pay run',
    session,
    body: html`<form method="post" action="${placeOf(session)}/drafts" enctype="multipart/form-data">
${renderFormToken(session)}
<label for="payRun">Label</label>
<p class="faint" id="payRun-help">It names this payment, for example 2026-11. The same roster under the same label is paid once.</p>
<input id="payRun" name="payRun" value="${payRun}" required maxlength="64" aria-describedby="payRun-help">
<label for="target">Chain and token</label>
<select id="target" name="target">${targets.map((one) => renderOption(one, one.replace(' ', ', '), chosen))}</select>
<label for="file">File</label>
<p class="faint" id="file-help">CSV in UTF-8, with a header that names the columns address and amount, and memo if there is one, in any order and among others.</p>
<input id="file" name="file" type="file" accept=".csv,.txt,.tsv,text/csv" aria-describedby="file-help">
<label for="text">Or paste the rows here</label>
<textarea id="text" name="text" spellcheck="false">${text}</textarea>
<label for="format">How amounts are written</label>
<select id="format" name="format" required>
${renderOption('', 'choose', format ?? '')}
${numberFormats.map((one) => renderOption(one, `${numberFormatExamples[one]} (${one})`, format ?? ''))}
</select>
<fieldset><legend>Control totals</legend>
<p class="faint">Type them from your payroll, not from the file.</p>
<label for="count">Number of people</label><input id="count" name="count" inputmode="numeric" required>
<label for="sum">Sum of all amounts</label><input id="sum" name="sum" inputmode="decimal" required>
</fieldset>
<label class="choice" for="skip"><input id="skip" name="skip" type="checkbox" value="yes"> Skip people who are not enrolled, and pay the others</label>
<div class="actions"><button>Check the roster</button></div>
</form>`,
  });
}
