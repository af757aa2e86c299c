/**
 * What the owners of a contract wallet are asked to sign, and the form that takes their signatures. The console has no key of an owner.
 *
 * @module
 */
import type { OwnersView } from '@pool/operations';
import { formatMinute } from '@pool/pay-run';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import { type Html, placeOf, renderFormToken, renderPage, renderTable } from './layout.ts';

const ownersHeading = 'Signatures of the owners of the contract wallet';

/** @param views - oldest first */
export function renderOwners(session: Session, views: readonly OwnersView[]): Html {
  const rows = views.map(
    (view) => html`<tr>
<th scope="row"><a href="${pathOfRequest(session, view)}">${view.request.batch.key}</a></th>
<td>${nameKind(view)}</td>
<td class="number">${view.amount}</td>
<td class="number">${view.request.count}</td>
<td>${nameState(view)}</td>
<td>${formatUntil(view)}</td>
</tr>`,
  );
  const heads = ['Payment', 'What', 'Amount', 'People', 'State', 'Until'];
  return html`<h2>${ownersHeading}</h2>
${rows.length === 0 ? html`<p>Nothing waits for the owners of the contract wallet.</p>` : renderTable('What the owners are asked to sign, the oldest first', heads, rows)}`;
}

/** For the page of a pay run. */
export function renderAsked(session: Session, views: readonly OwnersView[]): Html | '' {
  return views.length === 0
    ? ''
    : html`<h2>${ownersHeading}</h2>
<ul>${views.map((view) => html`<li><a href="${pathOfRequest(session, view)}">${nameKind(view)}: ${view.amount} to ${view.request.count} people</a>: ${nameState(view)}, until ${formatUntil(view)}</li>`)}</ul>`;
}

function pathOfRequest(session: Session, { safeMessageHash }: OwnersView): string {
  return `${placeOf(session)}/releases/owners/${safeMessageHash}`;
}

function nameKind({ request }: OwnersView): string {
  return request.kind === 'void' ? 'withdrawal of a payment' : 'payment';
}

function nameState({ state }: OwnersView): string {
  return state === 'signed' ? 'signed' : 'waits for the signatures';
}

function formatUntil({ request }: OwnersView): string {
  return formatMinute(request.deadline * 1_000);
}

/** Signatures that were not taken. */
export type Refusal = {
  readonly error: { readonly code: string; readonly message: string };
  /** What was given, so that nothing must be typed again. */
  readonly text: string;
};

export function renderOwnersRequest(session: Session, view: OwnersView, refusal?: Refusal): Html {
  const { request, amount, safeMessageHash } = view;
  const { batch, count, wallet, chainId, digest } = request;
  const path = pathOfRequest(session, view);
  const { error, text = '' } = refusal ?? {};
  return renderPage({
    title: 'What the owners sign',
    session,
    body: html`<dl>
<dt>What</dt><dd>${nameKind(view)}</dd>
<dt>Payment</dt><dd class="code">${batch.key}</dd>
<dt>Amount</dt><dd>${amount}</dd>
<dt>People</dt><dd>${count}</dd>
<dt>Chain</dt><dd>${batch.chain}, chain id ${chainId}</dd>
<dt>Contract wallet</dt><dd class="code whole">${wallet}</dd>
<dt>Until</dt><dd>${formatUntil(view)}</dd>
<dt>State</dt><dd>${nameState(view)}</dd>
<dt>Digest</dt><dd class="code whole">${digest}</dd>
<dt>The owners sign</dt><dd class="code whole">${safeMessageHash}</dd>
</dl>
<p class="faint">A click or tap on a digest selects all of it, to copy.</p>
<h2>How the owners sign</h2>
<ol>
<li><a href="${path}/request.json" download="${nameFile(safeMessageHash)}">Download the request</a>, with the typed data. It holds totals, and no recipient.</li>
<li>Each owner compares amount, people and end. In the application of a Safe they sign the digest as a message, and compare the hash that it shows with the one that is here.</li>
<li>Give their signatures here. The contract decides whether they count.${request.kind === 'void' ? '' : ' The wallet must also give the allowance on chain: the page of the pay run shows the call.'}</li>
</ol>
<h2>Signatures of the owners</h2>
${error === undefined ? '' : html`<div class="problem" role="alert">${error.message.split('\n').map((line) => html`<p>${line}</p>`)}<p class="faint">${error.code}</p></div>`}
<form method="post" action="${path}" enctype="multipart/form-data">
${renderFormToken(session)}
<label for="file">File of the signatures</label>
<p class="faint" id="form-help">The signatures as hex, joined in the order of the owners' addresses, or the message of Safe's transaction service as JSON.</p>
<input id="file" name="file" type="file" accept=".json,.txt,application/json,text/plain" aria-describedby="form-help">
<label for="text">Or paste them here</label>
<textarea id="text" name="text" spellcheck="false" aria-describedby="form-help">${text}</textarea>
<div class="actions"><button>Import the signatures</button></div>
</form>`,
  });
}

/** Name of the file that the owners are given. */
export function nameFile(safeMessageHash: string): string {
  return `owners-${safeMessageHash.slice(2, 10)}.json`;
}
