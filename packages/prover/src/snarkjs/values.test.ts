// The arguments of a Solidity verifier, beside the text that snarkjs makes.
import * as snarkjs from 'snarkjs';
import { describe, expect, it } from 'vitest';
import { groth16 } from './groth16.ts';

/** Not a proof: every coordinate is another number, some shorter than a word. */
const proof = {
  pi_a: ['17', '340282366920938463463374607431768211456', '1'],
  pi_b: [
    ['5', '6'],
    ['7', '21888242871839275222246405745257275088548364400416034343698204186575808495616'],
    ['1', '0'],
  ],
  pi_c: ['8', '0', '1'],
  protocol: 'groth16',
  curve: 'bn128',
};
const signals = ['391', '0', String(2n ** 256n - 1n)];

/** All strings of digits in it, written otherwise. */
function rewrite(value: unknown, spell: (integer: bigint) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => rewrite(item, spell));
  }
  return typeof value === 'string' ? spell(BigInt(value)) : value;
}
function rewriteProof(spell: (integer: bigint) => unknown): object {
  const { pi_a, pi_b, pi_c } = proof;
  const points = Object.entries({ pi_a, pi_b, pi_c });
  return Object.fromEntries(points.map(([name, point]) => [name, rewrite(point, spell)]));
}

describe('exportSolidityCallData', () => {
  it.each<[string, (integer: bigint) => unknown]>([
    ['decimal strings', String],
    ['decimal strings with zeros in front', (integer) => `00${integer}`],
    ['BigInts', (integer) => integer],
    ['hexadecimal strings', (integer) => `0x${integer.toString(16)}`],
    ['capital hexadecimal strings', (integer) => `0x${integer.toString(16).toUpperCase()}`],
    ['safe integers', (integer) => (integer < 1000n ? Number(integer) : String(integer))],
  ])('takes %s as snarkjs does', async (_, spell) => {
    const expected = await snarkjs.groth16.exportSolidityCallData(proof, signals);
    const given = rewriteProof(spell);
    const written = rewrite(signals, spell) as string[];
    expect(await snarkjs.groth16.exportSolidityCallData(given, written)).toBe(expected);
    expect(await groth16.exportSolidityCallData(given, written)).toBe(expected);
  });

  it('takes no signals', async () => {
    expect(await groth16.exportSolidityCallData(proof, [])).toBe(
      await snarkjs.groth16.exportSolidityCallData(proof, []),
    );
  });

  // snarkjs makes a call of each, or of nearly each, that no verifier takes.
  it.each<[string, unknown]>([
    ['a word', 'one'],
    ['nothing', null],
    ['undefined', undefined],
    ['an empty string', ''],
    ['an array', ['1']],
    ['a boolean', true],
    ['0x alone', '0x'],
    ['a capital 0X', '0X11'],
    ['spaces', ' 7 '],
    ['a negative integer', -5n],
    ['a negative number', -5],
    ['a fraction', 1.5],
    ['an unsafe integer', 2 ** 53],
    ['2^256', 2n ** 256n],
    ['2^256 as text', String(2n ** 256n)],
    ['2^256 in hexadecimal', `0x1${'0'.repeat(64)}`],
  ])('refuses %s', async (_, wrong) => {
    const refused = { code: 'argument_invalid' };
    await expect(groth16.exportSolidityCallData(proof, [wrong])).rejects.toMatchObject(refused);
    const other = { ...proof, pi_a: [wrong, '1', '1'] };
    await expect(groth16.exportSolidityCallData(other, [])).rejects.toMatchObject(refused);
  });

  it('names arguments in the other order', async () => {
    await expect(groth16.exportSolidityCallData([], proof as never)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('The proof comes first.'),
    });
  });

  it.each<[string, object, unknown]>([
    ['without points', {}, []],
    ['without signals', proof, undefined],
  ])('refuses a call %s', async (_, given, written) => {
    await expect(groth16.exportSolidityCallData(given, written as unknown[])).rejects.toMatchObject(
      { code: 'argument_invalid' },
    );
  });
});
