import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

it('a command whose reader ended stops without a stack trace', async () => {
  const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...options, main, '--help']);
  // Long before the first line.
  child.stdout.destroy();
  const [errors, ended] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(errors).toBe('');
  expect(ended).toEqual([0, null]);
});
