/**
 * Before a withdrawal without the platform: what it costs, what it makes public, and what it needs.
 *
 * @module
 */
import { useState } from 'preact/hooks';
import { Button, Notice, View } from '../parts/elements.tsx';
import { type Task, TaskState, useTask } from '../parts/task.tsx';
import { keepCircuit } from '../release/releases.ts';
import { texts } from '../texts.ts';
import { Silence } from './home.tsx';

export function ExitView({
  silentSinceMs,
  task,
  onLeave,
}: {
  readonly silentSinceMs: number | undefined;
  /** Of {@link onLeave}. */
  readonly task: Task;
  readonly onLeave: () => void;
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
      {silentSinceMs === undefined && navigator.serviceWorker?.controller && <Keep />}
      <Button isMain isDisabled={task.isBusy} onClick={onLeave}>
        {exit.begin}
      </Button>
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
