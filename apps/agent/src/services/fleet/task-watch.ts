/**
 * Asks the queue what became of tasks: one query for all that wait.
 *
 * @module
 */
import { type ProofQueue, taskTable } from './proof-queue.ts';

export type TaskRow = {
  readonly id: string;
  readonly state: 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed';
  /** A proof, or why there is none. */
  readonly output: unknown;
};

const everyMs = 250;

export function createTaskWatch({ boss, name }: Pick<ProofQueue, 'boss' | 'name'>): {
  /** The row after a moment; undefined if there is none. */
  read(id: string): Promise<TaskRow | undefined>;
} {
  let waiting: Promise<ReadonlyMap<string, TaskRow>> | undefined;
  let ids: string[] = [];

  async function readNext(): Promise<ReadonlyMap<string, TaskRow>> {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    const asked = ids;
    waiting = undefined;
    ids = [];
    const text = `select id, state, output from ${taskTable} where name = $1 and id = any($2::uuid[])`;
    const { rows } = await boss.getDb().executeSql(text, [name, asked]);
    return new Map(rows.map((row: TaskRow) => [row.id, row]));
  }

  return {
    async read(id) {
      ids.push(id);
      waiting ??= readNext();
      return (await waiting).get(id);
    },
  };
}
