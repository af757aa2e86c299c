// The files of deploy/ as an operator copies them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const command = fileURLToPath(new URL('../deploy/pool-approve', import.meta.url));
const script = readFileSync(command, 'utf8');
const unit = readFileSync(new URL('../deploy/pool-approve.service', import.meta.url), 'utf8');

it('pool-approve asks systemd for the user, the secrets and the directory of the service', () => {
  const directory = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    // A fake systemd-run prints what it is given, one argument a line.
    writeFileSync(join(directory, 'systemd-run'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', {
      mode: 0o755,
    });
    const { stdout, stderr } = spawnSync('/bin/sh', [command, 'ledger', '--by', 'two words'], {
      encoding: 'utf8',
      env: { PATH: `${directory}:/usr/bin:/bin` },
    });
    expect(stderr).toBe('');
    const given = stdout.trim().split('\n');
    const shared = /^(?:User|Group|LoadCredential|StateDirectory(?:Mode)?|UMask)=.*$/gm;
    const expected = [...unit.matchAll(shared)].map(([line]) => `--property=${line}`);
    expect(expected).toHaveLength(8);
    expect(given).toEqual(expect.arrayContaining(expected));
    expect(given.slice(-5)).toEqual(['/bin/sh', command, 'ledger', '--by', 'two words']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('pool-approve says that the program was deployed before it was built', () => {
  const env = { PATH: '/usr/bin:/bin', CREDENTIALS_DIRECTORY: '/nowhere' };
  const { status, stderr } = spawnSync('/bin/sh', [command, 'doctor'], { encoding: 'utf8', env });
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/dist\/main\.js is missing: it was deployed before it was built/),
  ]);
});

it('pool-approve names the same files of secrets as the unit, and those of custodian B', () => {
  const inUnit = [...unit.matchAll(/^Environment=(APPROVE_\w+_FILE)=%d\/(.+)$/gm)];
  const inScript = [...script.matchAll(/^name_file (APPROVE_\w+_FILE) (.+)$/gm)];
  const pairs = inScript.map(([, name, file]) => [name, file]);
  expect(pairs).toEqual(expect.arrayContaining(inUnit.map(([, name, file]) => [name, file])));
  const operations = readFileSync(
    new URL('../../../docs/operations/approve.md', import.meta.url),
    'utf8',
  );
  const inPage = [...operations.matchAll(/Environment=(APPROVE_CUSTODIAN_B_\w+_FILE)=%d\/(.+)$/gm)];
  expect(inPage).toHaveLength(4);
  expect(pairs).toEqual(expect.arrayContaining(inPage.map(([, name, file]) => [name, file])));
});
