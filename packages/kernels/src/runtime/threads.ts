/**
 * The threads that run kernels, and the scheduling of their work.
 *
 * An operation submits tasks. A task is one or more short kernel calls. A call takes milliseconds, so that the engine switches to
 * optimised code and an abort takes effect soon: an aborted run ends with the calls in progress. A free thread takes the next
 * task. Running operations share the threads, earlier ones first, so that one fills the gaps of another. Each thread has one task
 * in progress and one waiting, which hides the latency of messages. A thread that would be idle takes over the waiting task of
 * another. An idle runtime does not keep the process alive.
 *
 * @module
 */
import { errorOf, KernelsError } from './errors.ts';
import { type KernelThread, startInlineThread, startKernelThread } from './kernel-thread.ts';
import { claim, type KernelCall, type ThreadStart } from './thread-messages.ts';
import { canShareMemory } from './thread-port.ts';

/**
 * Calls that one thread makes one after another. A function is called when the thread (0 … count-1) is known, to choose scratch
 * memory.
 */
export type KernelTask = readonly KernelCall[] | ((thread: number) => readonly KernelCall[]);

export type RunOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Called after each finished task. If it throws, the run fails with that error. */
  readonly onTaskDone?: (() => void) | undefined;
};

export type Threads = {
  readonly count: number;
  /**
   * Runs the tasks in any order and in parallel. Settles only when no task of the run is running any more, so that its memory may
   * be released, whether it succeeded or failed.
   * @throws the signal's reason; KernelsError `kernel_failed`, `thread_died`, `kernels_closed`
   */
  readonly run: (tasks: readonly KernelTask[], options?: RunOptions) => Promise<void>;
  /** Ends every thread. Running operations fail with `kernels_closed`. */
  readonly close: () => Promise<void>;
};

/** Maximum number of tasks that a thread has and has not answered. */
const tasksInHand = 2;
/** If this many threads die in a row, with no task finished in between, the runtime stops. */
const maximumDeaths = 8;

type Run = {
  readonly tasks: readonly KernelTask[];
  readonly onTaskDone: (() => void) | undefined;
  readonly settle: (failure: Error | undefined) => void;
  next: number;
  running: number;
  failure: Error | undefined;
};

type Order = {
  readonly run: Run;
  readonly task: KernelTask;
  readonly cell: number;
  /**
   * The order was given to another thread. Its cell stays taken until this thread has seen the order. If the cell were cleared
   * before, the order would run twice.
   */
  readonly isTakenBack: boolean;
};

/** The place of a thread. It gets a new thread when the thread dies. */
type Slot = {
  readonly index: number;
  thread: KernelThread | undefined;
  /** Orders that were sent and not answered, by id, oldest first. */
  readonly orders: Map<number, Order>;
};

/** Whether all tasks of the run have been given out. */
function isSpent(run: Run): boolean {
  return run.failure !== undefined || run.next >= run.tasks.length;
}

/**
 * @param wanted - number of threads. Without shared memory there is one: the calling thread
 * @param start.module - imports nothing but the memory
 * @throws KernelsError `start_failed`, `thread_file_missing`
 */
export async function createThreads(wanted: number, start: ThreadStart): Promise<Threads> {
  const isShared = canShareMemory() && start.memory.buffer instanceof SharedArrayBuffer;
  const count = isShared ? wanted : 1;
  const bytes = 4 * count * tasksInHand;
  const slots: readonly Slot[] = Array.from({ length: count }, (_, index) => ({
    index,
    thread: undefined,
    orders: new Map<number, Order>(),
  }));
  const claims = new Int32Array(isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  const runs = new Set<Run>();
  let started = false;
  let stopped: KernelsError | undefined;
  let lastId = 0;
  let deaths = 0;

  const setWorking = () => {
    for (const { thread } of slots) thread?.setWorking(runs.size > 0);
  };

  const settleIfOver = (run: Run) => {
    if (run.running > 0 || !isSpent(run) || !runs.delete(run)) return;
    setWorking();
    run.settle(run.failure);
  };

  /** Ends the outstanding orders of a failed run at their next call. */
  const cutShort = (run: Run) => {
    for (const { orders } of slots) {
      for (const order of orders.values()) {
        if (order.run === run && !order.isTakenBack)
          Atomics.store(claims, order.cell, claim.cutShort);
      }
    }
  };

  const fail = (run: Run, reason: unknown) => {
    run.failure ??= errorOf(reason);
    cutShort(run);
    settleIfOver(run);
  };

  const stop = (error: KernelsError) => {
    stopped ??= error;
    for (const run of [...runs]) fail(run, error);
  };

  const give = (slot: Slot, run: Run, task: KernelTask) => {
    try {
      const calls = typeof task === 'function' ? task(slot.index) : task;
      lastId += 1;
      const used = [...slot.orders.values()].map((order) => order.cell);
      const first = slot.index * tasksInHand;
      const cell = used.includes(first) ? first + 1 : first;
      Atomics.store(claims, cell, claim.waiting);
      slot.thread?.send({ id: lastId, cell, calls });
      slot.orders.set(lastId, { run, task, cell, isTakenBack: false });
      run.running += 1;
    } catch (reason) {
      fail(run, reason);
    }
  };

  /** Takes back an order that its thread has not begun. */
  const takeBack = (): Order | undefined => {
    for (const { orders } of slots) {
      if (orders.size < tasksInHand) continue;
      const [id, order] = [...orders].at(-1) ?? [];
      if (id === undefined || order === undefined || order.isTakenBack) continue;
      if (Atomics.compareExchange(claims, order.cell, claim.waiting, claim.taken) !== claim.waiting)
        continue;
      orders.set(id, { ...order, isTakenBack: true });
      order.run.running -= 1;
      return order;
    }
    return undefined;
  };

  /** Gives out waiting tasks, first to the threads with the fewest orders, until no task waits or no thread accepts more. */
  const dispatch = () => {
    for (let inHand = 0; inHand < tasksInHand; inHand += 1) {
      for (const slot of slots) {
        if (slot.orders.size !== inHand) continue;
        const run = [...runs].find((candidate) => !isSpent(candidate));
        const task = run?.tasks[run.next];
        if (run !== undefined && task !== undefined) {
          run.next += 1;
          give(slot, run, task);
        } else if (inHand === 0) {
          const order = takeBack();
          if (order === undefined) return;
          give(slot, order.run, order.task);
        }
      }
    }
  };

  const onDone = ({ orders }: Slot, id: number, failure: string | undefined) => {
    const order = orders.get(id);
    const run = order?.isTakenBack === false ? order.run : undefined;
    orders.delete(id);
    deaths = 0;
    if (run !== undefined) {
      run.running -= 1;
      if (failure !== undefined) {
        const error = new KernelsError('kernel_failed', `a kernel stopped: ${failure}`);
        run.failure ??= error;
        cutShort(run);
      }
    }
    // The threads continue before callbacks run.
    dispatch();
    if (run === undefined) return;
    try {
      if (run.failure === undefined) run.onTaskDone?.();
    } catch (reason) {
      run.failure = errorOf(reason);
      cutShort(run);
    }
    settleIfOver(run);
  };

  const onExit = (slot: Slot, cause: unknown) => {
    const lost = [...slot.orders.values()].flatMap((order) =>
      order.isTakenBack ? [] : [order.run],
    );
    slot.orders.clear();
    for (const run of lost) run.running -= 1;
    const died = 'a kernel thread ended unexpectedly; try again';
    const error = stopped ?? new KernelsError('thread_died', died, { retryable: true, cause });
    for (const run of lost) fail(run, error);
    deaths += 1;
    if (deaths >= maximumDeaths) {
      const dying = 'kernel threads die repeatedly; close these kernels and create new ones';
      stop(new KernelsError('thread_died', dying, { cause }));
    }
    if (stopped !== undefined || !started) return;
    void begin(slot).catch(() => undefined);
    setWorking();
    dispatch();
  };

  const begin = (slot: Slot): Promise<void> => {
    slot.thread = (isShared ? startKernelThread : startInlineThread)(
      { ...start, claims },
      {
        onDone: (id, failure) => {
          onDone(slot, id, failure);
        },
        onExit: (cause) => {
          onExit(slot, cause);
        },
      },
    );
    return slot.thread.ready;
  };

  const close = async () => {
    // Stop first, so that nothing more is given out: a thread that has ended would never answer an order.
    stop(new KernelsError('kernels_closed', 'the kernels are closed'));
    await Promise.all(slots.map(async ({ thread }) => thread?.end()));
  };

  const run: Threads['run'] = (tasks, { signal, onTaskDone } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) throw errorOf(signal.reason);
      if (stopped !== undefined) throw stopped;
      const abort = () => {
        fail(added, signal?.reason);
      };
      const added: Run = {
        tasks,
        onTaskDone,
        settle: (failure) => {
          signal?.removeEventListener('abort', abort);
          if (failure === undefined) resolve();
          else reject(failure);
        },
        next: 0,
        running: 0,
        failure: undefined,
      };
      signal?.addEventListener('abort', abort, { once: true });
      runs.add(added);
      setWorking();
      dispatch();
      settleIfOver(added);
    });

  try {
    await Promise.all(slots.map((slot) => begin(slot)));
  } catch (cause) {
    await close();
    if (cause instanceof KernelsError) throw cause;
    throw new KernelsError('start_failed', 'a kernel thread could not start', { cause });
  }
  started = true;
  setWorking();
  return { count, run, close };
}
