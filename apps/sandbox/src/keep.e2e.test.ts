// The path of a newcomer: what README.md says under "Your own roster, token and policy", typed as it says it. The files and the commands are
// read out of that page. `--keep` is added: the deployment stays up after the payment, with the payee's page, until Ctrl-C.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { agentScript } from './processes/agent-process.ts';

const script = fileURLToPath(new URL('./main.ts', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));
const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
const section = 'Your own roster, token and policy';
const agentCommand = 'npx pnpm@10.34.9 --silent disburse-agent ';

const page = readFileSync(join(root, 'README.md'), 'utf8').split(`## ${section}\n`)[1] ?? '';
const text = page.slice(0, page.indexOf('\n## '));

/** The file that the page shows in a block of that kind. */
function readFileOf(kind: string): string {
  return new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? '';
}

/** The words of the one command of the page that begins so. */
function readCommand(beginning: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line.startsWith(`    ${beginning}`));
  expect(lines).toHaveLength(1);
  return (lines[0] ?? '').slice(4 + beginning.length).split(' ');
}

it('pays an own roster in an own token when a second person releases it, shows the page, and ends with Ctrl-C', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-keep-'));
  const agent = (words: readonly string[], home: string) =>
    promisify(execFile)(process.execPath, [...options, agentScript, ...words], {
      cwd: directory,
      env: { ...process.env, DISBURSE_HOME: home },
    });
  const made = await agent(readCommand(agentCommand), join(directory, 'nowhere'));
  const [publicKey = ''] = /0x[0-9a-f]{64}/.exec(made.stdout) ?? [];
  writeFileSync(join(directory, 'my.csv'), readFileOf('csv'));
  const policy = readFileOf('json').replace('0x…', publicKey);
  expect(policy).toContain(publicKey);
  writeFileSync(join(directory, 'policy.json'), policy);

  const start = readCommand('npm start -- ');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(scripts.start).toMatch(/apps\/sandbox\/src\/main\.ts demo$/);
  const typed = [script, 'demo', ...start, '--keep', '--dir', directory];
  const child = spawn(process.execPath, [...options, ...typed], {
    env: { ...process.env, INIT_CWD: directory },
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGINT');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const isOver = (): boolean => child.exitCode !== null || said.includes('Ctrl-C stops everything');
  const release = /DISBURSE_HOME='(.*)' npx pnpm@10.34.9 --silent disburse-agent (.*)\n/;
  await expect.poll(() => isOver() || release.test(said), { timeout: 600_000 }).toBe(true);
  expect(said).toMatch(release);
  expect(said).not.toContain('"state": "done"');
  const [, home = '', command = ''] = release.exec(said) ?? [];
  const words = command.replace('<key file>', 'ben.pem').split(' ');
  expect((await agent([...words, '--yes'], home)).stdout).toContain('released by Ben');

  await expect.poll(isOver, { timeout: 600_000 }).toBe(true);
  expect(said).toContain('The pool holds 2,501 GOLD on chain; the roster’s total is 2,501 GOLD.');
  const [url = ''] = /http:\/\/localhost:\d+\/payee\//.exec(said) ?? [];
  expect(said).toContain(`The payee’s page is at ${url} while this runs`);
  expect(said).toMatch(/\/payee\/#invite=\S+/);
  expect(await (await fetch(url)).text()).toContain('<div id="page">');
  for (const file of ['chains.json', 'sw.js', 'circuits/spend-2x4/proving-key.pzky']) {
    const answer = await fetch(new URL(file, url), { method: 'HEAD' });
    expect([file, answer.status]).toEqual([file, 200]);
  }

  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  await expect(fetch(url)).rejects.toThrow();
  expect(readdirSync(directory)).toEqual(['ben.pem', 'my.csv', 'policy.json']);
});
