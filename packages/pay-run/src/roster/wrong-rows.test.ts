// The rows of a roster that a person has to correct, or wants to pay apart.
import { expect, it } from 'vitest';
import { encodeWrongRows, pickRows } from './wrong-rows.ts';

const text = 'sep=;\r\nname;address;amount\r\nAnna;0x1;"1;5"\r\n\r\nBen;0x2;2\r\n"Carl;0x3;3';

it('lists the wrong rows with all their problems, as the file has them', () => {
  const problems = [
    { message: 'of no row' },
    { line: 3, column: 'amount', message: 'first' },
    { line: 3, column: 'address', message: '=second' },
    { line: 6, message: 'a quote is not closed' },
  ] as const;
  expect(encodeWrongRows(text, problems).split('\r\n')).toEqual([
    'line,problem,name,address,amount',
    '3,"amount: first; address: =second",Anna,0x1,"1;5"',
    '6,row: a quote is not closed,"""Carl;0x3;3"',
    '',
  ]);
});

it('keeps the first lines of a file and the rows that are wanted', () => {
  expect(pickRows(text, new Set([5]))).toBe('sep=;\nname;address;amount\nBen;0x2;2');
  expect(pickRows('address,amount\n0x1,1\n0x2,2\n', new Set([2]))).toBe('address,amount\n0x1,1');
});
