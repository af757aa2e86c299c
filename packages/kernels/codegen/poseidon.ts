// Poseidon permutations of any width (state words = inputs + 1), x^5, two at a time in the lanes. Rounds run in the form
// of L. Grassi et al., "Poseidon", USENIX Security 2021 (eprint 2019/458), appendix B: partial rounds multiply by a sparse matrix. The constants are arguments of the call:
//
//   fullConstants  8·t   added before the S-boxes of each full round
//   matrix         t·t   row by row
//   transition     t·t   replaces the matrix after full round 3
//   partialConstants P   added to word 0
//   sparse         P·2(t-1)  each partial round's first row and first column, without the corner matrix[0][0]
//
// all of them elements (40 bytes), one after another.

import { modulo } from './constants.ts';
import * as field from './field.ts';
import type { Pair } from './pair.ts';
import {
  advance,
  call,
  type FunctionWriter,
  get,
  i32,
  loopWhile,
  type ModuleWriter,
  op,
  plus,
  set,
  times,
} from './wat.ts';

const pair = field.pairBytes;
const element = field.elementBytes;
const halfFullRounds = 4;

/** Runs `body` `count` (an i32 expression, at least 1) times. */
function repeat(f: FunctionWriter, count: string, body: () => void): void {
  const left = f.let('i32', count);
  loopWhile(f, get(left), () => {
    body();
    f.push(set(left, op('i32.sub', get(left), i32(1))));
  });
  f.give(left);
}

/** A constant of the caller, in both lanes. */
function loadConstant(f: FunctionWriter, k: field.Field, pointer: string): Pair {
  return k.load(f, get(pointer), get(pointer));
}

/** (word + constant)^5. */
function raise(f: FunctionWriter, k: field.Field, word: Pair, added: Pair): Pair {
  const base = k.norm(f, field.add(f, word, added));
  const fourth = k.sqr(f, k.sqr(f, base));
  return k.mul(f, fourth, base);
}

/** A loop variable, always normalised, for a sum of products. */
function createSum(f: FunctionWriter, k: field.Field): Pair {
  return k.constant(f, 0n);
}

function accumulate(f: FunctionWriter, k: field.Field, sum: Pair, product: Pair): void {
  field.assign(f, sum, k.norm(f, field.add(f, sum, product)));
}

/** `poseidon_full(state, next, constants, matrix, width)`: next = matrix · (state + constants)^5; the contents of state are destroyed. */
function writeFullRound(module: ModuleWriter, k: field.Field): void {
  const params = ['state', 'next', 'constants', 'matrix', 'width'];
  module.func('poseidon_full', { params }, (f) => {
    const word = f.let('i32', get('state'));
    repeat(f, get('width'), () => {
      f.scope(() => {
        const value = k.loadPair(f, get(word));
        k.storePair(f, raise(f, k, value, loadConstant(f, k, 'constants')), get(word));
      });
      advance(f, pair, word);
      advance(f, element, 'constants');
    });
    repeat(f, get('width'), () => {
      f.scope(() => {
        const sum = createSum(f, k);
        f.push(set(word, get('state')));
        repeat(f, get('width'), () => {
          f.scope(() => {
            const value = k.loadPair(f, get(word));
            accumulate(f, k, sum, k.mul(f, value, loadConstant(f, k, 'matrix')));
          });
          advance(f, pair, word);
          advance(f, element, 'matrix');
        });
        k.storePair(f, sum, get('next'));
      });
      advance(f, pair, 'next');
    });
  });
}

/** `poseidon_partial(state, constants, sparse, matrix, width, rounds)`, in place. */
function writePartialRounds(module: ModuleWriter, k: field.Field): void {
  const params = ['state', 'constants', 'sparse', 'matrix', 'width', 'rounds'];
  module.func('poseidon_partial', { params }, (f) => {
    const others = f.let('i32', op('i32.sub', get('width'), i32(1)));
    const column = f.take('i32');
    const word = f.take('i32');
    repeat(f, get('rounds'), () => {
      f.scope(() => {
        const raised = { ...k.constant(f, 0n), ...k.stored };
        const sum = createSum(f, k);
        f.scope(() => {
          const first = k.loadPair(f, get('state'));
          field.assign(f, raised, raise(f, k, first, loadConstant(f, k, 'constants')));
          accumulate(f, k, sum, k.mul(f, raised, loadConstant(f, k, 'matrix')));
        });
        f.push(set(column, plus('sparse', times(others, element))));
        f.push(set(word, get('state')));
        repeat(f, get(others), () => {
          advance(f, pair, word);
          f.scope(() => {
            const value = k.loadPair(f, get(word));
            accumulate(f, k, sum, k.mul(f, value, loadConstant(f, k, 'sparse')));
            const change = k.mul(f, raised, loadConstant(f, k, column));
            k.storePair(f, k.norm(f, field.add(f, value, change)), get(word));
          });
          advance(f, element, 'sparse');
          advance(f, element, column);
        });
        k.storePair(f, sum, get('state'));
      });
      f.push(set('sparse', get(column)));
      advance(f, element, 'constants');
    });
  });
}

/** `poseidon_one(to, first, second, parameters, width, rounds, scratch)`: first and second are the lanes' inputs. */
function writeHash(module: ModuleWriter, k: field.Field): void {
  const params = ['to', 'first', 'second', 'parameters', 'width', 'rounds', 'scratch'];
  module.func('poseidon_one', { params }, (f) => {
    const state = f.let('i32', get('scratch'));
    const next = f.let('i32', plus('scratch', times('width', pair)));
    const constants = f.let('i32', get('parameters'));
    const rowBytes = f.let('i32', times('width', element));
    const squareBytes = f.let('i32', times('width', get(rowBytes)));
    const matrix = f.let('i32', plus('parameters', times(rowBytes, 2 * halfFullRounds)));
    const transition = f.let('i32', plus(matrix, get(squareBytes)));
    const partial = f.let('i32', plus(transition, get(squareBytes)));
    const sparse = f.let('i32', plus(partial, times('rounds', element)));
    f.scope(() => {
      k.storePair(f, k.constant(f, 0n), get(state));
      const word = f.let('i32', get(state));
      const factor = modulo(k.r * k.r, k.modulus);
      repeat(f, op('i32.sub', get('width'), i32(1)), () => {
        advance(f, pair, word);
        f.scope(() => {
          const raw = k.loadBytes(f, get('first'), get('second'));
          const value = k.mul(f, raw, k.constant(f, factor, true));
          k.storePair(f, value, get(word));
        });
        advance(f, 32, 'first');
        advance(f, 32, 'second');
      });
    });
    const swapped = f.take('i32');
    const fullRound = (mixer: string): void => {
      f.push(call('poseidon_full', ...[state, next, constants, mixer, 'width'].map(get)));
      f.push(set(constants, plus(constants, get(rowBytes))));
      f.push(set(swapped, get(state)));
      f.push(set(state, get(next)));
      f.push(set(next, get(swapped)));
    };
    for (let round = 1; round < halfFullRounds; round++) fullRound(matrix);
    fullRound(transition);
    f.push(
      call('poseidon_partial', ...[state, partial, sparse, matrix, 'width', 'rounds'].map(get)),
    );
    for (let round = 0; round < halfFullRounds; round++) fullRound(matrix);
    f.scope(() => {
      const plain = k.mul(f, k.loadPair(f, get(state)), k.constant(f, 1n, true));
      k.storeBytes(f, plain, get('to'), plus('to', i32(32)));
    });
  });
}

/**
 * `poseidon_hash(to, from, count, parameters, width, rounds, scratch)`: `count` pairs of hashes; 32-byte little-endian
 * numbers below r in and out, width-1 per hash. Scratch: 2·width pairs, erased at the end.
 */
function writeHashes(module: ModuleWriter): void {
  const params = ['to', 'from', 'count', 'parameters', 'width', 'rounds', 'scratch'];
  module.func('poseidon_hash', { exported: true, params }, (f) => {
    const bytes = f.let('i32', op('i32.mul', op('i32.sub', get('width'), i32(1)), i32(32)));
    repeat(f, get('count'), () => {
      const second = plus('from', get(bytes));
      const rest = ['parameters', 'width', 'rounds', 'scratch'].map(get);
      f.push(call('poseidon_one', get('to'), get('from'), second, ...rest));
      advance(f, 64, 'to');
      f.push(set('from', plus('from', times(bytes, 2))));
    });
    f.push(op('memory.fill', get('scratch'), i32(0), times('width', 2 * pair)));
  });
}

/** Writes `poseidon_hash`. `k` is BN254's scalar field. */
export function writePoseidon(module: ModuleWriter, k: field.Field): void {
  writeFullRound(module, k);
  writePartialRounds(module, k);
  writeHash(module, k);
  writeHashes(module);
}
