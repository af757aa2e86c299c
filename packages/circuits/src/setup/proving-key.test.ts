/**
 * Our dev setup against snarkjs: from the same tau, alpha and beta, and with gamma = delta = 1 as in initial keys of snarkjs, both write
 * the same points, and snarkjs' own check of a key passes. Keys with other values of gamma and delta are then compared with that key point by point.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bn254 } from '@noble/curves/bn254.js';
import {
  convertZkey,
  createKernels,
  createMemorySource,
  toVerificationKey as exportVerificationKey,
  type Kernels,
  type ZkeyForm,
} from '@pool/kernels';
import { groth16, zKey } from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../../test/fund-batch.ts';
import { createPowersOfTau } from '../../test/powers-of-tau.ts';
import {
  type CompiledTest,
  compileTest,
  computeWitness,
  endSnarkjsThreads,
} from '../../test/witness.ts';
import { serializeKeyPart } from './key-worker.ts';
import { computeProvingKey, type KeyPart } from './proving-key.ts';
import type { ToxicValues } from './toxic-values.ts';

const main = `
  include "bits.circom";
  include "compression.circom";
  template Small() {
    signal input a;
    signal input b;
    signal output y;
    component bits = ToBits(16);
    bits.value <== a;
    component horner = Horner(3);
    horner.x[0] <== a;
    horner.x[1] <== b;
    horner.x[2] <== bits.bits[3] + 5 * b;
    horner.z <== b;
    y <== horner.y;
  }
  component main {public [b]} = Small();`;

const power = 5;
const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };

/** Contents of a `.zkey` by section. */
function readSections(file: Buffer): Map<number, Buffer> {
  const sections = new Map<number, Buffer>();
  let position = 12;
  for (let left = file.readUInt32LE(8); left > 0; left--) {
    const end = position + 12 + Number(file.readBigUInt64LE(position + 4));
    sections.set(file.readUInt32LE(position), file.subarray(position + 12, end));
    position = end;
  }
  return sections;
}

function toFile(key: readonly KeyPart[], form: ZkeyForm = 'standard'): Buffer {
  return Buffer.concat(key.flatMap((part) => [...serializeKeyPart(part, form)]));
}

async function collect(parts: AsyncIterable<KeyPart>): Promise<KeyPart[]> {
  const key: KeyPart[] = [];
  for await (const part of parts) {
    key.push(part);
  }
  return key;
}

function compute(
  toxic: ToxicValues,
  circuitHash?: Uint8Array,
  onProgress?: (fraction: number) => void,
): Promise<KeyPart[]> {
  return collect(computeProvingKey(kernels, circuit.r1cs, toxic, { circuitHash, onProgress }));
}

/** The verification key of a computed key. */
function exportFrom(key: readonly KeyPart[]) {
  const header = key.find((part) => part.type === 'header')?.header;
  const ic = key.find((part) => part.type === 'points' && part.section === 'ic');
  if (header === undefined || ic?.type !== 'points') throw new Error('the key lacks a part');
  return exportVerificationKey(header, ic.points);
}

let folder: string;
let circuit: CompiledTest;
let kernels: Kernels;
function path(name: string) {
  return join(folder, name);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-setup-test-'));
  circuit = await compileTest(main);
  kernels = await createKernels();
  await writeFile(path('test.r1cs'), circuit.r1csBytes);
  await writeFile(path('test.ptau'), createPowersOfTau(powers, power));
});
afterAll(async () => {
  await kernels.close();
  await rm(folder, { recursive: true, force: true });
  await endSnarkjsThreads();
});

describe('the proving key', () => {
  it('equals the key of snarkjs for the same values, byte for byte', async () => {
    const hash = await zKey.newZKey(path('test.r1cs'), path('test.ptau'), path('theirs.zkey'));
    const ours = toFile(await compute({ ...powers, gamma: 1n, delta: 1n }, hash));
    const theirSections = readSections(await readFile(path('theirs.zkey')));
    const ourSections = readSections(ours);
    expect([...ourSections.keys()].sort()).toEqual([...theirSections.keys()].sort());
    for (const [id, contents] of theirSections) {
      expect(ourSections.get(id)?.equals(contents), `section ${id}`).toBe(true);
    }
    await writeFile(path('ours.zkey'), ours);
    const isValid = await zKey.verifyFromR1cs(
      path('test.r1cs'),
      path('test.ptau'),
      path('ours.zkey'),
    );
    expect(isValid).toBe(true);
  });

  it("fails snarkjs' check when one point differs", async () => {
    const key = await compute(
      { ...powers, tau: sample('another tau'), gamma: 1n, delta: 1n },
      await zKey.newZKey(path('test.r1cs'), path('test.ptau'), path('theirs.zkey')),
    );
    await writeFile(path('wrong.zkey'), toFile(key));
    const isValid = await zKey.verifyFromR1cs(
      path('test.r1cs'),
      path('test.ptau'),
      path('wrong.zkey'),
    );
    expect(isValid).toBe(false);
  });

  it('with other gamma and delta differs by exactly these factors', async () => {
    const gamma = sample('gamma');
    const delta = sample('delta');
    const plain = await compute({ ...powers, gamma: 1n, delta: 1n });
    const scaled = await compute({ ...powers, gamma, delta });
    const [before, after] = [plain, scaled].map((key) => readSections(toFile(key)));
    const { Fp } = bn254.fields;
    const factor = Fp.inv((1n << 256n) % Fp.ORDER);
    const pointsOf = (section: Buffer | undefined) => {
      const bytes = Buffer.from(section ?? []);
      return Array.from({ length: bytes.length / 64 }, (_, i) => {
        const [x, y] = [0, 32].map((at) => {
          const little = Buffer.from(bytes.subarray(64 * i + at, 64 * i + at + 32)).reverse();
          return Fp.mul(BigInt(`0x${little.toString('hex')}`), factor);
        });
        return x === 0n && y === 0n
          ? bn254.G1.Point.ZERO
          : bn254.G1.Point.fromAffine({ x: x ?? 0n, y: y ?? 0n });
      });
    };
    for (const [id, scalar] of [
      [3, gamma],
      [8, delta],
      [9, delta],
    ] as const) {
      const expected = pointsOf(before?.get(id));
      const points = pointsOf(after?.get(id));
      expect(points.length).toBeGreaterThan(0);
      expect(points.map((point) => point.multiplyUnsafe(scalar).toHex())).toEqual(
        expected.map((point) => point.toHex()),
      );
    }
    for (const id of [4, 5, 6, 7]) {
      expect(after?.get(id)?.equals(before?.get(id) ?? Buffer.alloc(0)), `section ${id}`).toBe(
        true,
      );
    }
  });

  it('has one compact form, which converts to the standard form and back', async () => {
    const key = await compute({ ...powers, gamma: sample('gamma'), delta: sample('delta') });
    const convert = async (file: Buffer, form: ZkeyForm) => {
      const pieces: Buffer[] = [];
      for await (const piece of convertZkey(createMemorySource(file), form)) {
        pieces.push(Buffer.from(piece));
      }
      return Buffer.concat(pieces);
    };
    const compact = toFile(key, 'compact');
    expect((await convert(toFile(key), 'compact')).equals(compact)).toBe(true);
    expect((await convert(compact, 'standard')).equals(toFile(key))).toBe(true);
  });

  it('reports its progress, from 0 to 1', async () => {
    const fractions: number[] = [];
    const report = (fraction: number) => {
      fractions.push(fraction);
    };
    await compute({ ...powers, gamma: 3n, delta: 5n }, undefined, report);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect([fractions.at(0), fractions.at(-1)]).toEqual([0, 1]);
  });

  it('stops when aborted', async () => {
    const abort = new AbortController();
    const toxic = { ...powers, gamma: 3n, delta: 5n };
    const parts = computeProvingKey(kernels, circuit.r1cs, toxic, { signal: abort.signal });
    await parts.next();
    abort.abort(new Error('enough'));
    await expect(collect(parts)).rejects.toThrow('enough');
  });

  it('makes proofs that snarkjs accepts, and exports the key we export', async () => {
    const toxic = { ...powers, gamma: sample('gamma'), delta: sample('delta') };
    const key = await compute(toxic);
    await writeFile(path('full.zkey'), toFile(key));
    await writeFile(path('test.wasm'), circuit.wasm);
    const exported = await zKey.exportVerificationKey(path('full.zkey'));
    expect(exported).toMatchObject(exportFrom(key));

    const witness = { type: 'mem' as const };
    const { wtns } = await import('snarkjs');
    await wtns.calculate({ a: 12_345n, b: 678n }, path('test.wasm'), witness);
    const { proof, publicSignals } = await groth16.prove(path('full.zkey'), witness);
    const [y] = (await computeWitness(circuit.wasm, { a: 12_345n, b: 678n })).slice(1);
    expect(publicSignals).toEqual([String(y), '678']);
    expect(await groth16.verify(exportFrom(key), publicSignals, proof)).toBe(true);
    expect(await groth16.verify(exportFrom(key), [String(y), '679'], proof)).toBe(false);
  });
});
