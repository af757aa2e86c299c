import { bigintToHex32 } from '@pool/core';
import { expect, it } from 'vitest';
import { fetchNonceOutcome, type Receipt } from './receipt.ts';

const finalBlock = { number: 10, hash: bigintToHex32(1n), timestampSeconds: 0 };
const signed = { nonce: 3, txHashes: ['newest', 'oldest'] };

/** @param nonceAtFinal - transactions of the account up to the final block */
function chainWith(nonceAtFinal: number, receipts: Readonly<Record<string, Receipt>> = {}) {
  const reads: string[] = [];
  return {
    reads,
    fetchNonceAt: async (block: number) => {
      reads.push(`nonce at ${block}`);
      return nonceAtFinal;
    },
    fetchReceipt: async (txHash: string) => {
      reads.push(txHash);
      return receipts[txHash];
    },
  };
}

function minedIn(blockNumber: number, succeeded = true): Receipt {
  return { succeeded, blockNumber, gasUsed: 1n };
}

it('calls a nonce pending while nothing used it in a final block', async () => {
  expect(await fetchNonceOutcome(chainWith(3), signed, finalBlock)).toEqual({ kind: 'pending' });
});

it('calls a transaction mined until its block is final', async () => {
  const chain = chainWith(3, { oldest: minedIn(11) });
  expect(await fetchNonceOutcome(chain, signed, finalBlock)).toEqual({ kind: 'mined' });
});

it.each([true, false])('names the final transaction, succeeded: %s', async (succeeded) => {
  const receipt = minedIn(10, succeeded);
  const outcome = await fetchNonceOutcome(chainWith(4, { oldest: receipt }), signed, finalBlock);
  expect(outcome).toEqual({ kind: 'final', txHash: 'oldest', receipt });
});

it('calls a nonce replaced when another transaction used it in a final block', async () => {
  expect(await fetchNonceOutcome(chainWith(4), signed, finalBlock)).toEqual({ kind: 'replaced' });
});

it('reads the count at the final block before the receipts', async () => {
  const chain = chainWith(3);
  await fetchNonceOutcome(chain, signed, finalBlock);
  expect(chain.reads).toEqual(['nonce at 10', 'newest', 'oldest']);
});
