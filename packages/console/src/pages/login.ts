/**
 * The pages outside a session: the login, and what went wrong.
 *
 * @module
 */
import { html } from 'hono/html';
import type { Session } from '../access/sessions.ts';
import { type Html, placeOf, renderPage, root } from './layout.ts';

/** A button, because programs that only preview an address would use up the login. @param token - secret */
export function renderLogin(token: string): Html {
  return renderPage({
    title: 'Open the console',
    body: html`<p>This login works once. The session ends with the agent, after an hour without use, or when you end it.</p>
<form method="post" action="${root}/login">
<input type="hidden" name="token" value="${token}">
<button>Open the console</button>
</form>`,
  });
}

export function renderEnded(): Html {
  return renderPage({
    title: 'The session has ended',
    body: html`<p>"disburse-agent console" prints a new login.</p>`,
  });
}

export function renderProblem(
  { code, message }: { readonly code: string; readonly message: string },
  session: Session | undefined,
): Html {
  return renderPage({
    title: 'This did not work',
    session,
    body: html`<div class="problem" role="alert">
${message.split('\n').map((line) => html`<p>${line}</p>`)}
<p class="faint">${code}</p>
</div>
${session === undefined ? '' : html`<p><a href="${placeOf(session)}/">Back to the pay runs</a></p>`}`,
  });
}
