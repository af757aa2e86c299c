// Arguments and failures of the command line.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunOptions, runCommand } from './fixtures/command-line.ts';
import { createWorldA, type WorldA } from './fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from './fixtures/gate-home.ts';
import { fundFile } from './fixtures/payroll.ts';

let world: WorldA;
let served: ServedGate;

beforeEach(async () => {
  world = await createWorldA();
  served = await serveTestGate(world.home);
});

afterEach(async () => {
  await served.close();
  await world.close();
});

async function run(argv: readonly string[], options: Omit<RunOptions, 'home'> = {}) {
  return await runCommand({ home: world.home.path, ...options }, argv);
}

it('shows the stack of an unexpected error to whoever asks for it', async () => {
  const input = JSON.stringify(fundFile());
  const fail = async (env: Readonly<Record<string, string>>) =>
    await run(['check', '-'], {
      input,
      env,
      nowMs: () => {
        throw new Error('the clock stands still');
      },
    });
  expect(await fail({})).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(
      /^internal_error: an unexpected error; APPROVE_LOG_LEVEL=debug in the environment/,
    ) as string,
  });
  const shown = /^internal_error: Error: the clock stands still\n +at /;
  expect((await fail({ APPROVE_LOG_LEVEL: 'debug' })).err).toMatch(shown);
  writeFileSync(join(world.home.path, 'approve.env'), 'APPROVE_LOG_LEVEL=trace\n');
  expect((await fail({})).err).toMatch(shown);
  expect((await fail({ APPROVE_LOG_LEVEL: 'loud' })).err).toMatch(/^invalid_configuration: /);
});

it('lints a policy from standard input', async () => {
  const input = readFileSync(join(world.home.path, 'policy.json'), 'utf8');
  expect(await run(['policy', 'lint', '-'], { input })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^standard input can be used \(sha256 [0-9a-f]{64}\)\.$/m) as string,
  });
  expect((await run(['policy', 'lint', '-'], { input: '{' })).err).toBe(
    'invalid_policy: standard input is not JSON',
  );
  expect((await run(['policy', 'lint', '-'], { input: '{}' })).err).toMatch(
    /^invalid_policy: standard input: /,
  );
});

it('tells a hash of the audit log that is mistyped from one that is missing', async () => {
  const { hash = '0x' } = served.gate.ledger.findAuditHead() ?? {};
  const verify = async (head: string) => await run(['audit', 'verify', '--head', head]);
  for (const head of [hash, hash.slice(2), hash.toUpperCase().replace('0X', '0x')]) {
    expect(await verify(head)).toMatchObject({ code: 0 });
  }
  for (const head of [hash.slice(0, -1), `${hash}00`, hash.replace(/.$/, 'g'), 'latest', '']) {
    expect(await verify(head)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/--head.* It must be a hash of 32 bytes, 64 hex char/) as string,
    });
  }
  expect(await verify('07'.repeat(32))).toMatchObject({
    code: 2,
    out: expect.stringMatching(/the end of the log was cut off/) as string,
  });
});
