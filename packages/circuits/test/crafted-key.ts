/** Keys with contributions whose factors a test chooses; for tests only. */
import { bn254 } from '@noble/curves/bn254.js';
import { deriveChallenge } from '../src/ceremony/files/key-stream.ts';
import {
  type Contribution,
  type ContributionRecord,
  computeTranscript,
  encodeRecord,
} from '../src/ceremony/files/transcript.ts';
import { decodeG1, encodeG1, encodeG2 } from '../src/ceremony/points/points.ts';
import { placesOf, sectionOf } from './ceremony-folder.ts';

const { Fr } = bn254.fields;
const { BASE: ONE1 } = bn254.G1.Point;
const { BASE: ONE2 } = bn254.G2.Point;
const delta1 = 84 + 64 + 64 + 128 + 128;

/** Replaces a key's record of contributions, its last section. */
function replaceRecord(key: Buffer, record: ContributionRecord): Buffer {
  const start = placesOf(key).get(10)?.start ?? 0;
  const bytes = encodeRecord(record);
  const changed = Buffer.concat([key.subarray(0, start), bytes]);
  changed.writeBigUInt64LE(BigInt(bytes.length), start - 8);
  return changed;
}

function divideSection(section: Buffer, inverse: bigint): void {
  for (let at = 0; at < section.length; at += 64) {
    const point = decodeG1(section.subarray(at, at + 64));
    encodeG1(point.is0() ? point : point.multiply(inverse)).copy(section, at);
  }
}

/** Makes a key of an initial one, as secret contributions with these factors would. Every proof in it is right. */
export function craftKey(initial: Buffer, factors: readonly bigint[]): Buffer {
  const key = Buffer.from(initial);
  const circuitHash = Uint8Array.from(sectionOf(key, 10).subarray(0, 64));
  const contributions: Contribution[] = [];
  let delta = 1n;
  for (const factor of factors) {
    delta = Fr.mul(delta, factor);
    const base = encodeG1(ONE1.multiply(5n));
    const multiplied = encodeG1(ONE1.multiply(5n).multiply(factor));
    const transcript = computeTranscript(circuitHash, contributions, { base, multiplied });
    contributions.push({
      deltaAfter: encodeG1(ONE1.multiply(delta)),
      base,
      multiplied,
      proof: encodeG2(deriveChallenge(transcript).multiply(factor)),
      transcript,
      type: 'secret',
      name: undefined,
      beacon: undefined,
    });
  }
  const header = sectionOf(key, 2);
  encodeG1(ONE1.multiply(delta)).copy(header, delta1);
  encodeG2(ONE2.multiply(delta)).copy(header, delta1 + 64);
  for (const id of [8, 9]) {
    divideSection(sectionOf(key, id), Fr.inv(delta));
  }
  return replaceRecord(key, { circuitHash, contributions });
}
