/**
 * The ways to open the account: its passkeys, and the files that open it in another browser.
 *
 * @module
 */
import { useEffect, useState } from 'preact/hooks';
import { download } from '../parts/download.ts';
import { Button, Field, Foreign, Notice, View } from '../parts/elements.tsx';
import { formatDate } from '../parts/format.ts';
import { TaskState, useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';
import type { Passkey, PasskeyOutcome, PayeePasskeys } from '../wallet-port.ts';
import { MakeBackup } from './backup-file.tsx';

export function PasskeysView({ passkeys }: { readonly passkeys: PayeePasskeys }) {
  const task = useTask();
  const [list, setList] = useState<readonly Passkey[]>();
  const [label, setLabel] = useState('');
  const [outcome, setOutcome] = useState<PasskeyOutcome>();
  const { passkeys: words } = texts;
  const read = async (): Promise<void> => setList(await passkeys.list());
  useEffect(() => task.run(read), []);
  const name = label.trim();
  return (
    <View title={words.title}>
      <p>{words.text}</p>
      {list?.length === 0 && <Notice kind="warning">{words.none}</Notice>}
      <ul class="cards">
        {list?.map((passkey) => (
          <li key={passkey.id}>
            <p>
              <strong>
                <Foreign text={passkey.label} />
              </strong>
            </p>
            <p class="hint">{words.madeOn(formatDate(passkey.madeAt))}</p>
            {list.length > 1 && (
              <Button
                isDisabled={task.isBusy}
                onClick={() =>
                  task.run(async () => {
                    await passkeys.remove(passkey.id);
                    await read();
                  })
                }
              >
                {words.remove(passkey.label)}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {list !== undefined && list.length > 0 && (
        <>
          <section>
            <h2>{words.addTitle}</h2>
            <p>{words.addText}</p>
            <Field label={words.label} value={label} onValue={setLabel} />
            {outcome !== undefined && (
              <Notice kind={outcome === 'added' ? 'note' : 'warning'}>
                {words.outcomes[outcome]}
              </Notice>
            )}
            <Button
              isMain
              isDisabled={task.isBusy || name === ''}
              onClick={() =>
                task.run(async () => {
                  const made = await passkeys.add(name);
                  setOutcome(made);
                  if (made === 'added') setLabel('');
                  await read();
                })
              }
            >
              {words.add}
            </Button>
          </section>
          <section>
            <h2>{words.fileTitle}</h2>
            <p>{words.fileText}</p>
            <Button
              isDisabled={task.isBusy}
              onClick={() =>
                task.run(async () =>
                  download(words.fileName, [await passkeys.exportFile()], 'application/json'),
                )
              }
            >
              {words.download}
            </Button>
          </section>
          <MakeBackup passkeys={passkeys} />
        </>
      )}
      <TaskState task={task} />
    </View>
  );
}
