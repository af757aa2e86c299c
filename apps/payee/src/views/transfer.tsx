/**
 * A payment inside the pool, to a contact.
 *
 * @module
 */
import { formatTokenAmount, type SpendReceipt } from '@pool/core';
import { useId, useState } from 'preact/hooks';
import { readAmountField } from '../model/amount-field.ts';
import { AmountInput } from '../parts/amount-input.tsx';
import { Button, Field, Notice, View } from '../parts/elements.tsx';
import { Earlier, TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type { Contact, Known, PayeeTransfers } from '../wallet-port.ts';
import type { Account } from './home.tsx';

export function TransferView({
  transfers,
  account,
  contacts,
  onContact,
  onSpent,
}: {
  readonly transfers: PayeeTransfers;
  readonly account: Account;
  readonly contacts: readonly Contact[];
  readonly onContact: (contact: Contact) => void;
  readonly onSpent: () => void;
}) {
  const task = useTask();
  const id = useId();
  const [label, setLabel] = useState('');
  const [text, setText] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  /** Of the label and the text. */
  const [earlier, setEarlier] = useState<Known['known']>();
  const [paid, setPaid] = useState<{ readonly receipt: SpendReceipt; readonly done: string }>();
  const { transfer: words } = texts;
  const { history: unit, balance } = account;
  const amount = readAmountField(text, unit, balance.total);
  const contact = contacts.find((one) => one.label === label);
  if (paid !== undefined) {
    return (
      <View title={words.title}>
        {paid.receipt.status === 'success' ? (
          <p role="status">{paid.done}</p>
        ) : (
          <Notice kind="failure">{words.reverted}</Notice>
        )}
        <p>
          <a href="#home">{texts.nav.home}</a>
        </p>
      </View>
    );
  }
  return (
    <View title={words.title}>
      <p>{words.text}</p>
      {contacts.length === 0 ? (
        <p>{words.none}</p>
      ) : (
        <div class="field">
          <label for={id}>{words.to}</label>
          <select
            id={id}
            value={label}
            onChange={(event) => {
              setEarlier(undefined);
              setLabel(event.currentTarget.value);
            }}
          >
            <option value="">{words.choose}</option>
            {contacts.map((one) => (
              <option key={one.label} value={one.label}>
                {one.label}
              </option>
            ))}
          </select>
          {isChecked && contact === undefined && (
            <p class="problem" role="alert">
              {words.missing}
            </p>
          )}
        </div>
      )}
      <AmountInput
        text={text}
        onText={(typed) => {
          setEarlier(undefined);
          setText(typed);
        }}
        unit={unit}
        balance={balance}
        isChecked={isChecked}
      />
      <Earlier earlier={earlier} />
      <Button
        isMain
        isDisabled={task.isBusy || contacts.length === 0}
        onClick={() => {
          setIsChecked(true);
          if (contact === undefined || amount.kind !== 'amount') return;
          const { walletPub } = contact;
          task.run(async (onProgress) => {
            const recipients = [{ walletPub, amount: amount.amount }];
            const outcome = await transfers.transfer(
              { token: unit.symbol, recipients, known: earlier },
              onProgress,
            );
            if ('earlier' in outcome) {
              setEarlier(outcome.earlier);
              return;
            }
            const done = words.done(formatTokenAmount(amount.amount, unit), contact.label);
            setPaid({ receipt: outcome.receipt, done });
            onSpent();
          });
        }}
      >
        {words.send}
      </Button>
      <TaskState task={task} />
      <AddContact transfers={transfers} onContact={onContact} />
    </View>
  );
}

function AddContact({
  transfers,
  onContact,
}: {
  readonly transfers: PayeeTransfers;
  readonly onContact: (contact: Contact) => void;
}) {
  const task = useTask();
  const [label, setLabel] = useState('');
  const [walletPub, setWalletPub] = useState('');
  const { transfer: words } = texts;
  return (
    <section>
      <h2>{words.add}</h2>
      <Field label={words.label} value={label} onValue={setLabel} />
      <Field label={words.walletPub} value={walletPub} onValue={setWalletPub} />
      <Button
        isDisabled={task.isBusy || label.trim() === '' || walletPub.trim() === ''}
        onClick={() =>
          task.run(async () => {
            onContact(await transfers.addContact(label.trim(), walletPub.trim()));
            setLabel('');
            setWalletPub('');
          })
        }
      >
        {words.save}
      </Button>
      <TaskState task={task} />
    </section>
  );
}
