/**
 * The circuit hash, with which the transcript of contributions begins: BLAKE2b over the initial key's points. The header's points
 * come first, then each section's with their count. tau^(n+i) - tau^i represents the quotient's section.
 *
 * @module
 */
import { blake2b } from '@noble/hashes/blake2.js';
import type { Group, ZkeyHeaderFields } from '@pool/kernels';
import { subtractG1 } from '../points/affine-sums.ts';
import { encodeForTranscript } from '../points/points.ts';
import type { PowersOfTau } from './powers-of-tau.ts';
import { chunksOf } from './section-file.ts';

const pointsAtOnce = 1 << 14;

export type CircuitHasher = {
  /** Begins a section of this many points. */
  readonly begin: (points: number) => void;
  /** Adds points in the encoding of files. */
  readonly update: (group: Group, points: Uint8Array) => void;
  /** Begins a section, and adds its chunks while passing them through. */
  readonly tee: (
    group: Group,
    points: number,
    chunks: AsyncIterable<Buffer>,
  ) => AsyncGenerator<Buffer>;
  /** 64 bytes. */
  readonly digest: () => Uint8Array;
};

/** Starts with the points of an initial key's header. */
export function createCircuitHasher(header: ZkeyHeaderFields): CircuitHasher {
  const hasher = blake2b.create();
  const update: CircuitHasher['update'] = (group, points) => {
    hasher.update(encodeForTranscript(group, points));
  };
  const begin: CircuitHasher['begin'] = (points) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(points);
    hasher.update(count);
  };
  for (const name of ['alpha1', 'beta1', 'beta2', 'gamma2', 'delta1', 'delta2'] as const) {
    update(name.endsWith('1') ? 'g1' : 'g2', header[name]);
  }
  return {
    begin,
    update,
    async *tee(group, points, chunks) {
      begin(points);
      for await (const chunk of chunks) {
        update(group, chunk);
        yield chunk;
      }
    },
    digest: () => hasher.digest(),
  };
}

/** Adds the points that represent the quotient's section. @throws PoolError `artifact_malformed` */
export async function hashQuotient(
  hasher: CircuitHasher,
  powers: PowersOfTau,
  domainSize: number,
): Promise<void> {
  hasher.begin(domainSize - 1);
  for (const { start, count } of chunksOf(domainSize - 1, pointsAtOnce)) {
    const high = await powers.readPoints('tau1', domainSize + start, count);
    const low = await powers.readPoints('tau1', start, count);
    hasher.update('g1', subtractG1(high, low));
  }
}
