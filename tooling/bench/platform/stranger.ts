// A stranger's load on `/agent-edge/batches`: loops that ask for pages without a pause, spread over the keys that one wallet may have.
// In a thread of its own, so that reading the pages does not delay the sign-ins that are timed beside it.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { callAtWill, type LoadResult } from '../agent/load.ts';

export interface StrangerWork {
  readonly url: string;
  readonly chain: string;
  readonly keys: readonly string[];
  readonly loops: number;
  readonly seconds: number;
  /** The first leaf of each request is one of these, in turn. */
  readonly leaves: number;
}

export interface StrangerResult {
  readonly load: LoadResult;
  /** Requests by the status of their answer. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Runs the load in a thread. */
export function loadAsStranger(work: StrangerWork): Promise<StrangerResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: work });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function run({ url, chain, keys, loops, seconds, leaves }: StrangerWork) {
  const statuses: Record<string, number> = {};
  let index = 0;
  const load = await callAtWill(
    async () => {
      index += 1;
      // Another first leaf each time: a server that keeps whole answers must not keep one for each of them.
      const from = (index * 7) % leaves;
      const response = await fetch(`${url}/agent-edge/batches?chain=${chain}&from=${from}`, {
        headers: { authorization: `Bearer ${keys[index % keys.length] ?? ''}` },
      });
      await response.arrayBuffer();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      return [200, 403, 429].includes(response.status);
    },
    { callers: loops, seconds },
  );
  return { load, statuses } satisfies StrangerResult;
}

if (!isMainThread) {
  parentPort?.postMessage(await run(workerData as StrangerWork));
}
