/**
 * What is shown while no account is open: the invitation, the locked account, and restoring from words.
 *
 * @module
 */
import { useState } from 'preact/hooks';
import {
  Button,
  Code,
  Facts,
  Field,
  FileField,
  Foreign,
  Notice,
  View,
} from '../parts/elements.tsx';
import { formatDate } from '../parts/format.ts';
import { TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type {
  AccountDraft,
  Identity,
  Invitation,
  PayeeAccounts,
  PayeeWallet,
} from '../wallet-port.ts';
import { OpenBackup } from './backup-file.tsx';

/**
 * Who invites, into which pool, and what becomes visible to whom.
 * @param account - the open account that may accept. Undefined: one is made first
 */
export function InvitationView({
  invitation,
  account,
  onAccept,
  onOther,
}: {
  readonly invitation: Invitation;
  readonly account?: Identity;
  readonly onAccept: () => Promise<void>;
  readonly onOther: () => void;
}) {
  const task = useTask(texts.invitation.problems);
  const { state, employer, employerAddress, platform, chain, pool, expiresAtMs } = invitation;
  const { invitation: words } = texts;
  const lists = [
    [words.youSee, words.youSeeList],
    [words.theySee, account ? [...words.theySeeList, words.payersSee] : words.theySeeList],
    [words.youKeep, words.youKeepList],
  ] as const;
  return (
    <View title={words.title(employer?.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd'))}>
      <Facts
        rows={[
          [words.from, <Foreign key="from" text={employer ?? words.unnamed} />],
          [words.employer, <Code key="employer" text={employerAddress} />],
          [words.platform, platform],
          [words.chain, chain],
          [words.pool, <Code key="pool" text={pool} />],
          [words.until, formatDate(expiresAtMs)],
          ...(account === undefined
            ? []
            : [[words.account, <Code key="account" text={account.address} />] as const]),
        ]}
      />
      {lists.map(([title, lines]) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      ))}
      {state === 'open' ? (
        <Button isMain isDisabled={task.isBusy} onClick={() => task.run(onAccept)}>
          {account === undefined ? words.accept : words.acceptWith}
        </Button>
      ) : (
        <Notice kind="warning">
          {account !== undefined && state === 'accepted' ? words.acceptedWith : words.states[state]}
        </Notice>
      )}
      <Button onClick={onOther}>
        {account === undefined ? texts.welcome.restore : words.toAccount}
      </Button>
      <TaskState task={task} />
    </View>
  );
}

/** A visitor without an invitation and without an account. */
export function WelcomeView({
  problem,
  onRestore,
}: {
  readonly problem: string | undefined;
  readonly onRestore: () => void;
}) {
  return (
    <View title={texts.welcome.title}>
      {problem === undefined ? (
        <p>{texts.welcome.noInvitation}</p>
      ) : (
        <Notice kind="failure">{problem}</Notice>
      )}
      <Button onClick={onRestore}>{texts.welcome.restore}</Button>
    </View>
  );
}

export function LockedView({
  accounts,
  isAutomatic,
  isInvited,
  onOpen,
  onRestore,
}: {
  readonly accounts: PayeeAccounts;
  readonly isAutomatic: boolean;
  /** A link opened the page. */
  readonly isInvited: boolean;
  readonly onOpen: (wallet: PayeeWallet) => void;
  readonly onRestore: () => void;
}) {
  const task = useTask();
  const { locked } = texts;
  return (
    <View title={locked.title}>
      {isAutomatic && <p>{locked.autoLocked}</p>}
      <p>{locked.text}</p>
      {isInvited && <p>{locked.invited}</p>}
      <Button
        isMain
        isDisabled={task.isBusy}
        onClick={() => task.run(async () => onOpen(await accounts.unlock()))}
      >
        {locked.unlock}
      </Button>
      <Button onClick={onRestore}>{locked.other}</Button>
      <TaskState task={task} />
    </View>
  );
}

export function RestoreView({
  accounts,
  onDraft,
  onOpen,
  onBack,
}: {
  readonly accounts: PayeeAccounts;
  readonly onDraft: (draft: AccountDraft) => void;
  readonly onOpen: (wallet: PayeeWallet) => void;
  readonly onBack: () => void;
}) {
  const task = useTask();
  const [words, setWords] = useState('');
  const count = words.split(/\s+/).filter((word) => word !== '').length;
  const { restore } = texts;
  return (
    <View title={restore.title}>
      <p>{restore.text}</p>
      <Field
        label={restore.words}
        value={words}
        onValue={setWords}
        rows={5}
        hint={restore.count(count)}
      />
      <Button
        isMain
        isDisabled={task.isBusy || count !== 24}
        onClick={() =>
          task.run(async () => {
            const draft = await accounts.restoreAccount(words);
            setWords('');
            onDraft(draft);
          })
        }
      >
        {restore.submit}
      </Button>
      <FileField
        label={restore.file}
        isDisabled={task.isBusy}
        onFile={(file) =>
          task.run(async () => onOpen(await accounts.importFile(await file.text())))
        }
      />
      <section>
        <h2>{texts.backup.title}</h2>
        <OpenBackup
          label={texts.backup.choose}
          submit={texts.backup.open}
          onOpen={async (backup, password) =>
            onDraft(await accounts.restoreBackup(backup, password))
          }
        />
      </section>
      <Button onClick={onBack}>{texts.back}</Button>
      <TaskState task={task} />
    </View>
  );
}
