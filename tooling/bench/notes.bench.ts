// Our hashing compared with poseidon-lite's, the reference of the vectors, and the hashes that a batch requires.
import { assertField } from '@pool/core';
import { computeBatchRoot, createLeanImt, poseidon } from '@pool/notes';
import { poseidon2, poseidon6 } from 'poseidon-lite';
import type { BenchFile } from './rates.ts';

function numbers(count: number) {
  return Array.from({ length: count }, (_, index) => assertField(BigInt(index + 1) ** 5n));
}

export const bench: BenchFile = {
  title: 'notes: hashes and trees',
  add(bench) {
    const pair = numbers(2);
    const six = numbers(6);
    const sixteen = numbers(16);
    const sixtyFour = numbers(64);
    const thousand = numbers(1000);
    bench
      .add('H_2, ours', () => {
        poseidon(pair);
      })
      .add('H_2, poseidon-lite', () => {
        poseidon2(pair);
      })
      .add('H_6 (a commitment), ours', () => {
        poseidon(six);
      })
      .add('H_6 (a commitment), poseidon-lite', () => {
        poseidon6(six);
      })
      .add('batch root of 16', () => {
        computeBatchRoot(sixteen);
      })
      .add('batch root of 64', () => {
        computeBatchRoot(sixtyFour);
      })
      .add('note tree of 1,000 batches', () => {
        createLeanImt(thousand);
      });
  },
};
