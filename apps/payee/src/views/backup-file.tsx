/**
 * The file that opens the account with a password: making it, trying it, and opening an account by it.
 *
 * @module
 */
import { useEffect, useState } from 'preact/hooks';
import { findPasswordProblem } from '../model/password.ts';
import { download } from '../parts/download.ts';
import { Button, Field, FileField, Notice } from '../parts/elements.tsx';
import { formatDate } from '../parts/format.ts';
import { TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type { PayeePasskeys } from '../wallet-port.ts';

/** A larger file is none of an account, and is not read whole. */
const maxBytes = 1024 * 1024;

/** Making a file and trying it, for an account that this browser keeps. */
export function MakeBackup({ passkeys }: { readonly passkeys: PayeePasskeys }) {
  const task = useTask();
  const [triedAt, setTriedAt] = useState<string>();
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [step, setStep] = useState<'choose' | 'try' | 'tried'>('choose');
  const { backup: words } = texts;
  const read = async (): Promise<void> => setTriedAt(await passkeys.backupTriedAt());
  useEffect(() => task.run(read), []);
  const problem = findPasswordProblem(password, repeated);
  return (
    <section>
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      {triedAt !== undefined && <p class="hint">{words.triedOn(formatDate(triedAt))}</p>}
      {step === 'tried' && <Notice kind="note">{words.tried}</Notice>}
      {step === 'try' ? (
        <OpenBackup
          label={words.made}
          submit={words.try}
          onOpen={async (backup, typed) => {
            await passkeys.tryBackup(backup, typed);
            setStep('tried');
            await read();
          }}
        />
      ) : (
        <>
          <Field
            isSecret
            label={words.newPassword}
            value={password}
            onValue={setPassword}
            hint={words.strength}
          />
          <Field
            isSecret
            label={words.again}
            value={repeated}
            onValue={setRepeated}
            problem={repeated === '' || problem === undefined ? undefined : words.problems[problem]}
          />
          <Button
            isDisabled={task.isBusy || problem !== undefined}
            onClick={() =>
              task.run(async () => {
                const backup = await passkeys.makeBackup(password);
                download(words.fileName, [new Uint8Array(backup)], 'application/octet-stream');
                setPassword('');
                setRepeated('');
                setStep('try');
              })
            }
          >
            {words.make}
          </Button>
        </>
      )}
      <TaskState task={task} />
    </section>
  );
}

/** A file and its password, as a person chooses and types them. */
export function OpenBackup({
  label,
  submit,
  onOpen,
}: {
  readonly label: string;
  readonly submit: string;
  readonly onOpen: (backup: Uint8Array, password: string) => Promise<void>;
}) {
  const task = useTask(texts.backup.failures);
  const [file, setFile] = useState<File>();
  const [password, setPassword] = useState('');
  const { backup: words } = texts;
  return (
    <>
      <FileField label={label} accept="" isDisabled={task.isBusy} onFile={setFile} />
      <Field isSecret label={words.password} value={password} onValue={setPassword} />
      <Button
        isDisabled={task.isBusy || file === undefined || password === ''}
        onClick={() =>
          task.run(async () => {
            const bytes = await file?.slice(0, maxBytes).arrayBuffer();
            await onOpen(new Uint8Array(bytes ?? []), password);
          })
        }
      >
        {submit}
      </Button>
      <TaskState task={task} />
    </>
  );
}
