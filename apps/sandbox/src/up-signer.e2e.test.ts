// `sandbox up --signer`: the custodian and its gate stay up, and the commands of the gate work beside it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSandboxFile } from './stack/sandbox-file.ts';

const sandbox = fileURLToPath(new URL('./main.ts', import.meta.url));
const gate = fileURLToPath(new URL('../../approve/src/main.ts', import.meta.url));

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pool-sandbox-'));
});
afterAll(async () => {
  await run(sandbox, ['down', '--dir', directory]);
  rmSync(directory, { recursive: true, force: true });
});

function run(script: string, args: readonly string[], approveHome = '') {
  const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning', script];
  const env = { ...process.env, ...(approveHome === '' ? {} : { APPROVE_HOME: approveHome }) };
  return new Promise<{ readonly code: number; readonly stdout: string }>((resolve) => {
    const child = execFile(process.execPath, [...options, ...args], { env }, (_, stdout) => {
      resolve({ code: child.exitCode ?? 1, stdout });
    });
  });
}

it('starts custodian and gate, names the directory of the gate, and ends both', async () => {
  const up = await run(sandbox, ['up', '--signer', 'custodian_b', '--dir', directory]);
  const home = join(directory, 'approve-b-home');
  expect(up.stdout).toMatch(/^ {2}signer {7}custodian_b$/m);
  expect(up.stdout).toContain(`  approveHome  ${home}\n`);
  const { processes = [], approveHome } = readSandboxFile(directory) ?? {};
  expect(processes.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['custodian-b', 'approve-b', 'agent']),
  );
  const doctor = await run(gate, ['doctor'], approveHome);
  expect(doctor.stdout).toContain('Every check passed: the gate cannot be gone around.');
  expect(await run(gate, ['pending'], approveHome)).toMatchObject({
    code: 0,
    stdout: 'Nothing waits.\n',
  });
  const down = await run(sandbox, ['down', '--dir', directory]);
  expect(down.stdout).toContain(`${processes.length} processes ended`);
});
