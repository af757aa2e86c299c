// The gate as a process of its own, killed by SIGKILL around the sending of a vote, and started again on the same files.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openLedger } from '@pool/policy';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fundBody } from './fixtures/bodies.ts';
import { createWorldA, funderWallet, type WorldA } from './fixtures/custodian-a.ts';
import { manifestToken } from './fixtures/gate-home.ts';
import { chainId, chainsJson, fundFile } from './fixtures/payroll.ts';
import { ledgerPath } from './gate/gate-home.ts';

const main = fileURLToPath(new URL('../../../apps/approve/src/main.ts', import.meta.url));

let world: WorldA;
let node: Server;
const processes: ChildProcess[] = [];

/** A fake node: on its chain, no batch was funded or voided. */
function serveFakeNode(): Server {
  return createServer((request, response) => {
    void json(request).then((body) => {
      const { id, method } = body as { readonly id: number; readonly method: string };
      const word = `0x${'00'.repeat(32)}`;
      const result = method === 'eth_chainId' ? `0x${chainId.toString(16)}` : word;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
}

beforeEach(async () => {
  world = await createWorldA();
  node = serveFakeNode().listen(0, '127.0.0.1');
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  const anvil = { ...chainsJson.chains.anvil, rpcUrl: `http://127.0.0.1:${port}` };
  writeFileSync(
    join(world.home.path, 'chains.json'),
    JSON.stringify({ ...chainsJson, chains: { anvil } }),
  );
});

afterEach(async () => {
  for (const child of processes.splice(0)) {
    child.kill('SIGKILL');
  }
  node.close();
  node.closeAllConnections();
  await world.close();
});

/** @returns the process, and its URL when it listens */
async function startGate(fault = ''): Promise<{ readonly child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ['--conditions=@pool/source', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...world.variables(),
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      APPROVE_FAULT: fault,
      APPROVE_PORT: '0',
    },
  });
  processes.push(child);
  for await (const line of child.stdout ?? []) {
    const [, url] = /listens on (\S+)/.exec(String(line)) ?? [];
    if (url !== undefined) {
      return { child, url };
    }
  }
  throw new Error('the gate ended before it listened');
}

it.each([
  ['vote.before-send', []],
  ['vote.after-send', ['Approved']],
] as const)('a gate that is killed at %s votes once and counts once', async (fault, sent) => {
  const first = await startGate(fault);
  const ended = once(first.child, 'exit');
  const file = fundFile();
  const posted = await fetch(`${first.url}/v1/manifests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${manifestToken}` },
    body: JSON.stringify(file),
  });
  expect(posted.status).toBe(200);
  const id = await world.ask(funderWallet, fundBody(file));
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(world.votesOf(id)).toEqual(sent);

  const second = await startGate();
  const ledger = openLedger({ path: ledgerPath(world.home.path), role: 'operator' });
  try {
    await expect
      .poll(() => ledger.listOpenVotes().length, { interval: 10, timeout: 15_000 })
      .toBe(0);
    expect(world.statusOf(id)).toBe('Signed');
    expect(world.votesOf(id)).toEqual(['Approved']);
    const { counts } = ledger.exportHistory();
    expect(counts.reduce((sum, { amount }) => sum + amount, 0n)).toBe(300n);
    const { control } = world.custodian;
    expect(control.requests({ method: 'POST', path: '/decisions$' })).toHaveLength(1);
  } finally {
    ledger.close();
  }
  const stopped = once(second.child, 'exit');
  second.child.kill('SIGTERM');
  expect(await stopped).toEqual([0, null]);
});
