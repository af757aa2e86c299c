// The transactions that `send --self-submit` has signed, as the history reads them.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bigintToHex32, parseEvmAddress } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import { listSentHashes, openSentTransactions, sentTransactionsPath } from './sent-transactions.ts';

it('lists the hashes of one chain, and makes no file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pool-sent-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = sentTransactionsPath(folder);
  expect(listSentHashes(folder, 31337)).toEqual(new Set());
  expect(existsSync(path)).toBe(false);
  const sent = openSentTransactions(path);
  for (const [index, chainId] of [31337, 1, 31337].entries()) {
    await sent.add({
      ...{ chainId, outRoot: bigintToHex32(1n), nonce: index, rawTransaction: '0x02' },
      from: parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0'),
      txHash: bigintToHex32(BigInt(10 + index)),
      createdAtMs: index,
    });
  }
  expect(listSentHashes(folder, 31337)).toEqual(new Set([bigintToHex32(10n), bigintToHex32(12n)]));
  sent.close();
});
