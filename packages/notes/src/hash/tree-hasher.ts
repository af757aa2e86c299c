/**
 * Hashing of trees off the caller's thread: levels with many nodes go to a thread of the kernels, small ones are hashed here, because
 * a message to the thread costs more. A level of a hundred thousand nodes is passed in parts, so that no turn of the event loop is long.
 *
 * @module
 */
import type { Field } from '@pool/core';
import { createScanKernels, type OpenScanKernels } from '@pool/kernels';
import { poseidon } from './poseidon.ts';
import { hashPoseidonMany } from './scan-poseidon.ts';

/** `H_k` of each row, all rows of one length. */
export type HashMany = (rows: readonly (readonly Field[])[]) => Promise<readonly Field[]>;

/** `H_2` of each pair. */
export type HashPairs = (pairs: readonly (readonly [Field, Field])[]) => Promise<readonly Field[]>;

export type TreeHasher = {
  readonly hashMany: HashMany;
  /** Ends the thread. */
  close(): Promise<void>;
};

/** Below, a hash of 0.1 to 0.3 ms each is faster here. */
const fewRows = 8;
/** About 10 ms of encoding and decoding here. */
const rowsAtOnce = 1_024;
/** For 1,024 hashes of 6 numbers. */
const maximumBytes = 32 * 1024 * 1024;

/** The thread is started when there is work for it. */
export function createTreeHasher(): TreeHasher {
  let started: Promise<OpenScanKernels> | undefined;

  function start(): Promise<OpenScanKernels> {
    const kernels = started ?? createScanKernels({ threads: 1, maximumBytes });
    started = kernels;
    // The next level tries again.
    kernels.catch(() => {
      started = undefined;
    });
    return kernels;
  }

  return {
    async hashMany(rows) {
      if (rows.length < fewRows) {
        return await hashHere(rows);
      }
      const kernels = await start();
      const hashes: Field[] = [];
      for (let first = 0; first < rows.length; first += rowsAtOnce) {
        hashes.push(...(await hashPoseidonMany(kernels, rows.slice(first, first + rowsAtOnce))));
      }
      return hashes;
    },
    async close() {
      await (await started)?.close();
    },
  };
}

/** All rows on this thread, in one turn of the event loop. */
export function hashHere(rows: readonly (readonly Field[])[]): Promise<readonly Field[]> {
  return Promise.resolve(rows.map((row) => poseidon(row)));
}
