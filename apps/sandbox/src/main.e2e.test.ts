// The commands themselves, as a person types them.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, readProcessIdentity } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxFile } from './stack/sandbox-file.ts';

const script = fileURLToPath(new URL('./main.ts', import.meta.url));

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pool-sandbox-'));
});
afterAll(async () => {
  await run('down', '--dir', directory);
  rmSync(directory, { recursive: true, force: true });
});

type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };

function run(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const options = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
    const child = execFile(process.execPath, [...options, script, ...args], (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? 1, stdout, stderr });
    });
  });
}

describe('sandbox up, status and down', () => {
  let file: SandboxFile;

  it('starts everything without other output, and writes the file that an outside client needs', async () => {
    const up = await run('up', '--holders', '2', '--json', '--dir', directory);
    expect(up).toMatchObject({ code: 0, stderr: '' });
    const path = join(directory, 'sandbox.json');
    expect(JSON.parse(up.stdout)).toMatchObject({ alreadyUp: false, sandboxFile: path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    file = JSON.parse(readFileSync(path, 'utf8')) as SandboxFile;
    expect(file).toMatchObject({
      chain: 'anvil',
      loopbackToken: expect.stringMatching(/^[0-9a-f]{64}$/),
      employer: { apiKeys: { disburse: expect.stringMatching(/^pool_live_/) } },
    });
    for (const url of [file.agentUrl, file.platformUrl, file.gateUrl, file.rpcUrl]) {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
    }
    expect(file.holders).toHaveLength(2);
    const fields = ['address', 'encryptionPublicKey', 'privateKey', 'viewingKey', 'walletPub'];
    expect(Object.keys(file.holders[0] ?? {}).sort()).toEqual(fields);
    expect((await fetch(`${file.agentUrl}/api/livez`)).status).toBe(200);
  });

  it('reports that it is already up, and starts nothing', async () => {
    const again = await run('up', '--dir', directory);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('already up');
    expect((await run('status', '--dir', directory)).code).toBe(0);
  });

  it('ends exactly the processes that it started, after a crash too', async () => {
    const agent = file.processes.find(({ name }) => name === 'agent')!;
    const others = file.processes.filter((process) => process !== agent);
    const identities = others.map(({ pid }) => readProcessIdentity(pid)!);
    process.kill(agent.pid, 'SIGKILL');
    await expect.poll(() => readProcessIdentity(agent.pid)).toBeUndefined();

    expect((await run('status', '--dir', directory)).code).toBe(3);
    const refused = await run('up', '--dir', directory);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('sandbox down');

    expect((await run('down', '--dir', directory)).stdout).toContain('3 processes ended');
    expect(identities.filter(isRunning)).toEqual([]);
    expect(existsSync(join(directory, 'sandbox.json'))).toBe(false);
    expect((await run('down', '--dir', directory)).stdout).toContain('Nothing was running');
  });
});

describe('demo', () => {
  it('prints every mistake of a roster, fails, and leaves nothing running', async () => {
    const roster = join(directory, 'bad.csv');
    writeFileSync(
      roster,
      'address,amount\nnobody,5\n0x8EF31ED37e5320931Bf85677De447824a66c9991,1.5\n0x000000000000000000000000000000000000dEaD,5\n',
    );
    const { code, stdout, stderr } = await run('demo', '--roster', roster, '--dir', directory);
    expect(code).toBe(1);
    expect(stderr).toContain('line 2, address: "nobody" is not an address');
    expect(stderr).toContain('line 3, amount: "1.5" is not a whole number of base units');
    // The wallet on that line may be paid, the one below has never signed in.
    expect(stderr).toContain('line 4, address: the recipient has not signed in and enrolled');
    expect(stdout).toContain('nobody was paid');
    const [own = ''] = readdirSync(directory).filter((name) => name.startsWith('demo-'));
    expect(readdirSync(join(directory, own))).toEqual(['logs']);
  });
});
