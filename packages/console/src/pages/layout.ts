/**
 * The frame of every page, and what several pages show.
 *
 * @module
 */
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';

/** A part of a page. Every value in a template is escaped. */
export type Html = ReturnType<typeof html>;

/** Where the agent serves the console. */
export const root = '/console';

/** The address of the session's own pages. */
export function placeOf({ place }: Session): string {
  return `${root}/${place}`;
}

export type Page = {
  readonly title: string;
  readonly body: Html;
  /** Absent: a page before the login. */
  readonly session?: Session | undefined;
};

export function renderPage({ title, body, session }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Pay runs</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${root}/icon.svg">
<link rel="stylesheet" href="${root}/style.css">
<script src="${root}/live.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="name">Disbursement agent</p>
${session === undefined ? '' : renderNavigation(session)}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>`;
}

function renderNavigation(session: Session): Html {
  const place = placeOf(session);
  return html`<nav aria-label="Console">
<a href="${place}/">Pay runs</a>
<a href="${place}/releases">Releases</a>
<a href="${place}/schedules">Schedules</a>
<a href="${place}/holder">Balance</a>
<form method="post" action="${place}/end">${renderFormToken(session)}<button class="plain">End the session</button></form>
</nav>`;
}

/** In every form of a session. */
export function renderFormToken({ formToken }: Session): Html {
  return html`<input type="hidden" name="form" value="${formToken}">`;
}

/** Can be scrolled by keyboard where it is wider than the screen. */
export function renderTable(
  caption: string,
  heads: readonly string[],
  rows: readonly Html[],
): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table>
<caption>${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table>
</div>`;
}

/** An option of a list of choices. */
export function renderOption(value: string, text: string, chosen: string): Html {
  return value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`;
}
