/**
 * The schedules of the agent: what each pays next, and what became of it.
 *
 * @module
 */
import {
  describeDamagedOccurrence,
  describeDamagedSchedule,
  findReason,
  formatInstant,
  type Occurrence,
  type ScheduleView,
  type ScheduleViews,
} from '@pool/pay-run';
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import { type Html, renderPage, renderTable } from './layout.ts';
import { pathOfRun } from './run-list.ts';

/** Occurrences of one schedule. A daily one has hundreds. */
const maxShown = 50;

export function renderSchedules(session: Session, { views, damaged }: ScheduleViews): Html {
  return renderPage({
    title: 'Schedules',
    session,
    body:
      views.length + damaged.length === 0
        ? renderEmpty()
        : html`${damaged.map((name) => html`<div class="problem" role="alert"><p>${describeDamagedSchedule(name)}</p></div>`)}
${views.map((view) => renderSchedule(session, view))}
${renderCommands()}`,
  });
}

function renderEmpty(): Html {
  return html`<p>There is no schedule. A schedule pays a roster on a day, or again and again, when people have released it in time.</p>
<p>This page adds none. Set a release policy, and add one on the agent's machine, for example:</p>
<p class="code">disburse-agent schedule add monthly --roster '/payroll/{period}.csv' --label 'salaries-{period}' --decimal --when 'last working day' --time 09:00 --zone Europe/Berlin</p>`;
}

function renderSchedule(session: Session, view: ScheduleView): Html {
  const { definition, state, rule, next, occurrences, damaged } = view;
  const { name, time, zone, roster, label, chain, token } = definition;
  const shown = occurrences.toReversed().slice(0, maxShown);
  return html`<h2>${name}</h2>
<dl>
<dt>State</dt><dd>${state}${state === 'paused' ? ': nothing more is prepared until it is resumed' : ''}</dd>
<dt>Rule</dt><dd>${rule}</dd>
<dt>Time</dt><dd>${time} ${zone}</dd>
<dt>Pays</dt><dd>${token} on ${chain}</dd>
<dt>Roster</dt><dd class="code">${roster}</dd>
<dt>Label</dt><dd class="code">${label}</dd>
</dl>
${damaged.map((period) => html`<div class="problem" role="alert"><p>${describeDamagedOccurrence(`${name} ${period}`)}</p></div>`)}
${next.length === 0 ? html`<p>No further payment.</p>` : renderNext(name, next)}
${shown.length === 0 ? html`<p>Nothing was prepared or decided yet.</p>` : renderOccurrences(session, name, shown)}
${occurrences.length > maxShown ? html`<p class="faint">The newest ${maxShown} of ${occurrences.length}: "disburse-agent schedule show ${name}" prints them all.</p>` : ''}`;
}

function renderNext(name: string, next: ScheduleView['next']): Html {
  const heads = ['Period', 'State', 'Prepared from', 'Released before', 'Paid at', 'Paid until'];
  const rows = next.map(({ plan, state }) => {
    const times = [plan.prepareAtMs, plan.releaseByMs, plan.payAtMs, plan.payByMs];
    return html`<tr>
<th scope="row">${plan.period}</th>
<td>${state}</td>
${times.map((atMs) => html`<td>${formatInstant(atMs, plan.zone)}</td>`)}
</tr>`;
  });
  return renderTable(`Next payments of ${name}`, heads, rows);
}

function renderOccurrences(
  session: Session,
  name: string,
  occurrences: readonly Occurrence[],
): Html {
  const rows = occurrences.map((occurrence) => {
    const { plan, state, prepared, withdrawal } = occurrence;
    const reason = findReason(occurrence);
    const path = pathOfRun(session, { ...plan, payRun: plan.label });
    const isEnding = withdrawal !== undefined && (state === 'due' || state === 'prepared');
    return html`<tr>
<th scope="row">${plan.period}</th>
<td>${state}${isEnding ? ', is being withdrawn' : ''}</td>
<td>${reason === undefined ? '' : html`${reason.message} <span class="faint">${reason.code}</span>`}</td>
<td>${prepared === undefined ? plan.label : html`<a href="${path}">${plan.label}</a>`}</td>
<td>${formatInstant(plan.payAtMs, plan.zone)}</td>
</tr>`;
  });
  const heads = ['Period', 'State', 'Reason', 'Pay run', 'To be paid at'];
  return renderTable(`What became of ${name}, the newest first`, heads, rows);
}

function renderCommands(): Html {
  const commands = [
    ['skip <name> <period>', 'decides that one payment is not made, for good'],
    ['pause <name>', 'prepares nothing more; what is prepared stays'],
    ['resume <name>', 'goes on'],
    ['remove <name>', 'removes it, when nothing of it is prepared'],
    ['show <name>', 'prints what became of each payment, also of a schedule that was removed'],
  ];
  return html`<h2>Change one</h2>
<p>This page changes nothing. Use the commands on the agent's machine:</p>
<dl>${commands.map(([command, does]) => html`<dt class="code">disburse-agent schedule ${command}</dt><dd>${does}</dd>`)}</dl>`;
}
