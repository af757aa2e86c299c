import { type EvmAddress, PoolError, parseEvmAddress, parseHex32 } from '@pool/core';
import { beforeEach, expect, it } from 'vitest';
import { namePayers } from './payers.ts';

const token = parseEvmAddress('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359');
const acme = parseEvmAddress('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf');
const other = parseEvmAddress('0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb');
const [first, second, third] = ['1', '2', '3'].map((digit) =>
  parseHex32(`0x${digit.repeat(64)}`),
) as unknown as [string, string, string];

let stored: Readonly<Record<string, string>> | undefined;
let asked: string[];
let answers: Record<string, EvmAddress | undefined>;
beforeEach(() => {
  stored = undefined;
  asked = [];
  answers = { [first]: acme, [second]: other, [third]: undefined };
});

async function name(txHashes: readonly string[]): Promise<Readonly<Record<string, string>>> {
  return await namePayers(txHashes, token, {
    node: {
      async fetchFunder(txHash, asset) {
        expect(asset).toBe(token);
        asked.push(txHash);
        if (!Object.hasOwn(answers, txHash)) throw new PoolError('chain_unreachable', 'no answer');
        return answers[txHash];
      },
    },
    records: {
      find: async (asset) => (asset === token ? stored : undefined),
      async change(assets, change) {
        expect(assets).toEqual([token]);
        [stored] = change([stored]);
      },
    },
    inviters: [{ employer: 'Acme', employerAddress: acme, pool: token, acceptedAtMs: 0 }],
  });
}

it('names who funded a batch by the invitation of that address, else by the address', async () => {
  expect(await name([first, second, third])).toEqual({
    [first]: `Acme (${acme})`,
    [second]: other,
  });
});

it('asks the node once for each transaction, and again for what it did not say', async () => {
  delete answers[second];
  expect(await name([first, first, second, third])).toEqual({ [first]: `Acme (${acme})` });
  expect(asked).toEqual([first, second, third]);
  answers[second] = other;
  expect(await name([first, second, third])).toMatchObject({ [second]: other });
  expect(asked).toEqual([first, second, third, second]);
});
