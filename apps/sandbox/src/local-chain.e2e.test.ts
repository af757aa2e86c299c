// By default the chain prints the keys of its funded accounts, and its log is kept.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anvilBinary, anvilMnemonic, findFreePorts, startProcess } from '@pool/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { anvilArguments, chainId, readChainId } from './chain/local-chain.ts';

it('keeps keys and mnemonic out of the chain’s log', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-chain-log-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [port = 0] = await findFreePorts(1);
  const logPath = join(directory, 'chain.log');
  const chain = startProcess({
    name: 'chain',
    command: anvilBinary(),
    args: anvilArguments(port),
    logPath,
  });
  onTestFinished(() => chain.stop());
  await expect.poll(() => readChainId(`http://127.0.0.1:${port}`)).toBe(chainId);
  await chain.stop();
  const log = readFileSync(logPath, 'utf8');
  expect(log).not.toContain(anvilMnemonic);
  expect(log).not.toMatch(/0x[0-9a-fA-F]{64}/);
  expect(log).not.toMatch(/mnemonic|private key/i);
});
