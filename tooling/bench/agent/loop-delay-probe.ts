// Loaded into a measured process with `--import`, so that the process itself needs no code for it: on SIGUSR2 it writes how late the
// event loop's turns were since the last time, and starts again. Only the program named in BENCH_PROBE_PROGRAM is measured, neither its
// threads nor processes that it starts.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds. A timer of one millisecond is watched, so an idle loop shows a little more than one. */
export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

const file = process.env['BENCH_PROBE_FILE'];
const program = process.env['BENCH_PROBE_PROGRAM'];
if (isMainThread && file !== undefined && program !== undefined && process.argv[1] === program) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGUSR2', () => {
    const found: LoopDelay = {
      p99Ms: delay.percentile(99) / 1e6,
      maxMs: delay.max / 1e6,
    };
    delay.reset();
    // Renamed into place, so that a waiting reader never reads a part of the file.
    writeFileSync(`${file}.new`, JSON.stringify(found));
    renameSync(`${file}.new`, file);
  });
}
