/** A folder with the files of a ceremony, and functions that change its keys; for tests only. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computeFileDigest } from '../src/artifacts-manifest.ts';
import { applyBeacon, contributeToKey } from '../src/ceremony/key/contribute.ts';
import { initialiseKey } from '../src/ceremony/key/initialise.ts';
import type { PointArithmetic } from '../src/ceremony/points/point-sums.ts';
import { decodeG1, encodeG1 } from '../src/ceremony/points/points.ts';
import { verifyKey } from '../src/ceremony/verify/verify-key.ts';

export const testBeacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
const beacon = { value: Buffer.from(testBeacon, 'hex'), exponent: 10 };

type Place = { readonly start: number; readonly length: number };
/** Where each section of a file lies. */
export function placesOf(file: Buffer): Map<number, Place> {
  const places = new Map<number, Place>();
  let position = 12;
  for (let left = file.readUInt32LE(8); left > 0; left--) {
    const length = Number(file.readBigUInt64LE(position + 4));
    places.set(file.readUInt32LE(position), { start: position + 12, length });
    position += 12 + length;
  }
  return places;
}

/** A view of a section of a file. */
export function sectionOf(file: Buffer, id: number): Buffer {
  const { start, length } = placesOf(file).get(id) ?? { start: 0, length: 0 };
  return file.subarray(start, start + length);
}

/** Replaces the G1 point at an offset by its negative. */
export function negateAt(offset: number) {
  return (section: Buffer) => {
    const point = decodeG1(section.subarray(offset, offset + 64));
    encodeG1(point.negate()).copy(section, offset);
  };
}

/** Flips the lowest bit of a byte. */
export function flipAt(offset: number) {
  return (section: Buffer) => {
    section.writeUInt8(section.readUInt8(offset) ^ 1, offset);
  };
}

/** Commands of a ceremony on files of one folder. `c.r1cs` and `p.ptau` are its circuit and its powers of tau. */
export async function createCeremonyFolder(arithmetic: PointArithmetic) {
  const folder = await mkdtemp(join(tmpdir(), 'pool-ceremony-test-'));
  const path = (name: string) => join(folder, name);
  const options = { arithmetic };
  // Powers of tau made from known values record no contribution; a pinned digest accepts them.
  const pin = async (ptau: string) => ({
    ...options,
    ptauSha256: await computeFileDigest(path(ptau)),
  });
  const verify = async (zkey: string, circuit = 'c.r1cs', ptau = 'p.ptau') =>
    verifyKey({ r1cs: path(circuit), ptau: path(ptau), zkey: path(zkey) }, await pin(ptau));
  return {
    folder,
    path,
    write: (name: string, bytes: Uint8Array) => writeFile(path(name), bytes),
    read: (name: string) => readFile(path(name)),
    init: async (circuit: string, ptau: string, out: string) =>
      initialiseKey({ r1cs: path(circuit), ptau: path(ptau), out: path(out) }, await pin(ptau)),
    contribute: (from: string, to: string, signal?: AbortSignal) =>
      contributeToKey({ in: path(from), out: path(to) }, { ...options, name: to, signal }),
    end: (from: string, to: string, name?: string) =>
      applyBeacon({ in: path(from), out: path(to) }, beacon, { ...options, name }),
    verify,
    /** Codes of all problems of a key. */
    problemsOf: async (...args: Parameters<typeof verify>): Promise<string[]> =>
      (await verify(...args)).problems.map(({ code }) => code),
    /** Copies a file with one change to one of its sections; returns the copy's name. */
    spoil: async (from: string, to: string, id: number, change: (section: Buffer) => void) => {
      const file = await readFile(path(from));
      change(sectionOf(file, id));
      await writeFile(path(to), file);
      return to;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export type CeremonyFolder = Awaited<ReturnType<typeof createCeremonyFolder>>;
