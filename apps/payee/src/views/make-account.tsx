/**
 * Making an account, or taking a restored one onto this device: the words, the trial of three of them, the passkey.
 *
 * @module
 */
import { useState } from 'preact/hooks';
import { chooseTrial, findWrongWords } from '../model/words-trial.ts';
import { Button, Field, Notice, View } from '../parts/elements.tsx';
import { TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type { AccountDraft, PasskeyOutcome, PayeeWallet } from '../wallet-port.ts';

type Step = 'words' | 'trial' | 'passkey';

export function MakeAccountView({
  draft,
  onOpen,
  onCancel,
}: {
  readonly draft: AccountDraft;
  readonly onOpen: (wallet: PayeeWallet) => void;
  readonly onCancel: () => void;
}) {
  const [step, setStep] = useState<Step>(draft.words === undefined ? 'passkey' : 'words');
  const words = draft.words ?? [];
  switch (step) {
    case 'words':
      return <Words words={words} onNext={() => setStep('trial')} onCancel={onCancel} />;
    case 'trial':
      return (
        <Trial
          draft={draft}
          words={words}
          onNext={() => setStep('passkey')}
          onBack={() => setStep('words')}
        />
      );
    case 'passkey':
      return <Passkey draft={draft} onOpen={onOpen} onCancel={onCancel} />;
  }
}

function Words({
  words,
  onNext,
  onCancel,
}: {
  readonly words: readonly string[];
  readonly onNext: () => void;
  readonly onCancel: () => void;
}) {
  const { account } = texts;
  return (
    <View title={account.wordsTitle}>
      <p>{account.wordsText}</p>
      <ol class="words" aria-label={account.words}>
        {Object.entries(words).map(([place, word]) => (
          <li key={place}>{word}</li>
        ))}
      </ol>
      <Button isMain onClick={onNext}>
        {account.wordsDone}
      </Button>
      <Button onClick={onCancel}>{texts.cancel}</Button>
    </View>
  );
}

function Trial({
  draft,
  words,
  onNext,
  onBack,
}: {
  readonly draft: AccountDraft;
  readonly words: readonly string[];
  readonly onNext: () => void;
  readonly onBack: () => void;
}) {
  const task = useTask();
  const [places] = useState(() =>
    chooseTrial(words.length, (length) => crypto.getRandomValues(new Uint8Array(length))),
  );
  const [typed, setTyped] = useState<readonly string[]>(places.map(() => ''));
  const [wrong, setWrong] = useState<readonly number[]>([]);
  const { account } = texts;
  return (
    <View title={account.trialTitle}>
      <p>{account.trialText}</p>
      {places.map((place, index) => (
        <Field
          key={place}
          label={account.trialWord(place + 1)}
          value={typed[index] ?? ''}
          onValue={(value) => setTyped(typed.with(index, value))}
        />
      ))}
      {wrong.length > 0 && (
        <Notice kind="failure">{account.trialWrong(wrong.map((place) => place + 1))}</Notice>
      )}
      <Button
        isMain
        isDisabled={task.isBusy}
        onClick={() => {
          const found = findWrongWords(words, places, typed);
          setWrong(found);
          if (found.length > 0) return;
          task.run(async () => {
            await draft.confirmWords(words);
            onNext();
          });
        }}
      >
        {texts.next}
      </Button>
      <Button onClick={onBack}>{account.showAgain}</Button>
      <TaskState task={task} />
    </View>
  );
}

function Passkey({
  draft,
  onOpen,
  onCancel,
}: {
  readonly draft: AccountDraft;
  readonly onOpen: (wallet: PayeeWallet) => void;
  readonly onCancel: () => void;
}) {
  const task = useTask();
  const [outcome, setOutcome] = useState<PasskeyOutcome>();
  const [hasSecondCopy, setHasSecondCopy] = useState(false);
  const { account } = texts;
  const finish = async (): Promise<void> => onOpen(await draft.finish());
  const make = (): void =>
    task.run(async () => {
      const made = await draft.addPasskey();
      setOutcome(made);
      if (made === 'added') await finish();
    });
  if (outcome === 'no-prf') {
    return (
      <View title={account.noPrfTitle}>
        <p>{account.noPrfText}</p>
        <Button isMain isDisabled={task.isBusy} onClick={make}>
          {account.otherPasskey}
        </Button>
        <label class="choice">
          <input
            type="checkbox"
            checked={hasSecondCopy}
            onChange={(event) => setHasSecondCopy(event.currentTarget.checked)}
          />
          {account.secondCopy}
        </label>
        <Button isDisabled={task.isBusy || !hasSecondCopy} onClick={() => task.run(finish)}>
          {account.withoutPasskey}
        </Button>
        <TaskState task={task} />
      </View>
    );
  }
  return (
    <View title={account.passkeyTitle}>
      <p>{account.passkeyText}</p>
      {outcome === 'cancelled' && <Notice kind="warning">{account.cancelled}</Notice>}
      {outcome === 'added' && <p role="status">{account.making}</p>}
      <Button isMain isDisabled={task.isBusy} onClick={make}>
        {account.makePasskey}
      </Button>
      <Button isDisabled={task.isBusy} onClick={onCancel}>
        {texts.cancel}
      </Button>
      <TaskState task={task} />
    </View>
  );
}
