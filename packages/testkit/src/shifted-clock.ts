/**
 * A clock of a process that a test sets while the process runs: `Date` is shifted, timers and monotonic clocks are not. Node loads this file
 * before the program ({@link createTestClock}).
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

export type TestClock = {
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Minutes ahead of the machine's clock, or behind it if negative. */
  shift(minutes: number): void;
};

const variable = 'POOL_TEST_CLOCK';
const minuteMs = 60_000;
/** How soon a process notices. */
const pollMs = 50;

/** @param path - a file of the clock's own */
export function createTestClock(path: string): TestClock {
  function shift(minutes: number): void {
    // Renamed into place: a process reads the file at any time.
    writeFileSync(`${path}.new`, String(minutes * minuteMs));
    renameSync(`${path}.new`, path);
  }
  shift(0);
  return { env: { NODE_OPTIONS: `--import=${import.meta.url}`, [variable]: path }, shift };
}

function replaceClock(path: string): void {
  let shiftMs = 0;
  const read = (): void => {
    shiftMs = Number(readFileSync(path, 'utf8'));
  };
  read();
  setInterval(read, pollMs).unref();
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (_, given, target) =>
      Reflect.construct(Real, given.length === 0 ? [Real.now() + shiftMs] : given, target) as Date,
    apply: () => new Date().toString(),
    get: (_, name): unknown =>
      name === 'now' ? () => Real.now() + shiftMs : Reflect.get(Real, name),
  });
}

const path = process.env[variable];
if (path !== undefined) {
  replaceClock(path);
}
