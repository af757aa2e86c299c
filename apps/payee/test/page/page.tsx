// The views over a fake wallet, which has no key, no chain and no money. It shows how the views behave, and nothing about wallets.
import { render } from 'preact';
import { App } from '../../src/app.tsx';
import { allowOwnScripts } from '../../src/trusted-types.ts';
import { createFakeAccounts } from './fake-wallet.ts';

const folder = new URL('./', location.href);
allowOwnScripts(folder);
const settings = new URLSearchParams(location.search);
const place = document.getElementById('page');
if (place !== null) {
  render(
    <App
      accounts={createFakeAccounts({
        hasPrf: settings.get('prf') !== 'no',
        hasAccount: settings.get('account') === 'yes',
        isSilent: settings.get('silent') === 'yes',
        stranger: settings.get('stranger') ?? undefined,
      })}
      folder={folder}
      invitation={settings.get('invitation') ?? undefined}
    />,
    place,
  );
}
