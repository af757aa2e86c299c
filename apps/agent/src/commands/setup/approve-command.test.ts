import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('a command of the gate reads standard input, as with `pool-approve`', () => {
  const main = new URL('../../main.ts', import.meta.url).pathname;
  const argv = ['--conditions=@pool/source', main, 'approve', 'policy', 'lint', '-'];
  const { status, stderr } = spawnSync(process.execPath, argv, {
    input: '{}',
    encoding: 'utf8',
    env: { HOME: '/nowhere' },
  });
  expect(stderr).toMatch(/^invalid_policy: standard input: policy is malformed/);
  expect(status).toBe(1);
});

it('names the version of Node that it needs, where Node has no node:sqlite', () => {
  const main = new URL('../../main.ts', import.meta.url).pathname;
  const argv = ['--no-experimental-sqlite', '--conditions=@pool/source', main, 'approve', '--help'];
  const { status, stderr } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    env: { HOME: '/nowhere' },
  });
  expect(stderr).toMatch(
    /^disburse-agent approve needs Node >=22\.18 with node:sqlite, and this is Node \S+; install a newer Node\n$/,
  );
  expect(status).toBe(1);
});
