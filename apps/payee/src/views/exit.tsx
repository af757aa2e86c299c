/**
 * Before a withdrawal without the platform: what it costs, what it makes public, and what it needs.
 *
 * @module
 */
import { type EvmAddress, formatTokenAmount } from '@pool/core';
import { useEffect, useState } from 'preact/hooks';
import { roundDown } from '../model/gas.ts';
import { download } from '../parts/download.ts';
import { Button, Code, FileField, Notice, View } from '../parts/elements.tsx';
import { type Task, TaskState, useTask } from '../parts/task.tsx';
import { keepCircuit } from '../release/releases.ts';
import { texts } from '../texts.ts';
import type { GasRest, ImportedNotes, PayeeWallet } from '../wallet-port.ts';
import { Silence } from './home.tsx';

export function ExitView({
  wallet,
  saved,
  silentSinceMs,
  hasLeft,
  task,
  onLeave,
  onNotes,
}: {
  readonly wallet: PayeeWallet;
  /** Addresses that got withdrawals. */
  readonly saved: readonly EvmAddress[];
  readonly silentSinceMs: number | undefined;
  readonly hasLeft: boolean;
  /** Of {@link onLeave}. */
  readonly task: Task;
  readonly onLeave: () => void;
  /** Notes were added. */
  readonly onNotes: () => void;
}) {
  const { exit } = texts;
  return (
    <View title={exit.title}>
      <Silence sinceMs={silentSinceMs} />
      <p>{exit.intro}</p>
      {exit.lists.map(({ title, lines }) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      ))}
      <NotesFile wallet={wallet} onNotes={onNotes} />
      {hasLeft && saved.map((to) => <GasRestView key={to} wallet={wallet} to={to} />)}
      {silentSinceMs === undefined && !hasLeft && navigator.serviceWorker?.controller && <Keep />}
      {hasLeft ? (
        <p>
          <a href="#withdraw">{exit.toWithdrawal}</a>
        </p>
      ) : (
        <Button isMain isDisabled={task.isBusy} onClick={onLeave}>
          {exit.begin}
        </Button>
      )}
      <TaskState task={task} />
    </View>
  );
}

/** For the day on which nobody serves them. */
function Keep() {
  const { exit } = texts;
  const task = useTask();
  const [isKept, setIsKept] = useState<boolean>();
  return (
    <>
      <Button
        isDisabled={task.isBusy || isKept === true}
        onClick={() => task.run(async () => setIsKept(await keepCircuit()))}
      >
        {exit.keep}
      </Button>
      {isKept === true && <p role="status">{exit.kept}</p>}
      {isKept === false && <Notice kind="failure">{exit.notKept}</Notice>}
      <TaskState task={task} />
    </>
  );
}

/** Coin of the account that paid the fee, and the way to get it. @param to - got a withdrawal */
export function GasRestView({
  wallet,
  to,
}: {
  readonly wallet: Pick<PayeeWallet, 'planGasRest' | 'sendGasRest'>;
  readonly to: EvmAddress;
}) {
  const { exit } = texts;
  const task = useTask();
  const [rest, setRest] = useState<GasRest>();
  const [txHash, setTxHash] = useState<string>();
  useEffect(() => task.run(async () => setRest(await wallet.planGasRest(to))), [to]);
  return (
    <section>
      <h2>{exit.restTitle}</h2>
      {rest !== undefined && txHash === undefined && (
        <>
          <p>{exit.rest(formatCoin(rest.balanceWei))}</p>
          {rest.sendableWei === 0n ? (
            <p>{exit.restTooSmall}</p>
          ) : (
            <>
              <p>{exit.restText}</p>
              <Code text={to} />
              <Button
                isDisabled={task.isBusy}
                onClick={() => task.run(async () => setTxHash(await wallet.sendGasRest(to)))}
              >
                {exit.restSend(formatCoin(roundDown(rest.sendableWei)))}
              </Button>
            </>
          )}
        </>
      )}
      {txHash !== undefined && (
        <p role="status">
          {exit.restSent} <Code text={txHash} />
        </p>
      )}
      <TaskState task={task} />
    </section>
  );
}

/** @param wei - of the chain's own coin */
export function formatCoin(wei: bigint): string {
  return formatTokenAmount(wei, { symbol: texts.exit.coin, decimals: 18 });
}

/** What only the browser has that was open while the platform was there. */
function NotesFile({
  wallet,
  onNotes,
}: {
  readonly wallet: Pick<PayeeWallet, 'exportNotes' | 'importNotes'>;
  readonly onNotes: () => void;
}) {
  const { exit } = texts;
  const task = useTask();
  const [imported, setImported] = useState<ImportedNotes>();
  return (
    <section>
      <h2>{exit.notesTitle}</h2>
      <p>{exit.notesText}</p>
      <Button
        isDisabled={task.isBusy}
        onClick={() =>
          task.run(async () =>
            download(exit.notesName, [await wallet.exportNotes()], 'application/json'),
          )
        }
      >
        {exit.notesDownload}
      </Button>
      <FileField
        label={exit.notesAdd}
        isDisabled={task.isBusy}
        onFile={(file) =>
          task.run(async () => {
            setImported(await wallet.importNotes(await file.text()));
            onNotes();
          })
        }
      />
      {imported !== undefined && <p role="status">{exit.notesAdded(imported)}</p>}
      <TaskState task={task} />
    </section>
  );
}
