/**
 * The prover's engine in the programs of end-to-end tests (tooling/src/bundle-programs.ts). For a key of the dev setup it makes the sums of
 * a proof from the trapdoor of that key, which anyone can derive, so that a proof costs a tenth of the processor time. The proof is valid
 * for the public signals of the witness, and for no others. The witness program has checked the witness, and everybody verifies the proof.
 *
 * Only where the environment has POOL_TEST_KNOWN_KEYS=1. Elsewhere, and for every other key, it is the engine of the processor.
 */
import { bn254 } from '@noble/curves/bn254.js';
import { circuitNames } from '@pool/core';
import { computeSeed } from '../../packages/circuits/src/artifacts/build-artifacts.ts';
import {
  deriveToxicValues,
  type ToxicValues,
} from '../../packages/circuits/src/setup/toxic-values.ts';
import { readInteger } from '../../packages/prover/src/base/field.ts';
import { decodeG1, type G1Affine } from '../../packages/prover/src/base/points.ts';
import {
  type CpuEngineOptions,
  createCpuEngine as createProcessorEngine,
} from '../../packages/prover/src/engine/cpu-engine.ts';
import type { Engine, ResidentKey } from '../../packages/prover/src/engine/engine.ts';
import type { Zkey, ZkeyHeader } from '../../packages/prover/src/zkey/zkey.ts';

const { Fr } = bn254.fields;
const { BASE } = bn254.G1.Point;

function isMultiple(point: Uint8Array, scalar: bigint): boolean {
  const [found, wanted] = [decodeG1(point), BASE.multiply(scalar).toAffine()];
  return found?.x === wanted.x && found.y === wanted.y;
}

/** Undefined if the key is not one of the dev setup. */
function findTrapdoor({ alpha1, delta1, domainSize }: ZkeyHeader): ToxicValues | undefined {
  return circuitNames
    .map((circuit) => deriveToxicValues(computeSeed(circuit), domainSize))
    .find(({ alpha, delta }) => isMultiple(alpha1, alpha) && isMultiple(delta1, delta));
}

/** Of the proof (A, B, C) = ((α + 1) G, (β + 1) G, C): AB = αβ + γ·IC + δC has one solution for C. */
async function loadKey(
  zkey: Zkey,
  { alpha, beta, gamma, delta }: ToxicValues,
): Promise<ResidentKey> {
  const count = zkey.countPoints('ic');
  const bytes = new Uint8Array(64 * count);
  await zkey.readPoints('ic', 0, count, bytes);
  const points = Array.from({ length: count }, (_, wire) => decodeG1(bytes, 64 * wire)).map(
    (point: G1Affine) => bn254.G1.Point.fromAffine(point ?? { x: 0n, y: 0n }),
  );
  const { x, y } = bn254.G2.Point.BASE.toAffine();
  const one = BASE.toAffine();
  return {
    bytes: 0,
    computeSums: async (witness, { signal, onProgress } = {}) => {
      signal?.throwIfAborted();
      // Wire 0 is the constant 1.
      const sum = points
        .map((point, wire) => point.multiplyUnsafe(readInteger(witness, 32 * wire)))
        .reduce((total, point) => total.add(point));
      onProgress?.('quotient', 1);
      const c = BASE.multiply(Fr.div(Fr.create(alpha + beta + 1n), delta)).subtract(
        sum.multiplyUnsafe(Fr.div(gamma, delta)),
      );
      onProgress?.('sums', 1);
      return { a: one, b1: one, b2: { x: [x.c0, x.c1], y: [y.c0, y.c1] }, c: c.toAffine() };
    },
    release: () => undefined,
  };
}

export async function createCpuEngine(options: CpuEngineOptions = {}): Promise<Engine> {
  if (process.env['POOL_TEST_KNOWN_KEYS'] !== '1') return await createProcessorEngine(options);
  let processor: Promise<Engine> | undefined;
  return {
    kind: 'cpu',
    detail: 'the trapdoors of development keys',
    load: async (zkey, loadOptions = {}) => {
      const trapdoor = findTrapdoor(zkey.header);
      if (trapdoor !== undefined) return await loadKey(zkey, trapdoor);
      processor ??= createProcessorEngine(options);
      return await (await processor).load(zkey, loadOptions);
    },
    close: async () => {
      await (await processor)?.close();
    },
  };
}
