// The notice of `send` about a destination that cannot pay gas: a fake RPC behind it, and the routes of the agent on a real socket.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '@pool/http-server';
import { createFakeHolder } from '@pool/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli.ts';
import { apiKey, createTestApp, loopbackToken, token } from '../../fixtures/test-app.ts';

/** A fake RPC that knows the chain and balances. @param balances - hex, by address in lower case */
async function serveRpc(balances: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  type Call = { readonly id: number; readonly method: string; readonly params: readonly string[] };
  const answer = ({ id, method, params: [first = ''] }: Call) => {
    if (method !== 'eth_getBalance') {
      return { jsonrpc: '2.0', id, result: '0x7a69' };
    }
    asked.push(first.toLowerCase());
    return { jsonrpc: '2.0', id, result: balances[first.toLowerCase()] };
  };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | readonly Call[];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify('map' in sent ? sent.map(answer) : answer(sent)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, close };
}

/** A configuration file that names a served agent. */
async function configure(changes: Readonly<Record<string, string>>) {
  const world = createTestApp();
  const server = await serveHttp((request, from) => world.app.fetch(request, from), {
    host: '127.0.0.1',
    port: 0,
    onRefused: () => undefined,
  });
  onTestFinished(() => server.close());
  const home = mkdtempSync(join(tmpdir(), 'pool-notice-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, 'loopback.token'), `${loopbackToken}\n`);
  const file = join(home, 'agent.env');
  const variables = {
    DISBURSE_PLATFORM_URL: 'https://pool.example/agent-edge',
    DISBURSE_PLATFORM_TOKEN: 'pool_edge_x',
    DISBURSE_HOME: home,
    DISBURSE_PORT: new URL(server.url).port,
    DISBURSE_TRANSFER_TOKEN: apiKey('transfer'),
    DISBURSE_SEND_TOKEN: apiKey('send'),
    ...changes,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  async function run(argv: readonly string[]) {
    let shown = '';
    const code = await runCli([...argv, '--env-file', file], {
      out: () => undefined,
      err: () => undefined,
      terminal: {
        isTty: false,
        write: (text) => {
          shown += text;
        },
      },
    });
    return { code, shown };
  }
  return { world, home, run };
}

it('says that the destination has no coin for gas, in a dry run too, and never fails because of it', async () => {
  const vault = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const { address, wallet } = createFakeHolder(1);
  const { world, home, run } = await configure({
    DISBURSE_HOLDER_PRIVATE_KEY: wallet.privateKey,
    DISBURSE_SEND_DESTINATIONS: `bank=${vault}`,
    DISBURSE_CHAIN: 'base',
  });
  const rpc = await serveRpc({ [vault.toLowerCase()]: '0x0', [address.toLowerCase()]: '0x1' });
  const chain = {
    family: 'evm',
    chainId: 31337,
    rpcUrl: rpc.url,
    pool: token,
    registry: token,
    deployedAtBlock: 0,
    finality: { kind: 'depth', blocks: 1 },
    maxRecipients: 3,
    tokens: { USDC: { address: token, decimals: 6 } },
  };
  const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { base: chain } }));
  const notice = `notice: ${vault} has no native coin on base`;
  for (const dryRun of [[], ['--dry-run']]) {
    const sent = await run(['send', '--amount', '6', '--to', 'bank', ...dryRun]);
    expect([sent.code, sent.shown]).toEqual([0, expect.stringContaining(notice)]);
  }
  // The holder's own wallet has coin.
  const own = await run(['send', '--amount', '6']);
  expect([own.code, own.shown]).toEqual([0, expect.not.stringContaining('notice:')]);
  expect(new Set(rpc.asked)).toEqual(new Set([vault.toLowerCase(), address.toLowerCase()]));
  const w = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;
  const others = ['transfer', '--to', w, '--amount', '6'];
  expect((await run(others)).shown).not.toContain('notice:');
  const attached = await run(['send', '--amount', '6', '--to', 'bank', '--key', 'k-9']);
  expect(attached.shown).not.toContain('notice:');
  await rpc.close();
  const unknown = await run(['send', '--amount', '6', '--to', 'bank']);
  expect([unknown.code, unknown.shown]).toEqual([0, expect.not.stringContaining('notice:')]);
  expect(world.state.spends).toHaveLength(6);
});
