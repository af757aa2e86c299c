import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import binaryen from 'binaryen';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createThreads, type Threads } from './threads.ts';

const probe = `(module
  (import "host" "shared" (memory 1 16 shared))
  (func (export "spin") (param $turns i32)
    (loop $again
      (local.set $turns (i32.sub (local.get $turns) (i32.const 1)))
      (br_if $again (local.get $turns))))
  (func (export "add") (param $address i32) (param $value i32)
    (drop (i32.atomic.rmw.add (local.get $address) (local.get $value))))
  (func (export "set") (param $address i32) (param $value i32)
    (i32.store (local.get $address) (local.get $value)))
  (func (export "trap") unreachable)
  (func (export "forever") (loop $again (br $again))))`;

function assemble(): Uint8Array {
  const module = binaryen.parseText(probe);
  module.setFeatures(binaryen.Features.All);
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

const bytes = assemble();
const memory = new WebAssembly.Memory({ initial: 1, maximum: 16, shared: true });
const words = new Int32Array(memory.buffer);
const start = { module: new WebAssembly.Module(bytes), memory };
/** Number of turns that take about a millisecond. */
const moment = 1_000_000;

describe('threads', () => {
  let threads: Threads;
  beforeAll(async () => {
    threads = await createThreads(2, start);
  });
  afterAll(async () => {
    await threads.close();
  });

  it('runs every call of every task once', async () => {
    words.fill(0);
    let done = 0;
    const tasks = Array.from({ length: 500 }, (_, i) => [
      ['add', 0, i] as const,
      ['add', 4 + 4 * i, 1] as const,
    ]);
    await threads.run(tasks, {
      onTaskDone: () => {
        done += 1;
      },
    });
    expect(words[0]).toBe((499 * 500) / 2);
    expect([...words.slice(1, 501)]).toEqual(Array.from({ length: 500 }, () => 1));
    expect(done).toBe(500);
  });

  it('runs every task once if threads take over waiting tasks of others', async () => {
    const rounds = 400;
    words.fill(0);
    for (let round = 0; round < rounds; round += 1) {
      const run = (first: number) =>
        threads.run(
          Array.from({ length: 4 }, (_, i) => [
            ['add', 4 * (first + i), 1] as const,
            ['spin', 1 + ((round * 7919 + (first + i) * 104_729) % 60_000)] as const,
          ]),
        );
      await Promise.all([run(0), run(4), run(8)]);
    }
    expect([...words.slice(0, 12)]).toEqual(new Array(12).fill(rounds));
  });

  it('uses every thread, and passes a task the index of its thread', async () => {
    const seen = new Set<number>();
    await threads.run(
      Array.from({ length: 8 }, () => (thread: number) => {
        seen.add(thread);
        return [['spin', moment] as const];
      }),
    );
    expect([...seen].sort()).toEqual([0, 1]);
  });

  it('lets operations share the threads', async () => {
    const ended: string[] = [];
    const long = threads.run(Array.from({ length: 200 }, () => [['spin', moment]]));
    const short = threads.run([[['spin', moment]]]);
    await Promise.all([
      long.then(() => ended.push('long')),
      short.then(() => ended.push('short')),
      threads.run([]).then(() => ended.push('empty')),
    ]);
    expect(ended.at(0)).toBe('empty');
    expect(ended).toHaveLength(3);
  });

  it('gives threads that an earlier operation leaves idle to a later one', async () => {
    const own = await createThreads(2, start);
    onTestFinished(() => own.close());
    // A task that never ends occupies one thread. The other must not wait for it.
    const long = expect(own.run([[['forever']]])).rejects.toMatchObject({ code: 'kernels_closed' });
    await own.run(Array.from({ length: 3 }, () => [['spin', moment]]));
    await own.close();
    await long;
  });

  it('aborts between tasks with the reason, and settles after its tasks have ended', async () => {
    words.fill(0);
    const controller = new AbortController();
    const reason = new Error('enough');
    let done = 0;
    const run = threads.run(
      Array.from({ length: 1000 }, () => [['spin', moment] as const, ['add', 0, 1] as const]),
      {
        signal: controller.signal,
        onTaskDone: () => {
          done += 1;
          if (done === 5) controller.abort(reason);
        },
      },
    );
    await expect(run).rejects.toBe(reason);
    const after = words[0];
    expect(after).toBeLessThanOrEqual(9);
    await threads.run(Array.from({ length: 8 }, () => [['spin', moment]]));
    expect(words[0]).toBe(after);
    await expect(threads.run([[['add', 0, 1]]], { signal: controller.signal })).rejects.toBe(
      reason,
    );
  });

  it('fails an operation if its kernel traps or is missing, or if its callback throws; others continue', async () => {
    const good = threads.run(Array.from({ length: 50 }, () => [['spin', moment]]));
    await expect(threads.run([[['trap']]])).rejects.toMatchObject({ code: 'kernel_failed' });
    await expect(threads.run([[['nothing']]])).rejects.toMatchObject({ code: 'kernel_failed' });
    const thrown = new Error('from the caller');
    const callback = threads.run([[['spin', 1]]], {
      onTaskDone: () => {
        throw thrown;
      },
    });
    await expect(callback).rejects.toBe(thrown);
    const task = () => {
      throw thrown;
    };
    await expect(threads.run([task, task])).rejects.toBe(thrown);
    await good;
  });

  it('keeps the same size over a thousand operations', async () => {
    const { signal } = new AbortController();
    for (let i = 0; i < 1000; i += 1) await threads.run([[['add', 0, 1]]], { signal });
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 1000; i += 1) await threads.run([[['add', 0, 1]]], { signal });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 1_048_576);
  });
});

describe('a run that fails', () => {
  it('ends with the current call of each thread, not with the task', async () => {
    const threads = await createThreads(2, start);
    words.fill(0);
    const steps = 2000;
    const task = Array.from({ length: steps }, () => [
      ['spin', 10 * moment] as const,
      ['add', 0, 1] as const,
    ]).flat();
    const controller = new AbortController();
    const reason = new Error('enough');
    // Two tasks run and two wait. Behind them is another run, which must not be disturbed.
    const long = threads.run([task, task, task, task], { signal: controller.signal });
    const other = threads.run(Array.from({ length: 10 }, () => [['add', 4, 1]]));
    while (Atomics.load(words, 0) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort(reason);
    await expect(long).rejects.toBe(reason);
    const made = Atomics.load(words, 0);
    expect(made).toBeLessThan(2 * steps);
    await other;
    expect(Atomics.load(words, 1)).toBe(10);
    expect(Atomics.load(words, 0)).toBe(made);
    await threads.close();
  });
});

describe('a thread that dies', () => {
  it('fails the operation that it worked for with a retryable error, and is replaced', async () => {
    const workers: Worker[] = [];
    const collect = (worker: Worker) => workers.push(worker);
    process.on('worker', collect);
    const threads = await createThreads(2, start);
    process.off('worker', collect);
    words.fill(0);
    const dying = threads.run([[['forever']], [['spin', 1]]]);
    const outcome = expect(dying).rejects.toMatchObject({ code: 'thread_died', retryable: true });
    await workers[0]?.terminate();
    await outcome;
    const seen = new Set<number>();
    const task = (thread: number) => {
      seen.add(thread);
      return [['spin', moment] as const, ['add', 0, 1] as const];
    };
    await threads.run(Array.from({ length: 50 }, () => task));
    expect([...seen].sort()).toEqual([0, 1]);
    expect(words[0]).toBe(50);
    await threads.close();
  });
});

describe('the end of threads', () => {
  it('fails running and later operations when closed, and stops a kernel that never ends', async () => {
    const threads = await createThreads(2, start);
    const run = threads.run([[['forever']], [['forever']], [['forever']]]);
    const outcome = expect(run).rejects.toMatchObject({ code: 'kernels_closed' });
    await Promise.all([threads.close(), threads.close()]);
    await outcome;
    await expect(threads.run([[['spin', 1]]])).rejects.toMatchObject({ code: 'kernels_closed' });
  });

  it('refuses to start a module that does not fit the memory', async () => {
    const small = new WebAssembly.Memory({ initial: 1, maximum: 17, shared: true });
    await expect(
      createThreads(2, { module: new WebAssembly.Module(bytes), memory: small }),
    ).rejects.toMatchObject({ code: 'start_failed' });
  });

  it('does not keep an idle process alive, and keeps a working one alive', async () => {
    const script = `
      import { createThreads } from ${JSON.stringify(new URL('./threads.ts', import.meta.url).href)};
      const module = new WebAssembly.Module(Buffer.from('${Buffer.from(bytes).toString('base64')}', 'base64'));
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 16, shared: true });
      const threads = await createThreads(2, { module, memory });
      void threads.run(Array.from({ length: 20 }, () => [['spin', ${moment}]])).then(() => console.log('worked'));
      process.on('exit', () => console.log('left'));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { timeout: 20_000, cwd: fileURLToPath(new URL('.', import.meta.url)) },
    );
    expect(stdout).toBe('worked\nleft\n');
  });
});
