import { describe, expect, it } from 'vitest';
import { R } from '../test/fund-batch.ts';
import { createSpend, subgroupOrder, toSpendInput } from '../test/spend.ts';
import { parseSpendCircuitInput } from './spend-input.ts';

const shape = { inputs: 2, outputs: 4 };
const input = toSpendInput(
  createSpend({ ...shape, levels: 32, windows: 31, depths: [7], payees: 2 }),
);

function refused(signal: string) {
  return expect.objectContaining({
    code: 'invalid_circuit_input',
    message: expect.stringContaining(signal),
  });
}

describe('the input of a spend circuit', () => {
  it('is read from BigInts and from decimal strings alike', () => {
    const text = JSON.parse(
      JSON.stringify(input, (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      ),
    );
    expect(parseSpendCircuitInput(text, shape)).toEqual(input);
    expect(parseSpendCircuitInput(input, shape)).toEqual(input);
  });

  it.each([
    'D',
    'z',
    'y',
    'assetId',
    'noteRoot',
    'eligibilityRoot',
    'secret',
    'changePx',
    'changePy',
  ] as const)('refuses an aliased %s (value + r)', (signal) => {
    const aliased = { ...input, [signal]: input[signal] + R };
    expect(() => parseSpendCircuitInput(aliased, shape)).toThrow(refused(signal));
  });

  it.each(['inputNonces', 'walletIds', 'px', 'py'] as const)(
    'refuses an aliased element of %s',
    (signal) => {
      const aliased = { ...input, [signal]: input[signal].with(1, R) };
      expect(() => parseSpendCircuitInput(aliased, shape)).toThrow(refused(`${signal}[1]`));
    },
  );

  it.each([
    ['withdrawAmount', { withdrawAmount: 2n ** 128n }],
    ['recipient', { recipient: 2n ** 160n }],
    ['deadline', { deadline: -1n }],
    ['sealedLo', { sealedLo: 2n ** 128n }],
    ['wyHi', { wyHi: 2n ** 128n }],
    ['rHi', { rHi: 2n ** 128n }],
    ['viewingKey', { viewingKey: subgroupOrder }],
    ['salt', { salt: 2n ** 248n }],
    ['blindingBits[3]', { blindingBits: input.blindingBits.with(3, 2n) }],
    ['blindingBits', { blindingBits: input.blindingBits.slice(1) }],
    ['inputEnabled[0]', { inputEnabled: [2n, 0n] }],
    ['inputAmounts[1]', { inputAmounts: [1n, 2n ** 128n] }],
    ['inputDepths[1]', { inputDepths: [7n, 33n] }],
    ['inputIndices[0]', { inputIndices: [2n ** 32n, 0n] }],
    ['inputSiblings', { inputSiblings: input.inputSiblings.slice(1) }],
    ['inputSiblings[1]', { inputSiblings: [input.inputSiblings[0], [1n]] }],
    ['changeAmount', { changeAmount: '01' }],
    ['amounts', { amounts: input.amounts.slice(1) }],
    ['leafIndices[2]', { leafIndices: input.leafIndices.with(2, 4n ** 10n) }],
    ['siblings[0]', { siblings: input.siblings.with(0, [[1n]]) }],
    ['secret', { secret: undefined }],
  ])('refuses %s out of range or shape', (signal, change) => {
    expect(() => parseSpendCircuitInput({ ...input, ...change } as never, shape)).toThrow(
      refused(signal),
    );
  });

  it('never names a value', () => {
    try {
      parseSpendCircuitInput({ ...input, salt: 2n ** 250n + 4_711n }, shape);
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toMatch(/\d{4}/);
    }
  });
});
