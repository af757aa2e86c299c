// The Solidity tests, as tests of Vitest: Forge runs once, and each of its tests is one here.
import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { findForge } from './forge.ts';

type Suites = Readonly<
  Record<
    string,
    {
      readonly test_results: Readonly<
        Record<string, { readonly status: string; readonly reason: string | null }>
      >;
    }
  >
>;

/** Forge's report. It ends with 1 if a test failed. Throws if it wrote none, as after a failed compilation. */
function runForge(): Promise<Suites> {
  return new Promise((resolve, reject) => {
    execFile(
      findForge(),
      ['test', '--json'],
      { cwd: new URL('..', import.meta.url), maxBuffer: 1 << 28 },
      (error, stdout, stderr) => {
        const start = stdout.indexOf('{"');
        if (start >= 0) resolve(JSON.parse(stdout.slice(start)));
        else
          reject(new Error(`forge wrote no report: ${error?.message ?? ''}\n${stdout}${stderr}`));
      },
    );
  });
}

describe.each(Object.entries(await runForge()))('%s', (_suite, { test_results: tests }) => {
  it.each(Object.entries(tests))('%s', (_name, { status, reason }) => {
    expect({ status, reason }).toEqual({ status: 'Success', reason: null });
  });
});
