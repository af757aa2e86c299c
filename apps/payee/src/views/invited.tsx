/**
 * An invitation for somebody who has an account: it is read once the account is open, and accepted with it, or left.
 *
 * @module
 */
import { useEffect, useState } from 'preact/hooks';
import { Button, View } from '../parts/elements.tsx';
import { TaskState, useTask } from '../parts/task.tsx';
import { useIdle } from '../parts/use-page.ts';
import { texts } from '../texts.ts';
import type { Invitation, PayeeAccounts, PayeeWallet } from '../wallet-port.ts';
import { InvitationView } from './before.tsx';
import { idleMs } from './open-account.tsx';

/** No payment runs. */
function isNeverBusy(): boolean {
  return false;
}

/**
 * @param code - of the link, secret
 * @param onDone - the invitation was accepted or left
 * @param onIdle - nobody uses the page: the account is to be locked
 */
export function InvitedView({
  accounts,
  wallet,
  code,
  onDone,
  onIdle,
}: {
  readonly accounts: Pick<PayeeAccounts, 'readInvitation'>;
  readonly wallet: Pick<PayeeWallet, 'identity' | 'enrol'>;
  readonly code: string;
  readonly onDone: () => void;
  readonly onIdle: () => void;
}) {
  const { invitation: words } = texts;
  const reading = useTask(words.problems);
  const [invitation, setInvitation] = useState<Invitation>();
  useIdle(idleMs, isNeverBusy, onIdle);
  const read = (): void =>
    reading.run(async () => setInvitation(await accounts.readInvitation(code)));
  useEffect(read, [code]);

  if (invitation === undefined) {
    return (
      <View title={words.title(undefined)}>
        <TaskState task={reading} />
        <Button isDisabled={reading.isBusy} onClick={read}>
          {words.again}
        </Button>
        <Button onClick={onDone}>{words.toAccount}</Button>
      </View>
    );
  }
  return (
    <InvitationView
      invitation={invitation}
      account={wallet.identity}
      onAccept={async () => {
        await wallet.enrol(code);
        onDone();
      }}
      onOther={onDone}
    />
  );
}
