/**
 * What waits for its release by people, what each batch pays, and the log of who did what. The console has no key of a person: it takes
 * signed words, and makes none.
 *
 * @module
 */
import { formatTokenAmount } from '@pool/core';
import type { OwnersView, PreparedBatchView } from '@pool/operations';
import { formatAmount, formatMinute, type Payer } from '@pool/pay-run';
import type { ReleaseEntry, ReleasePolicy, verifyReleaseLog } from '@pool/policy';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import { type Html, placeOf, renderFormToken, renderPage, renderTable } from './layout.ts';
import { renderOwners } from './owners.ts';

/** Of one table. The file has all. */
const maxShown = 500;

export type ReleasesPage = {
  /** Undefined: the agent has no policy. */
  readonly views: readonly PreparedBatchView[] | undefined;
  /** Of the owners of a contract wallet. Undefined: none pays. */
  readonly asked: readonly OwnersView[] | undefined;
  /** Words that were just imported. */
  readonly stored: number;
  /** Signatures of owners were just imported. */
  readonly isSigned: boolean;
};

export function renderReleases(
  session: Session,
  { views, asked, stored, isSigned }: ReleasesPage,
): Html {
  const title = 'Releases';
  const signed = isSigned
    ? html`<div class="warning" role="status"><p>The signatures of the owners were stored. The agent goes on within seconds. A payment also needs the allowance of the wallet: the page of the pay run shows the call.</p></div>`
    : '';
  const owners = asked === undefined ? '' : renderOwners(session, asked);
  if (views === undefined) {
    return renderPage({
      title,
      session,
      body: html`${signed}<p>This agent has no release policy, so no payment waits for a second person. Its administrator sets DISBURSE_RELEASE_POLICY.</p>
${owners}`,
    });
  }
  const place = placeOf(session);
  const rows = views.map(
    (view) => html`<tr>
<th scope="row"><a href="${pathOfBatch(session, view)}">${view.batch.key}</a></th>
<td class="number">${formatTokenAmount(BigInt(view.batch.total), view.batch)}</td>
<td class="number">${view.batch.count}</td>
<td>${describeRelease(view)}</td>
<td>${formatUntil(view)}</td>
</tr>`,
  );
  return renderPage({
    title,
    session,
    body: html`${signed}${stored > 0 ? html`<div class="warning" role="status"><p>${stored} signed ${stored === 1 ? 'word was' : 'words were'} stored. A batch that is released is paid within seconds.</p></div>` : ''}
${rows.length === 0 ? html`<p>No prepared payment waits for people.</p>` : renderTable('Prepared payments, the oldest first', ['Payment', 'Amount', 'People', 'Release', 'Until'], rows)}
${owners}
<h2>Bring back a signed answer</h2>
<p>The file that "disburse-agent release sign" or "release deny" wrote. It has no key and no recipient, and counts for exactly what was signed.</p>
<form method="post" action="${place}/releases" enctype="multipart/form-data">
${renderFormToken(session)}
<label for="file">File of the answer</label>
<input id="file" name="file" type="file" accept=".json,application/json">
<label for="text">Or paste it here</label>
<textarea id="text" name="text" spellcheck="false"></textarea>
<div class="actions"><button>Import the answer</button></div>
</form>
<h2>Log</h2>
<p><a href="${place}/releases/log">Who prepared, released, denied and was paid what</a></p>`,
  });
}

export function pathOfBatch(session: Session, { batch }: PreparedBatchView): string {
  return `${placeOf(session)}/releases/${batch.manifestDigest}`;
}

/** For people: for whom it waits, who has released or denied it. */
export function describeRelease({ standing }: PreparedBatchView): string {
  if (standing.kind === 'refused') {
    return `refused: ${standing.message}`;
  }
  const { deniedBy, isReleased, isStored, releasedBy, missing, waitsFor } = standing;
  const names = (people: readonly { readonly name: string }[]): string =>
    people.map(({ name }) => name).join(', ');
  if (deniedBy !== undefined) {
    return `denied by ${deniedBy}: it is never paid`;
  }
  if (isReleased || isStored) {
    return `released by ${names(releasedBy) || 'the policy, which asks for nobody'}`;
  }
  const already = releasedBy.length === 0 ? '' : `; released by ${names(releasedBy)}`;
  return `waits for ${missing} of ${names(waitsFor)}${already}`;
}

function formatUntil({ standing }: PreparedBatchView): string {
  return standing.kind === 'refused' ? '' : formatMinute(standing.untilMs);
}

export function renderBatch(
  session: Session,
  view: PreparedBatchView,
  policy: Pick<ReleasePolicy, 'name' | 'sha256'>,
): Html {
  const { batch, manifest, prepared, standing } = view;
  const path = pathOfBatch(session, view);
  const unit = (amount: string): string => formatTokenAmount(BigInt(amount), batch);
  const need = standing.kind === 'judged' ? standing.need : undefined;
  const rows = manifest.recipients.map(
    ({ address, amount, memo }) => html`<tr>
<td class="code">${address}</td>
<td class="number">${unit(amount)}</td>
<td>${memo ?? ''}</td>
</tr>`,
  );
  return renderPage({
    title: 'What is released',
    session,
    body: html`<p><strong>${describeRelease(view)}</strong></p>
<p>It cannot be edited: a word counts for exactly these recipients and amounts. Another roster needs another label and another release.</p>
<dl>
<dt>Total</dt><dd>${unit(batch.total)} <span class="faint">(${batch.total} base units)</span></dd>
<dt>People</dt><dd>${batch.count}</dd>
<dt>Chain</dt><dd>${batch.chain}</dd>
<dt>Token</dt><dd class="code">${batch.symbol}, ${batch.token}</dd>
<dt>Pool</dt><dd class="code">${manifest.pool}</dd>
<dt>Funder</dt><dd class="code">${manifest.funder}</dd>
<dt>Key</dt><dd class="code">${batch.key}</dd>
<dt>Digest of the manifest</dt><dd class="code">${batch.manifestDigest}</dd>
<dt>Prepared</dt><dd>by ${prepared.by} at ${formatMinute(Date.parse(prepared.at))}</dd>
<dt>Counts until</dt><dd>${formatUntil(view)}</dd>
<dt>Policy</dt><dd class="code">${policy.name}, SHA-256 ${policy.sha256}</dd>
${
  need === undefined
    ? ''
    : html`<dt>The policy asks for</dt><dd>${need.required} of ${need.people.map(({ name }) => name).join(', ')}</dd>
<dt>May not release it</dt><dd>${need.preparers.map(({ name }) => name).join(', ')}, who can prepare with ${prepared.by}</dd>`
}
</dl>
${need === undefined || isDecided(view) ? '' : renderSigning(path, view)}
<h2>Who is paid</h2>
${renderTable('Recipients and amounts', ['Wallet', 'Amount', 'Memo'], rows)}`,
  });
}

function isDecided({ standing }: PreparedBatchView): boolean {
  return (
    standing.kind === 'refused' ||
    standing.deniedBy !== undefined ||
    standing.isReleased ||
    standing.isStored
  );
}

/** The commands of a person's own machine. */
function renderSigning(path: string, { batch }: PreparedBatchView): Html {
  const file = nameRequest(batch.manifestDigest);
  const command = (verb: string): Html =>
    html`<p class="code">disburse-agent release ${verb} ${file} --key-file &lt;your key&gt; --out answer.json</p>`;
  return html`<h2>How a person releases it</h2>
<p>Not on this page: the key of the second person must not be on this machine.</p>
<ol>
<li><a href="${path}/request.json" download="${file}">Download the request</a>. It is confidential, with every recipient and amount. Take it to the person.</li>
<li>The person reads it and signs on a machine of their own. To release:
${command('sign')}
To deny, which ends the payment unpaid for good:
${command('deny')}</li>
<li><a href="${path.slice(0, path.lastIndexOf('/'))}">Bring the answer back</a>.</li>
</ol>`;
}

/** Name of the file that a person takes away. */
export function nameRequest(manifestDigest: string): string {
  return `request-${manifestDigest.slice(2, 10)}.json`;
}

export type ReleaseLogPage = {
  /** Oldest first. */
  readonly entries: readonly ReleaseEntry[];
  /** A digest that was kept elsewhere. Empty: none is compared. */
  readonly head: string;
  readonly verdict: ReturnType<typeof verifyReleaseLog>;
};

export function renderReleaseLog(
  session: Session,
  { entries, head, verdict }: ReleaseLogPage,
  payer: Pick<Payer, 'readChains'>,
): Html {
  const path = `${placeOf(session)}/releases/log`;
  return renderPage({
    title: 'Release log',
    session,
    body: html`${
      verdict.kind === 'intact'
        ? html`<p role="status">The log is intact: ${verdict.entries} entries follow from each other${head === '' ? '' : ', and one of them has the digest that you kept'}. Keep the newest digest elsewhere:</p>
<p class="code">${verdict.head}</p>`
        : html`<div class="problem" role="alert"><p>The log is not as it was written: ${verdict.message}.</p></div>`
    }
<form class="filters" method="get" action="${path}">
<div><label for="head">A digest that you kept</label><input id="head" name="head" value="${head}" spellcheck="false"></div>
<button class="plain">Compare</button>
</form>
<p><a href="${path}.json" download>The whole log (JSON)</a>, for "disburse-agent release verify" on another machine. It has totals, and no recipient.</p>
${entries.length === 0 ? html`<p>Nothing was prepared yet.</p>` : renderEntries(entries.slice(-maxShown).toReversed(), payer)}
${entries.length > maxShown ? html`<p class="faint">The newest ${maxShown} of ${entries.length} entries.</p>` : ''}`,
  });
}

/** Who did what and when. */
export function renderEntries(
  entries: readonly ReleaseEntry[],
  payer: Pick<Payer, 'readChains'>,
): Html {
  return renderTable(
    'Who did what, the newest first',
    ['Entry', 'Time (UTC)', 'What', 'By', 'Payment', 'Amount', 'People', 'Outcome'],
    entries.map(
      ({ number, at, event, by, key, total, chain, token, count, outcome = '' }) => html`<tr>
<th scope="row">${number}</th>
<td>${at.slice(0, 19).replace('T', ' ')}</td>
<td>${event}</td>
<td>${by}</td>
<td class="code">${key}</td>
<td class="number">${formatAmount(BigInt(total), { chain, token, payRun: key }, payer)}</td>
<td class="number">${count}</td>
<td class="code">${outcome}</td>
</tr>`,
    ),
  );
}
