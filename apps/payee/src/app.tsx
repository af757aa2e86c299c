/**
 * The page: which account this browser has, whether it is open, and the way from an invitation to an open account.
 *
 * @module
 */
import { useEffect, useState } from 'preact/hooks';
import { View } from './parts/elements.tsx';
import { describeFailure } from './parts/task.tsx';
import { texts } from './texts.ts';
import { InvitationView, LockedView, RestoreView, WelcomeView } from './views/before.tsx';
import { InvitedView } from './views/invited.tsx';
import { MakeAccountView } from './views/make-account.tsx';
import { OpenAccount } from './views/open-account.tsx';
import { ReleaseLine } from './views/release-line.tsx';
import type { AccountDraft, Invitation, PayeeAccounts, PayeeWallet } from './wallet-port.ts';

type Screen =
  | { readonly kind: 'loading' }
  | { readonly kind: 'welcome'; readonly problem: string | undefined }
  | { readonly kind: 'invitation'; readonly invitation: Invitation }
  | { readonly kind: 'restore' }
  | { readonly kind: 'making'; readonly draft: AccountDraft }
  | { readonly kind: 'locked'; readonly isAutomatic: boolean }
  /** An account that is open, and an invitation that it may accept. */
  | { readonly kind: 'invited'; readonly wallet: PayeeWallet; readonly code: string }
  | { readonly kind: 'open'; readonly wallet: PayeeWallet };

/** `invitation` is the code of the link that opened the page, `folder` the absolute URL of the page's files. */
export function App({
  accounts,
  invitation,
  folder,
}: {
  readonly accounts: PayeeAccounts;
  readonly invitation: string | undefined;
  readonly folder: URL;
}) {
  /** Undefined: there was none, or it was handled. */
  const [code, setCode] = useState(invitation);
  const [screen, setScreen] = useState<Screen>({ kind: 'loading' });

  async function begin(isAutomatic = false): Promise<void> {
    if ((await accounts.findAccount()) !== undefined) {
      setScreen({ kind: 'locked', isAutomatic });
    } else if (code === undefined) {
      setScreen({ kind: 'welcome', problem: undefined });
    } else {
      setScreen({ kind: 'invitation', invitation: await accounts.readInvitation(code) });
    }
  }
  const restart = (isAutomatic = false): void => {
    begin(isAutomatic).catch((error: unknown) =>
      setScreen({ kind: 'welcome', problem: describeFailure(error, texts.invitation.problems) }),
    );
  };
  useEffect(restart, []);

  const onOpen = (wallet: PayeeWallet): void =>
    setScreen(code === undefined ? { kind: 'open', wallet } : { kind: 'invited', wallet, code });
  const onRestore = (): void => setScreen({ kind: 'restore' });
  return (
    <>
      <a class="skip" href="#content">
        {texts.skipToContent}
      </a>
      <header class="no-print">{texts.title}</header>
      <main id="content" tabIndex={-1}>
        {renderScreen()}
      </main>
      <ReleaseLine folder={folder} />
    </>
  );

  function renderScreen() {
    switch (screen.kind) {
      case 'loading':
        return <View title={texts.loading}>{null}</View>;
      case 'welcome':
        return <WelcomeView problem={screen.problem} onRestore={onRestore} />;
      case 'invitation':
        return (
          <InvitationView
            invitation={screen.invitation}
            onAccept={async () =>
              setScreen({ kind: 'making', draft: await accounts.createAccount() })
            }
            onOther={onRestore}
          />
        );
      case 'restore':
        return (
          <RestoreView
            accounts={accounts}
            onDraft={(draft) => setScreen({ kind: 'making', draft })}
            onOpen={onOpen}
            onBack={restart}
          />
        );
      case 'making':
        return (
          <MakeAccountView
            draft={screen.draft}
            onOpen={(wallet) => {
              // Who made the account for the invitation has seen it, and accepts it by registering.
              if (screen.draft.words === undefined) onOpen(wallet);
              else setScreen({ kind: 'open', wallet });
            }}
            onCancel={() => {
              screen.draft.discard().then(
                () => restart(),
                () => restart(),
              );
            }}
          />
        );
      case 'locked':
        return (
          <LockedView
            accounts={accounts}
            isAutomatic={screen.isAutomatic}
            isInvited={code !== undefined}
            onOpen={onOpen}
            onRestore={onRestore}
          />
        );
      case 'invited':
        return (
          <InvitedView
            accounts={accounts}
            wallet={screen.wallet}
            code={screen.code}
            onDone={() => {
              setCode(undefined);
              setScreen({ kind: 'open', wallet: screen.wallet });
            }}
            onIdle={() => {
              screen.wallet.close().then(
                () => restart(true),
                () => restart(true),
              );
            }}
          />
        );
      case 'open':
        return (
          <OpenAccount
            wallet={screen.wallet}
            invitation={code}
            onEnrolled={() => setCode(undefined)}
            onLocked={restart}
          />
        );
    }
  }
}
