// What a script reads of the gate's commands with --json.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCommand } from './fixtures/command-line.ts';

const home = mkdtempSync(join(tmpdir(), 'pool-approve-cli-'));
afterAll(() => rmSync(home, { recursive: true }));

it.each([
  ['doctor'],
  ['check', 'x'],
  ['pending'],
  ['manifests'],
  ['release', 'x', '--key-file', 'x'],
  ['deny', 'x'],
  ['ledger'],
  ['ledger', 'export'],
  ['ledger', 'import', 'x'],
  ['ledger', 'erase', '--by', 'x'],
  ['ledger', 'rebaseline', '--by', 'x'],
  ['policy', 'lint'],
  ['policy', 'propose', 'x'],
  ['policy', 'sign', 'x'],
  ['policy', 'apply', 'x'],
  ['audit', 'verify'],
  ['audit', 'list'],
  ['config', 'check'],
])('prints one envelope where there is no configuration: %s %s', async (...argv) => {
  const { code, out, err } = await runCommand({ home }, [...argv, '--json']);
  const { ok, error } = JSON.parse(out);
  expect([ok, err]).toEqual([false, `${error.code}: ${error.message}`]);
  expect(code).not.toBe(0);
});

it.each([
  ['pendig', '--json'],
  ['check', '--json'],
  ['ledger', 'erase', '--json'],
])('prints an envelope for wrong usage: %s %s %s', async (...argv) => {
  const { code, out } = await runCommand({ home }, argv);
  expect([code, JSON.parse(out)]).toEqual([
    1,
    {
      ok: false,
      error: { code: 'invalid_request', message: expect.not.stringContaining('error:') },
    },
  ]);
});
