/**
 * The open account: what the wallet says, the navigation, and locking.
 *
 * @module
 */
import type { Readiness } from '@pool/api';
import type { EvmAddress } from '@pool/core';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { countSpends } from '../model/running-spends.ts';
import { Notice, View } from '../parts/elements.tsx';
import { lateView } from '../parts/late-view.tsx';
import { useTask } from '../parts/task.tsx';
import { useIdle, useRoute } from '../parts/use-page.ts';
import { texts } from '../texts.ts';
import type { Contact, Inviter, OnProgress, PayeeWallet } from '../wallet-port.ts';
import { type Account, HomeView, PayslipView } from './home.tsx';

/** An open account that nobody uses is locked after this time. While a payment runs it stays open: its proof and outcome would be lost. */
export const idleMs = 5 * 60_000;
/** Between two looks at notes that a payment holds which this tab does not make. */
const heldRefreshMs = 10_000;

function late() {
  return import('./late-views.ts');
}
const ExitView = lateView(async () => (await late()).ExitView);
const HistoryView = lateView(async () => (await late()).HistoryView);
const PasskeysView = lateView(async () => (await late()).PasskeysView);
const TransferView = lateView(async () => (await late()).TransferView);
const WithdrawView = lateView(async () => (await late()).WithdrawView);

type Known = {
  readonly contacts: readonly Contact[];
  readonly saved: readonly EvmAddress[];
  readonly inviters: readonly Inviter[];
};

export function OpenAccount({
  wallet: opened,
  invitation,
  onEnrolled,
  onLocked,
}: {
  readonly wallet: PayeeWallet;
  readonly invitation: string | undefined;
  /** The invitation, if there was one, is accepted. */
  readonly onEnrolled: () => void;
  readonly onLocked: (isAutomatic: boolean) => void;
}) {
  const { wallet, isSpending } = useMemo(() => countSpends(opened), [opened]);
  const refresh = useTask();
  const [token, setToken] = useState(wallet.tokens[0]?.symbol ?? '');
  const [readiness, setReadiness] = useState<Readiness>();
  const [account, setAccount] = useState<Account>();
  /** Withdrawals go to the chain, until the account is locked. */
  const [hasLeft, setHasLeft] = useState(false);
  const [known, setKnown] = useState<Known>({ contacts: [], saved: [], inviters: [] });
  const route = useRoute();

  const lock = (isAutomatic: boolean): void => {
    wallet.close().then(
      () => onLocked(isAutomatic),
      () => onLocked(isAutomatic),
    );
  };
  useIdle(idleMs, isSpending, () => lock(true));

  async function read(onProgress: OnProgress): Promise<void> {
    const found = await wallet.readiness();
    setReadiness(found);
    // Nobody can have paid it, and the platform knows nothing of it.
    if (found === 'not_enrolled') return;
    await wallet.sync(onProgress);
    const [balance, history, contacts, saved, inviters] = await Promise.all([
      wallet.balance(token),
      wallet.history(token),
      wallet.transfers.contacts(),
      wallet.savedAddresses(),
      wallet.inviters(),
    ]);
    setAccount({ balance, history });
    setKnown({ contacts, saved, inviters });
  }
  const onRefresh = (): void => refresh.run(read);
  useEffect(onRefresh, [wallet, token]);
  const isHeld = account !== undefined && account.balance.spendable < account.balance.total;
  // A payment of a tab that was closed ends without a word to this one.
  useEffect(() => {
    if (!isHeld) return;
    const timer = setInterval(() => {
      if (!isSpending()) onRefresh();
    }, heldRefreshMs);
    return () => clearInterval(timer);
  }, [isHeld, wallet, token]);

  return (
    <>
      <Navigation current={route} onLock={() => lock(false)} />
      {wallet.tokens.length > 1 && (
        <Tokens tokens={wallet.tokens.map(({ symbol }) => symbol)} {...{ token, setToken }} />
      )}
      {renderRoute()}
    </>
  );

  function renderRoute() {
    const [place = '', id] = route.split('/');
    if (place === 'passkeys') return <PasskeysView passkeys={wallet.passkeys} />;
    const payslip = account?.history.entries.find((entry) => entry.id === id);
    if (account === undefined || place === 'home' || place === '') {
      return (
        <HomeView
          identity={wallet.identity}
          readiness={readiness}
          account={account}
          inviters={known.inviters}
          refresh={refresh}
          onRefresh={onRefresh}
          onEnrol={async () => {
            setReadiness(await wallet.enrol(invitation));
            onEnrolled();
            onRefresh();
          }}
        />
      );
    }
    const shared = { account, onSpent: onRefresh };
    switch (place) {
      case 'withdraw':
      case 'exit':
        return place === 'withdraw' && (hasLeft || account.balance.silentSinceMs === undefined) ? (
          <WithdrawView {...shared} wallet={wallet} saved={known.saved} hasLeft={hasLeft} />
        ) : (
          <ExitView
            wallet={wallet}
            saved={known.saved}
            silentSinceMs={account.balance.silentSinceMs}
            hasLeft={hasLeft}
            task={refresh}
            onLeave={() =>
              refresh.run(async (onProgress) => {
                await wallet.leavePlatform();
                setHasLeft(true);
                location.hash = 'withdraw';
                await read(onProgress);
              })
            }
            onNotes={onRefresh}
          />
        );
      case 'transfer':
        if (hasLeft) {
          return (
            <View title={texts.transfer.title}>
              <Notice kind="warning">{texts.exit.noTransfers}</Notice>
            </View>
          );
        }
        return (
          <TransferView
            {...shared}
            transfers={wallet.transfers}
            contacts={known.contacts}
            onContact={(added) => {
              const others = known.contacts.filter(({ label }) => label !== added.label);
              setKnown({ ...known, contacts: [...others, added] });
            }}
          />
        );
      case 'history':
        return <HistoryView history={account.history} contacts={known.contacts} />;
      case 'payslip':
        if (payslip?.kind === 'received') {
          return <PayslipView payslip={payslip} history={account.history} wallet={wallet} />;
        }
    }
    return (
      <View title={texts.payslip.title}>
        <a href="#home">{texts.back}</a>
      </View>
    );
  }
}

function Navigation({
  current,
  onLock,
}: {
  readonly current: string;
  readonly onLock: () => void;
}) {
  const { nav } = texts;
  return (
    <nav class="no-print" aria-label={nav.label}>
      {(['home', 'withdraw', 'transfer', 'history'] as const).map((place) => (
        <a key={place} href={`#${place}`} aria-current={current === place ? 'page' : undefined}>
          {nav[place]}
        </a>
      ))}
      <button type="button" onClick={onLock}>
        {texts.locked.lock}
      </button>
    </nav>
  );
}

function Tokens({
  tokens,
  token,
  setToken,
}: {
  readonly tokens: readonly string[];
  readonly token: string;
  readonly setToken: (token: string) => void;
}) {
  return (
    <label class="field">
      {texts.token}
      <select value={token} onChange={(event) => setToken(event.currentTarget.value)}>
        {tokens.map((symbol) => (
          <option key={symbol} value={symbol}>
            {symbol}
          </option>
        ))}
      </select>
    </label>
  );
}
