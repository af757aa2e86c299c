/**
 * The open account: whether it can be paid, what it has, and its payslips by month.
 *
 * @module
 */
import type { Readiness } from '@pool/api';
import { formatTokenAmount } from '@pool/core';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { groupPayslips, type PayslipEntry } from '../model/months.ts';
import { download } from '../parts/download.ts';
import { Button, Code, Facts, Field, Foreign, Notice, View } from '../parts/elements.tsx';
import { formatDate, formatMonth, formatTime } from '../parts/format.ts';
import { type Task, TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type {
  Balance,
  Identity,
  Inviter,
  PayeeHistory,
  PayeeWallet,
  PayslipProof,
} from '../wallet-port.ts';

/** What the wallet last said. Undefined: it was not asked yet, or the account is not enrolled. */
export type Account = {
  readonly balance: Balance;
  readonly history: PayeeHistory;
};

export function HomeView({
  identity,
  readiness,
  account,
  inviters,
  refresh,
  onRefresh,
  onEnrol,
}: {
  readonly identity: Identity;
  readonly readiness: Readiness | undefined;
  readonly account: Account | undefined;
  readonly inviters: readonly Inviter[];
  readonly refresh: Task;
  readonly onRefresh: () => void;
  readonly onEnrol: () => Promise<void>;
}) {
  const { home } = texts;
  return (
    <View title={texts.nav.home}>
      {readiness !== undefined && <State readiness={readiness} onEnrol={onEnrol} />}
      {account !== undefined && <Silence sinceMs={account.balance.silentSinceMs} />}
      {account !== undefined && <BalanceFacts account={account} />}
      <Button isDisabled={refresh.isBusy} onClick={onRefresh}>
        {home.refresh}
      </Button>
      <TaskState task={refresh} />
      {account !== undefined && <Payslips history={account.history} />}
      {inviters.length > 0 && <Inviters inviters={inviters} />}
      <section>
        <h2>{home.address}</h2>
        <Code text={identity.address} />
        <p class="hint">{home.walletPub}</p>
        <Code text={identity.walletPub} />
        <p>
          <a href="#passkeys">{texts.passkeys.link}</a>
        </p>
        {account !== undefined && (
          <p>
            <a href="#exit">{texts.exit.title}</a>
          </p>
        )}
      </section>
    </View>
  );
}

/** What cannot be known while the platform is silent. */
export function Silence({ sinceMs }: { readonly sinceMs: number | undefined }) {
  const { exit } = texts;
  return (
    sinceMs !== undefined && (
      <Notice kind="warning" title={exit.silent}>
        <p>{sinceMs === 0 ? exit.neverHeard : exit.silentSince(formatTime(sinceMs))}</p>
      </Notice>
    )
  );
}

/** Eligible or not, and what can be done about it. */
function State({
  readiness,
  onEnrol,
}: {
  readonly readiness: Readiness;
  readonly onEnrol: () => Promise<void>;
}) {
  const task = useTask();
  const { title, text } = texts.readiness[readiness];
  const label = readiness === 'not_enrolled' ? texts.enrol : texts.checkAgain;
  const canAct = readiness !== 'ready' && readiness !== 'eligibility_disabled';
  return (
    <Notice kind={readiness === 'ready' ? 'note' : 'warning'} title={title}>
      <p>{text}</p>
      {canAct && (
        <Button isMain isDisabled={task.isBusy} onClick={() => task.run(onEnrol)}>
          {label}
        </Button>
      )}
      <TaskState task={task} />
    </Notice>
  );
}

function BalanceFacts({ account }: { readonly account: Account }) {
  const { balance, history } = account;
  const { home } = texts;
  return (
    <section>
      <h2>{home.balance}</h2>
      <p class="balance">{formatTokenAmount(balance.total, history)}</p>
      {balance.spendable < balance.total && (
        <p>{home.spendable(formatTokenAmount(balance.spendable, history))}</p>
      )}
      <p class="hint">{home.asOf(balance.asOfBlock)}</p>
    </section>
  );
}

function Payslips({ history }: { readonly history: PayeeHistory }) {
  const { home } = texts;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const months = groupPayslips(history.entries, timeZone);
  return (
    <section>
      <h2>{home.payslips}</h2>
      {months.length === 0 && <p>{home.noPayslips}</p>}
      {months.map(({ key, payslips, total }) => (
        <section key={key}>
          <h3>{formatMonth(key)}</h3>
          {payslips.length > 1 && <p>{home.total(formatTokenAmount(total, history))}</p>}
          <ul class="cards">
            {payslips.map((payslip) => (
              <PayslipCard key={payslip.id} payslip={payslip} history={history} />
            ))}
          </ul>
        </section>
      ))}
    </section>
  );
}

function Inviters({ inviters }: { readonly inviters: readonly Inviter[] }) {
  const { home, invitation: words } = texts;
  return (
    <section>
      <h2>{home.inviters}</h2>
      <p class="hint">{home.invitersText}</p>
      <ul class="cards">
        {inviters.map(({ employer, employerAddress, pool, acceptedAtMs }) => (
          <li key={employerAddress}>
            <strong>
              <Foreign text={employer ?? words.unnamed} />
            </strong>
            <Facts
              rows={[
                [words.employer, <Code key="employer" text={employerAddress} />],
                [words.pool, <Code key="pool" text={pool} />],
              ]}
            />
            <p class="hint">{home.inviter(formatDate(acceptedAtMs))}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function PayslipCard({
  payslip,
  history,
}: {
  readonly payslip: PayslipEntry;
  readonly history: PayeeHistory;
}) {
  const date = formatDate(payslip.time);
  return (
    <li>
      <a href={`#payslip/${payslip.id}`}>
        <strong>{formatTokenAmount(BigInt(payslip.amount), history)}</strong>
        <span>{date}</span>
      </a>
      {payslip.memo !== undefined && (
        <p>
          <Foreign text={payslip.memo} />
        </p>
      )}
      <p class="hint">
        <Payer payslip={payslip} history={history} />
      </p>
    </li>
  );
}

function Payer({
  payslip,
  history,
}: {
  readonly payslip: PayslipEntry;
  readonly history: PayeeHistory;
}): ComponentChildren {
  const payer = history.payers[payslip.txHash];
  return payer === undefined ? texts.home.unknownPayer : <Foreign text={payer} />;
}

/** One payslip on a page of its own, as it is printed. */
export function PayslipView({
  payslip,
  history,
  wallet,
}: {
  readonly payslip: PayslipEntry;
  readonly history: PayeeHistory;
  readonly wallet: Pick<PayeeWallet, 'identity' | 'disclose'>;
}) {
  const { payslip: words } = texts;
  return (
    <View title={words.title}>
      <Facts
        rows={[
          [words.amount, formatTokenAmount(BigInt(payslip.amount), history)],
          [words.received, formatTime(payslip.time)],
          [words.from, <Payer key="from" payslip={payslip} history={history} />],
          ...(payslip.memo === undefined
            ? []
            : [[words.memo, <Foreign key="memo" text={payslip.memo} />] as const]),
          [words.to, <Code key="to" text={wallet.identity.address} />],
          [words.transaction, <Code key="transaction" text={payslip.txHash} />],
        ]}
      />
      <p class="hint">{words.note}</p>
      <div class="no-print">
        <Button isMain onClick={() => globalThis.print()}>
          {words.print}
        </Button>
        <Proof
          payslip={payslip}
          onProof={({ commitment, purpose }) =>
            wallet.disclose({ token: history.symbol, commitment, purpose })
          }
        />
        <p>
          <a href="#home">{texts.back}</a>
        </p>
      </div>
    </View>
  );
}

/** The payslip as a file that an auditor verifies. */
function Proof({
  payslip,
  onProof,
}: {
  readonly payslip: PayslipEntry;
  readonly onProof: (asked: Pick<PayslipProof, 'commitment' | 'purpose'>) => Promise<string>;
}) {
  const { payslip: words } = texts;
  const [purpose, setPurpose] = useState('');
  const task = useTask();
  const { commitment, time } = payslip;
  const make = (): void =>
    task.run(async () => {
      const file = await onProof({ commitment, purpose: purpose.trim() });
      download(words.proofName(time.slice(0, 10)), [file], 'application/json');
    });
  return (
    <section>
      <h2>{words.proofTitle}</h2>
      <p>{words.proofText}</p>
      <Field label={words.purpose} value={purpose} onValue={setPurpose} />
      <Button isDisabled={task.isBusy || purpose.trim() === ''} onClick={make}>
        {words.proof}
      </Button>
      <TaskState task={task} />
    </section>
  );
}
