/**
 * A withdrawal: where to, how much, what becomes public, what links it to a payslip, and the last look before it is sent.
 *
 * @module
 */
import { type EvmAddress, formatTokenAmount, type SpendReceipt } from '@pool/core';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { readAmountField } from '../model/amount-field.ts';
import {
  type DestinationWarning,
  type KnownAddress,
  readDestination,
} from '../model/destination.ts';
import { computeGasNeed } from '../model/gas.ts';
import { listPayslips } from '../model/months.ts';
import { AmountInput } from '../parts/amount-input.tsx';
import { Button, Code, Facts, Field, Notice, View } from '../parts/elements.tsx';
import { Earlier, type Task, TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type { PayeeWallet, Withdrawal, WithdrawalPlan } from '../wallet-port.ts';
import { formatCoin, GasRestView } from './exit.tsx';
import type { Account } from './home.tsx';
import { LinkWarning } from './link-warning.tsx';
import { WalletAddress } from './wallet-address.tsx';

type Reviewed = { readonly withdrawal: Withdrawal; readonly plan: WithdrawalPlan };

export function WithdrawView({
  wallet,
  account,
  saved,
  hasLeft,
  onSpent,
}: {
  readonly wallet: PayeeWallet;
  readonly account: Account;
  readonly saved: readonly EvmAddress[];
  /** The withdrawal is sent without the platform. */
  readonly hasLeft: boolean;
  readonly onSpent: () => void;
}) {
  const [reviewed, setReviewed] = useState<Reviewed>();
  /** What was typed before the review, for who goes back. */
  const [draft, setDraft] = useState<Withdrawal>();
  const [receipt, setReceipt] = useState<SpendReceipt>();
  const task = useTask();
  const unit = account.history;
  const { withdraw: words } = texts;
  async function review(withdrawal: Withdrawal): Promise<void> {
    setDraft(withdrawal);
    setReviewed({ withdrawal, plan: await wallet.planWithdrawal(withdrawal) });
  }
  if (receipt !== undefined && reviewed !== undefined) {
    const { amount } = reviewed.withdrawal;
    return (
      <Sent receipt={receipt} amount={formatTokenAmount(amount, unit)}>
        {hasLeft && <GasRestView wallet={wallet} to={reviewed.withdrawal.to} />}
      </Sent>
    );
  }
  if (reviewed === undefined) {
    return <WithdrawForm {...{ wallet, account, saved, hasLeft, draft }} onReview={review} />;
  }
  const { withdrawal, plan } = reviewed;
  const amount = formatTokenAmount(withdrawal.amount, unit);
  return (
    <View title={words.reviewTitle}>
      <Facts
        rows={[
          [words.amountLine, amount],
          [words.toLine, <Code key="to" text={withdrawal.to} />],
          ...(plan.gas === undefined
            ? [
                [
                  words.feeLine,
                  plan.feeAmount === 0n ? words.noFee : formatTokenAmount(plan.feeAmount, unit),
                ] as const,
              ]
            : []),
          [words.restLine, formatTokenAmount(plan.changeAmount, unit)],
        ]}
      />
      {plan.gas !== undefined && (
        <Gas gas={plan.gas} task={task} onCheck={() => task.run(() => review(withdrawal))} />
      )}
      <section>
        <h2>{words.public}</h2>
        <ul>
          {words.publicList(amount, withdrawal.to).map((line) => (
            <li key={line}>{line}</li>
          ))}
          {hasLeft && <li>{texts.exit.publicLine}</li>}
        </ul>
      </section>
      <p>{words.final}</p>
      <Earlier earlier={plan.earlier} />
      <Button
        isMain
        isDisabled={task.isBusy}
        onClick={() =>
          task.run(async (onProgress) => {
            const outcome = await wallet.withdraw(
              { ...withdrawal, known: plan.earlier },
              onProgress,
            );
            if ('earlier' in outcome) {
              setReviewed({ withdrawal, plan: { ...plan, ...outcome } });
              return;
            }
            setReceipt(outcome.receipt);
            onSpent();
          })
        }
      >
        {words.send}
      </Button>
      <Button isDisabled={task.isBusy} onClick={() => setReviewed(undefined)}>
        {texts.back}
      </Button>
      <TaskState task={task} />
    </View>
  );
}

/** Who pays the network without the platform, and whether it can. */
function Gas({
  gas,
  task,
  onCheck,
}: {
  readonly gas: NonNullable<WithdrawalPlan['gas']>;
  readonly task: Task;
  readonly onCheck: () => void;
}) {
  const { exit } = texts;
  const need = computeGasNeed(gas);
  return (
    <section>
      <Facts
        rows={[
          ...(need.kind === 'too-dear'
            ? []
            : [[texts.withdraw.feeLine, exit.fee(formatCoin(need.feeWei))] as const]),
          [exit.payer, <Code key="payer" text={gas.from} />],
          [exit.payerHas, formatCoin(gas.balanceWei)],
        ]}
      />
      {need.kind !== 'enough' && (
        <Notice kind="warning">
          <p>
            {need.kind === 'too-dear' ? exit.tooDear : exit.unfunded(formatCoin(need.missingWei))}
          </p>
          <Button isDisabled={task.isBusy} onClick={onCheck}>
            {texts.checkAgain}
          </Button>
        </Notice>
      )}
    </section>
  );
}

function WithdrawForm({
  wallet,
  account,
  saved,
  hasLeft,
  draft,
  onReview,
}: {
  readonly wallet: PayeeWallet;
  readonly account: Account;
  readonly saved: readonly EvmAddress[];
  readonly hasLeft: boolean;
  readonly draft: Withdrawal | undefined;
  readonly onReview: (withdrawal: Withdrawal) => Promise<void>;
}) {
  const task = useTask();
  const own = wallet.identity.address;
  const { history: unit, balance } = account;
  const [isOwn, setIsOwn] = useState(draft === undefined || draft.to === own);
  const [typed, setTyped] = useState(isOwn ? '' : String(draft?.to));
  const [text, setText] = useState(draft ? formatTokenAmount(draft.amount, unit) : '');
  const [isChecked, setIsChecked] = useState(false);
  const [signed, setSigned] = useState<readonly KnownAddress[]>([]);
  const { withdraw: words } = texts;
  const known: readonly KnownAddress[] = [
    { address: own, name: words.ownName },
    ...saved.map((address) => ({ address, name: words.usedName })),
    ...signed,
  ];
  const amount = readAmountField(text, unit, balance.total);
  const destination = readDestination(isOwn ? own : typed, known, wallet.contracts);
  const payslips = listPayslips(unit.entries).map((payslip) => ({
    amount: BigInt(payslip.amount),
    timeMs: Date.parse(payslip.time),
  }));
  return (
    <View title={hasLeft ? texts.exit.title : words.title}>
      {hasLeft && <Notice kind="note">{texts.exit.left}</Notice>}
      <fieldset>
        <legend>{words.where}</legend>
        <Choice name={words.own} isChosen={isOwn} onChoose={() => setIsOwn(true)} />
        <Choice name={words.other} isChosen={!isOwn} onChoose={() => setIsOwn(false)} />
      </fieldset>
      {isOwn ? (
        <Code text={own} />
      ) : (
        <>
          <Field
            label={words.address}
            value={typed}
            onValue={setTyped}
            problem={describeProblem(destination, isChecked)}
          />
          <WalletAddress
            onAddress={(address, wallet) => {
              setSigned([...signed, { address, name: words.browserWallet.name(wallet) }]);
              setTyped(address);
            }}
          />
          {saved.length > 0 && (
            <section>
              <h2>{words.saved}</h2>
              {saved.map((address) => (
                <Button key={address} onClick={() => setTyped(address)}>
                  <Code text={address} />
                </Button>
              ))}
            </section>
          )}
        </>
      )}
      {destination.kind === 'address' &&
        destination.warnings.map((warning) => (
          <Notice kind="warning" key={warning.kind}>
            {describeWarning(warning)}
          </Notice>
        ))}
      <AmountInput
        text={text}
        onText={setText}
        unit={unit}
        balance={balance}
        isChecked={isChecked}
      />
      {amount.kind === 'amount' && (
        <LinkWarning
          amount={amount.amount}
          unit={unit}
          payslips={payslips}
          onSuggestion={setText}
        />
      )}
      <Button
        isMain
        isDisabled={task.isBusy}
        onClick={() => {
          setIsChecked(true);
          if (amount.kind !== 'amount' || destination.kind !== 'address') return;
          const { address: to } = destination;
          task.run(() => onReview({ token: unit.symbol, amount: amount.amount, to }));
        }}
      >
        {words.review}
      </Button>
      <TaskState task={task} />
    </View>
  );
}

function Choice({
  name,
  isChosen,
  onChoose,
}: {
  readonly name: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  return (
    <label class="choice">
      <input type="radio" name="where" checked={isChosen} onChange={onChoose} />
      {name}
    </label>
  );
}

function describeProblem(
  destination: ReturnType<typeof readDestination>,
  isChecked: boolean,
): string | undefined {
  const { withdraw: words } = texts;
  switch (destination.kind) {
    case 'empty':
      return isChecked ? words.missing : undefined;
    case 'mistake':
      return words.problems[destination.problem];
    case 'address':
      return undefined;
  }
}

function describeWarning(warning: DestinationWarning): string {
  const { warnings } = texts.withdraw;
  return warning.kind === 'looks-like'
    ? warnings['looks-like'](warning.known.name, warning.known.address)
    : warnings[warning.kind];
}

function Sent({
  receipt,
  amount,
  children,
}: {
  readonly receipt: SpendReceipt;
  readonly amount: string;
  readonly children: ComponentChildren;
}) {
  const { withdraw: words } = texts;
  const isDone = receipt.status === 'success';
  return (
    <View title={isDone ? words.doneTitle : words.title}>
      {isDone ? <p>{words.done(amount)}</p> : <Notice kind="failure">{words.reverted}</Notice>}
      {receipt.txHash !== undefined && (
        <Facts rows={[[texts.payslip.transaction, <Code key="hash" text={receipt.txHash} />]]} />
      )}
      {children}
      <p>
        <a href="#home">{texts.nav.home}</a>
      </p>
    </View>
  );
}
