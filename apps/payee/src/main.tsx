/**
 * Starts the page. The worker with the wallet starts with the first call.
 *
 * @module
 */
import { render } from 'preact';
import { App } from './app.tsx';
import { createCaller } from './calls/call-protocol.ts';
import type { WalletCalls } from './calls/wallet-calls.ts';
import { allowOwnScripts } from './trusted-types.ts';
import { createAccounts } from './window/accounts.ts';

const folder = new URL('./', location.href);
allowOwnScripts(folder);

/** The code of the link is a secret: it leaves the address at once, and with it the browser's history. */
function takeInvitation(): string | undefined {
  const code = /^#invite=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(undefined, '', location.pathname);
  return code;
}

const invitation = takeInvitation();
// A link that is opened in the tab of the page.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#invite=')) location.reload();
});

const caller = createCaller<WalletCalls>(
  () =>
    new Worker(new URL('./worker/wallet-worker.ts', import.meta.url), {
      type: 'module',
      name: folder.href,
    }),
);
const place = document.getElementById('page');
if (place !== null) {
  render(<App accounts={createAccounts(caller)} folder={folder} invitation={invitation} />, place);
}
