import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

it('names the version of Node that it needs, where Node has no node:sqlite', async () => {
  const options = ['--no-experimental-sqlite', '--conditions=@pool/source'];
  const child = spawn(process.execPath, [...options, main, '--help']);
  const [errors, ended] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(errors).toMatch(
    /^pool-approve needs Node >=22\.18 with node:sqlite, and this is Node \S+; install a newer Node\n$/,
  );
  expect(ended).toEqual([1, null]);
});

it('a command whose reader ended stops without a stack trace', async () => {
  const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...options, main, '--help']);
  // Long before the first line.
  child.stdout.destroy();
  const [errors, ended] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(errors).toBe('');
  expect(ended).toEqual([0, null]);
});
