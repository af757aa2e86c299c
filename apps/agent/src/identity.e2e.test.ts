// The real binary prints the holder's identity and opens no connection, although every address in its configuration would answer.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNodeProcess } from '@pool/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import vectors from '../../../vectors/viewing-key.json' with { type: 'json' };

let home: string;
let server: Server;
let connections: number;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'identity-'));
  connections = 0;
  server = createServer((_, response) => response.end('{}'));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterEach(async () => {
  await new Promise((resolve) => {
    server.close(resolve);
  });
  rmSync(home, { recursive: true });
});

it('reads no network, stores nothing, and prints the same identity each time [identity.offline, command.identity]', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
  const chain = {
    family: 'evm',
    chainId: 31337,
    rpcUrl: url,
    pool: address,
    registry: address,
    deployedAtBlock: 0,
    finality: { kind: 'finalized-tag' },
    maxRecipients: 64,
    tokens: {},
  };
  const evidence = { domain: 'pool.example', uri: url };
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { anvil: chain } }));
  const printed: string[] = [];
  for (const round of [1, 2]) {
    const agent = startNodeProcess({
      name: 'identity',
      script: fileURLToPath(new URL('main.ts', import.meta.url)),
      args: ['identity'],
      logPath: join(home, `${round}.log`),
      env: {
        DISBURSE_HOME: home,
        DISBURSE_CHAIN: 'anvil',
        DISBURSE_PLATFORM_URL: `${url}/agent-edge`,
        DISBURSE_POOL_GATE_URL: url,
        DISBURSE_HOLDER_PRIVATE_KEY: vectors.derived[0]?.privateKey ?? '',
      },
    });
    try {
      expect(await agent.exited).toMatchObject({ code: 0 });
      printed.push(agent.output());
    } finally {
      await agent.stop();
    }
  }
  expect(JSON.parse(printed[0] ?? '')).toMatchObject({ platform: 'evm', signer: 'local-key' });
  expect(printed[1]).toBe(printed[0]);
  expect(connections).toBe(0);
  expect(readdirSync(home).sort()).toEqual(['1.log', '2.log', 'chains.json']);
});
