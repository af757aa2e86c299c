// A holder does not enrol for a pool whose contracts are not the expected ones.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseOtherPools } from '@pool/operations';
import { expect, it, onTestFinished } from 'vitest';

const settings = { artifactsDir: undefined, artifactsManifest: undefined };

/** A node on which every address has the same code. */
async function startNode(code: string): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      const { id, method } = JSON.parse(body) as { readonly id: number; readonly method: string };
      response.setHeader('content-type', 'application/json');
      const result = method === 'eth_chainId' ? '0x7a69' : code;
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

function writeChains(rpcUrl: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'refuse-pools-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const chainsFile = join(folder, 'chains.json');
  const anvil = {
    family: 'evm',
    chainId: 31337,
    rpcUrl,
    pool: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    registry: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    deployedAtBlock: 0,
    finality: { kind: 'depth', blocks: 1 },
    maxRecipients: 16,
    tokens: {},
  };
  const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
  writeFileSync(chainsFile, JSON.stringify({ evidence, chains: { anvil } }));
  return chainsFile;
}

it('refuses to enrol where a contract has other code, or none', async () => {
  for (const code of ['0xfe', '0x']) {
    const chainsFile = writeChains(await startNode(code));
    await expect(refuseOtherPools({ ...settings, chainsFile })).rejects.toMatchObject({
      code: 'pool_code_differs',
    });
  }
});

it('refuses to enrol while the node does not answer, and names it', async () => {
  const chainsFile = writeChains('http://127.0.0.1:1/key');
  await expect(refuseOtherPools({ ...settings, chainsFile })).rejects.toMatchObject({
    code: 'chain_unreachable',
    message: expect.stringMatching(
      /^the node 127\.0\.0\.1:1 of chain anvil does not answer.*nothing was enrolled/,
    ),
  });
});

it('compares nothing without a chains file', async () => {
  await refuseOtherPools({ ...settings, chainsFile: '/does/not/exist' });
});
