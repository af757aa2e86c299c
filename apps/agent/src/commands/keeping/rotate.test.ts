// `disburse-agent rotate-viewing-key` against a platform and an agent in memory: the order of its steps, what it leaves when a step fails, and
// that the same command continues.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { exitCodes } from '@pool/pay-run';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { editEnvFile } from '../../../../../packages/configuration/src/edit-env-file.ts';
import { withPortProof } from '../../../../../packages/pay-run/src/fixtures/port-proofs.ts';
import encryptionVectors from '../../../../../vectors/encryption-key.json' with { type: 'json' };
import walletVectors from '../../../../../vectors/wallet-id.json' with { type: 'json' };
import { runCli } from '../../cli.ts';
import { type FakeAccounts, startFakeAccounts } from '../../fixtures/fake-accounts.ts';
import { ensureLoopbackToken } from '../../state/agent-home.ts';

const [wallet] = walletVectors.wallets.slice(-1);
const [next, first] = encryptionVectors.keys.slice(-2);
if (wallet === undefined || next === undefined || first === undefined) {
  throw new Error('the vectors have no keys');
}

let directory: string;
let home: string;
let source: string;
let keyFile: string;
let platform: FakeAccounts;
let agent: FakeAgent;
let loopbackToken: string;
let writeChains: (keys: readonly string[]) => void;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rotate-'));
  home = join(directory, 'home');
  source = join(directory, 'agent.env');
  keyFile = join(directory, 'new-key.json');
  mkdirSync(home);
  loopbackToken = ensureLoopbackToken(home).reveal();
  writeFileSync(keyFile, JSON.stringify({ scalar: next.viewingKey }));
  platform = await startFakeAccounts();
  platform.enrollment = {
    walletPub: wallet.walletPub,
    encryptionPublicKey: first.encryptionPublicKey,
  };
  agent = await startFakeAgent();
  const domain = new URL(platform.url).host;
  const token = { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', decimals: 6 };
  const chain = {
    family: 'evm',
    chainId: 31337,
    rpcUrl: 'http://127.0.0.1:9',
    pool: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    registry: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    deployedAtBlock: 0,
    finality: { kind: 'finalized-tag' },
    maxRecipients: 64,
    tokens: {
      USDC: token,
      EURC: { ...token, address: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9' },
    },
  };
  const evidence = { domain, uri: platform.url };
  writeChains = (keys) =>
    writeFileSync(
      join(home, 'chains.json'),
      JSON.stringify({
        evidence,
        chains: Object.fromEntries(
          keys.map((key, index) => [key, { ...chain, chainId: 31337 + index }]),
        ),
      }),
    );
  writeChains(['anvil']);
  configure({ DISBURSE_HOLDER_VIEWING_KEY: first.viewingKey });
});
afterEach(async () => {
  await platform.stop();
  await agent.stop();
  rmSync(directory, { recursive: true });
});

type Variables = Readonly<Record<string, string>>;

function configure(variables: Variables): void {
  const all = {
    DISBURSE_HOME: home,
    DISBURSE_PLATFORM_URL: `${platform.url}/agent-edge`,
    DISBURSE_PLATFORM_TOKEN: 'pool_edge_x',
    DISBURSE_TRANSFER_TOKEN: 'pool_live_transfer',
    DISBURSE_CHAIN: 'anvil',
    DISBURSE_PORT: String(agent.port),
    DISBURSE_HOLDER_PRIVATE_KEY: wallet?.privateKey ?? '',
    ...variables,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  writeFileSync(source, `# mine\n${lines.join('\n')}\nDISBURSE_SEND_MAX_AMOUNT=5 # a ceiling\n`);
}

async function rotate(...args: readonly string[]) {
  let printed = '';
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const code = await runCli(['rotate-viewing-key', '--env-file', source, ...args], {
    out: print,
    err: print,
    terminal: { isTty: false, write: print },
  });
  return { code, printed };
}

type FakeAgent = {
  readonly port: number;
  /** Steps that are left, by token; each answers with a receipt. */
  left: Record<string, number>;
  /** P that this agent runs with. */
  present: string;
  readonly steps: string[];
  /** Answered by the next counts of a token; `hang`: not answered. Afterwards nothing is held. */
  counts: Record<string, ('hang' | { readonly locked: number; readonly openChange: number })[]>;
  /** The steps revert. */
  isReverting: boolean;
  /** Rotations that the platform had been asked for at the last count and the first sweep. */
  registeredAtCount: number | undefined;
  registeredAtSweep: number | undefined;
  stop(): Promise<void>;
};

async function startFakeAgent(): Promise<FakeAgent> {
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '', 'http://agent');
    const [token = '', to = ''] = ['token', 'to'].map((name) => url.searchParams.get(name) ?? '');
    response.setHeader('content-type', 'application/json');
    if (to !== fake.present || url.pathname !== '/api/transfer/sweep') {
      response.statusCode = 409;
      response.end(JSON.stringify({ code: 'viewing_key_mismatch', message: 'restart it' }));
      return;
    }
    if (request.headers['x-disburse-command'] !== loopbackToken) {
      response.statusCode = 403;
      response.end(JSON.stringify({ code: 'forbidden', message: 'no command' }));
      return;
    }
    fake.steps.push(`${url.searchParams.get('dryRun') === 'true' ? 'count' : 'sweep'} ${token}`);
    if (url.searchParams.get('dryRun') === 'true') {
      fake.registeredAtCount = rotations().length;
      const held = fake.counts[token]?.shift() ?? { locked: 0, openChange: 0 };
      if (held !== 'hang') {
        response.end(JSON.stringify({ notes: fake.left[token] ?? 0, ...held }));
      }
      return;
    }
    fake.registeredAtSweep ??= rotations().length;
    const left = fake.left[token] ?? 0;
    fake.left[token] = fake.isReverting ? left : Math.max(0, left - 1);
    const receipt = {
      operation: 'transfer',
      ...(fake.isReverting
        ? { status: 'reverted', revertReason: { code: 'DeadlineExpired', message: 'too late' } }
        : { status: 'success' }),
      txHash: `0x${'11'.repeat(32)}`,
      nullifiers: [],
      changeAmount: '7',
    };
    response.end(JSON.stringify({ notes: left, locked: 0, ...(left > 0 ? { receipt } : {}) }));
  };
  const server: Server = createServer(withPortProof(new Secret(loopbackToken), listener));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const fake: FakeAgent = {
    port: (server.address() as AddressInfo).port,
    left: { USDC: 2 },
    present: next?.encryptionPublicKey ?? '',
    steps: [],
    counts: {},
    isReverting: false,
    registeredAtCount: undefined,
    registeredAtSweep: undefined,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return fake;
}

function rotations(): readonly string[] {
  return platform.calls.filter((call) => call.endsWith('/rotate-encryption-key'));
}

describe('rotate-viewing-key with a new key', () => {
  it('warns, writes the new configuration, and registers nothing yet', async () => {
    const { code, printed } = await rotate('--new-key', keyFile, '--yes');
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain(`from P ${first.encryptionPublicKey}`);
    expect(printed).toContain(`to   P ${next.encryptionPublicKey}`);
    expect(printed).toContain('Keep the earlier viewing key');
    expect(printed).toContain('restart the agent');
    expect(printed).not.toContain(first.viewingKey.slice(2));
    expect(printed).not.toContain(next.viewingKey.slice(2));
    const text = readFileSync(source, 'utf8');
    expect(text).toContain(`DISBURSE_HOLDER_VIEWING_KEY_FILE=${keyFile}\n`);
    expect(text).toContain(`DISBURSE_HOLDER_ENCRYPTION_PUBKEY=${next.encryptionPublicKey}\n`);
    expect(text).not.toContain(first.viewingKey);
    expect(text).toContain('# mine\n');
    expect(text).toContain('DISBURSE_SEND_MAX_AMOUNT=5 # a ceiling\n');
    const path = join(home, 'earlier-viewing-keys.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual([first.viewingKey]);
    expect([path, source].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(rotations()).toEqual([]);
    expect(agent.steps).toEqual([]);
  });

  it('keeps a derived key as derived, without writing it down', async () => {
    configure({});
    const { printed } = await rotate('--new-key', keyFile, '--yes');
    // The registered P is not the derived one.
    expect(printed).toContain('rotation_not_possible');
    const derived = /not the one|encryption key (0x[0-9a-f]{64})/.exec(printed)?.[1];
    expect(derived).toBe(first.encryptionPublicKey);
    const identity = await identify();
    platform.enrollment = { walletPub: wallet.walletPub, encryptionPublicKey: identity };
    expect((await rotate('--new-key', keyFile, '--yes')).code).toBe(exitCodes.ok);
    const path = join(home, 'earlier-viewing-keys.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(['derived']);
    expect((await rotate()).code).toBe(exitCodes.ok);
    expect(rotations()).toHaveLength(1);
  });

  async function identify(): Promise<string> {
    let printed = '';
    await runCli(['identity', '--env-file', source], {
      out: (text) => {
        printed += text;
      },
      err: () => undefined,
      terminal: { isTty: false, write: () => undefined },
    });
    return (JSON.parse(printed) as { encryptionPublicKey: string }).encryptionPublicKey;
  }

  it.each([
    ['without an answer to the question', [], 'nobody can answer here'],
    ['for a file that is no viewing key', ['--new-key', 'SOURCE', '--yes'], '--new-key must name'],
    ['for a file that is missing', ['--new-key', '/nowhere', '--yes'], 'cannot be read'],
  ])('changes nothing %s', async (_title, args, expected) => {
    const before = readFileSync(source, 'utf8');
    const given = args.map((arg) => (arg === 'SOURCE' ? source : arg));
    const { code, printed } = await rotate('--new-key', keyFile, ...given);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain(expected);
    expect(readFileSync(source, 'utf8')).toBe(before);
  });

  it('changes nothing if chains.json has two pools', async () => {
    writeChains(['anvil', 'base']);
    const before = readFileSync(source, 'utf8');
    const { printed } = await rotate('--new-key', keyFile, '--yes');
    expect(printed).toContain('pools on anvil, base');
    expect(readFileSync(source, 'utf8')).toBe(before);
  });

  it('refuses to begin from a registered key that no configured viewing key gives', async () => {
    platform.enrollment = {
      walletPub: wallet.walletPub,
      encryptionPublicKey: `0x${'a1'.repeat(32)}`,
    };
    const before = readFileSync(source, 'utf8');
    const { printed } = await rotate('--new-key', keyFile, '--yes');
    expect(printed).toContain('would be lost to this agent');
    expect(readFileSync(source, 'utf8')).toBe(before);
  });
});

describe('rotate-viewing-key on the new configuration', () => {
  beforeEach(async () => {
    await rotate('--new-key', keyFile, '--yes');
  });

  it('signs the evidence with the new P and registers it, then sweeps every token', async () => {
    const { code, printed } = await rotate();
    expect(code).toBe(exitCodes.ok);
    const counted = ['count EURC', 'count USDC'];
    const swept = ['sweep EURC', 'sweep USDC', 'sweep USDC', 'sweep USDC'];
    expect(agent.steps).toEqual([...counted, ...swept]);
    expect([agent.registeredAtCount, agent.registeredAtSweep]).toEqual([0, 1]);
    expect(rotations()).toHaveLength(1);
    expect(platform.signIns.at(-1)?.encryptionPublicKey).toBe(next.encryptionPublicKey);
    expect(platform.enrollment?.['encryptionPublicKey']).toBe(next.encryptionPublicKey);
    expect(printed).toContain('What remains to do');
    expect(printed).toContain('backup create');
    expect(printed).toContain(`with P ${first.encryptionPublicKey}, and read it with`);
    expect(printed).toContain('Do not rotate back');
  });

  it('registers only when no spend holds a note, and no change to the earlier key is unread', async () => {
    agent.counts = {
      EURC: [{ locked: 0, openChange: 1 }],
      USDC: [{ locked: 1, openChange: 0 }],
    };
    const { code, printed } = await rotate();
    expect(code).toBe(exitCodes.ok);
    const counted = ['count EURC', 'count EURC', 'count USDC', 'count USDC'];
    expect(agent.steps.slice(0, 5)).toEqual([...counted, 'sweep EURC']);
    expect([agent.registeredAtCount, agent.registeredAtSweep]).toEqual([0, 1]);
    expect(printed).toContain('a spend of EURC that began before is not final');
    expect(printed).toContain('(notes that it holds: 1, changes to an earlier key: 0); waiting');
  }, 20_000);

  it('waits while the agent reads the chain for the new key, longer than one request lasts', async () => {
    agent.counts = { EURC: ['hang'] };
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const short = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => timeout(ms === 240_000 ? 500 : ms));
    onTestFinished(() => short.mockRestore());
    const { code, printed } = await rotate();
    expect(printed).toContain('the agent is reading the chain; waiting\n');
    expect(code).toBe(exitCodes.ok);
    expect(agent.steps.slice(0, 3)).toEqual(['count EURC', 'count EURC', 'count USDC']);
  }, 20_000);

  it('ends with the reason of a step that reverted', async () => {
    agent.isReverting = true;
    const { code, printed } = await rotate();
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toMatch(/rotation_not_possible.*ended reverted.*DeadlineExpired: too late/s);
    expect(printed).not.toContain('moved 7');
    expect(agent.steps.filter((step) => step === 'sweep USDC')).toHaveLength(1);
  });

  it('moves nothing if the platform refuses the new P', async () => {
    const call = 'POST /api/employers/holder/rotate-encryption-key';
    platform.failures = [{ call, times: 1 }];
    expect((await rotate()).code).not.toBe(exitCodes.ok);
    expect(agent.steps).toEqual(['count EURC', 'count USDC']);
    expect(platform.enrollment?.['encryptionPublicKey']).toBe(first.encryptionPublicKey);
  });

  it('sweeps what has arrived since, without a second registration', async () => {
    await rotate();
    agent.left = { EURC: 1 };
    agent.steps.length = 0;
    expect((await rotate()).printed).toContain('P was registered before');
    expect(agent.steps).toEqual(['sweep EURC', 'sweep EURC', 'sweep USDC']);
    expect(rotations()).toHaveLength(1);
  });

  it('refuses to register a key for the notes of two chains, of which it moves one', async () => {
    writeChains(['anvil', 'base']);
    const { code, printed } = await rotate();
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toMatch(/rotation_not_possible.*pools on anvil, base/s);
    expect([agent.steps, rotations()]).toEqual([[], []]);
  });

  it('registers nothing while the agent runs with the earlier key, or does not run', async () => {
    agent.present = first.encryptionPublicKey;
    expect((await rotate()).printed).toContain('viewing_key_mismatch');
    await agent.stop();
    expect((await rotate()).printed).toContain('agent_unreachable');
    expect(rotations()).toEqual([]);
  });

  it('continues after a lost answer of the platform, and registers once', async () => {
    const call = 'POST /api/employers/holder/rotate-encryption-key';
    platform.failures = [{ call, times: 1, isDone: true }];
    expect((await rotate()).code).not.toBe(exitCodes.ok);
    const again = await rotate();
    expect(again.code).toBe(exitCodes.ok);
    expect(again.printed).toContain('P was registered before');
    expect(rotations()).toHaveLength(1);
  });

  it('tries again after a refusal of the platform', async () => {
    const call = 'POST /api/employers/holder/rotate-encryption-key';
    platform.failures = [{ call, times: 1 }];
    expect((await rotate()).code).not.toBe(exitCodes.ok);
    expect((await rotate()).code).toBe(exitCodes.ok);
    expect(rotations()).toHaveLength(2);
  });

  it('does not believe a platform that shows another P afterwards', async () => {
    platform.enrolled = { encryptionPublicKey: `0x${'a1'.repeat(32)}` };
    expect((await rotate()).printed).toContain('shows another W or P');
  });

  it('rotates back, with the keys exchanged', async () => {
    await rotate();
    const backFile = join(directory, 'back.json');
    writeFileSync(backFile, first.viewingKey);
    expect((await rotate('--new-key', backFile, '--yes')).code).toBe(exitCodes.ok);
    const path = join(home, 'earlier-viewing-keys.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual([next.viewingKey]);
    agent.present = first.encryptionPublicKey;
    expect((await rotate()).code).toBe(exitCodes.ok);
    expect(platform.enrollment?.['encryptionPublicKey']).toBe(first.encryptionPublicKey);
  });
});

describe('editEnvFile', () => {
  it('changes the named variables only, and is stable', () => {
    const text = '# A=1\nexport A=1\n\nB=2 # b\nC=3';
    const changes = { A: 'x', C: undefined, D: 'y', E: undefined };
    const once = editEnvFile(text, changes, 'added');
    expect(once).toBe('# A=1\nA=x\n\nB=2 # b\n# added\nD=y\n');
    expect(editEnvFile(once, changes, 'added')).toBe(once);
  });
});
