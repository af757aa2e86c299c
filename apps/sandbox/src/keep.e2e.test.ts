// `npm start -- --keep`: the deployment stays up after the payment, with the payee's page, until Ctrl-C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const script = fileURLToPath(new URL('./main.ts', import.meta.url));

it('prints an invitation into the page, serves it with its keys, and ends with Ctrl-C', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-keep-'));
  const roster = join(directory, 'roster.csv');
  writeFileSync(roster, 'address,amount\n0x8EF31ED37e5320931Bf85677De447824a66c9991,500000000\n');
  const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
  const demo = [script, 'demo', '--keep', '--roster', roster, '--dir', directory];
  const child = spawn(process.execPath, [...options, ...demo]);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGINT');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  await expect.poll(() => text, { timeout: 600_000 }).toContain('Ctrl-C stops everything');
  const [page = ''] = /http:\/\/localhost:\d+\/payee\//.exec(text) ?? [];
  expect(text).toContain(`The payee’s page is at ${page} while this runs`);
  expect(text).toMatch(/\/payee\/#invite=\S+/);
  expect(await (await fetch(page)).text()).toContain('<div id="page">');
  for (const file of ['chains.json', 'sw.js', 'circuits/spend-2x4/proving-key.pzky']) {
    const answer = await fetch(new URL(file, page), { method: 'HEAD' });
    expect([file, answer.status]).toEqual([file, 200]);
  }

  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  await expect(fetch(page)).rejects.toThrow();
  expect(readdirSync(directory)).toEqual(['roster.csv']);
});
