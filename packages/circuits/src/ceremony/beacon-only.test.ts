/**
 * Keys whose delta anyone can compute. Proofs under them require no witness: with delta known, alpha, beta and a point
 * divided by delta are a proof for any public inputs.
 */
import { bn254 } from '@noble/curves/bn254.js';
import type { G1Json, VerificationKey } from '@pool/kernels';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { small } from '../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  placesOf,
  sectionOf,
  testBeacon,
} from '../../test/ceremony-folder.ts';
import { craftKey } from '../../test/crafted-key.ts';
import { sample } from '../../test/fund-batch.ts';
import { createPowersOfTau } from '../../test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../test/witness.ts';
import { openKeyFile } from './files/key-file.ts';
import { createKeyStream, deriveBeaconSeed } from './files/key-stream.ts';
import { readRecord } from './files/transcript.ts';
import { exportVerificationKey } from './key/export-verifier.ts';
import { createKernelArithmetic, type PointArithmetic } from './points/point-sums.ts';
import type { G1Point } from './points/points.ts';

const { groth16, zKey } = snarkjs;
const { Fr } = bn254.fields;

let kernels: PointArithmetic;
let at: CeremonyFolder;
function beaconBySnarkjs(from: string, to: string) {
  return zKey.beacon(at.path(from), at.path(to), 'beacon', testBeacon, 10);
}

beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await at.write('p.ptau', createPowersOfTau(powers, 3));
  await at.init('c.r1cs', 'p.ptau', '0.zkey');
  await at.contribute('0.zkey', 'one.zkey');
  await beaconBySnarkjs('0.zkey', 'beacon.zkey');
  await zKey.contribute(at.path('beacon.zkey'), at.path('late.zkey'), 'late', 'entropy');
  await beaconBySnarkjs('beacon.zkey', 'beacons.zkey');
  await at.end('one.zkey', 'ended.zkey');
  await beaconBySnarkjs('ended.zkey', 'ended-twice.zkey');
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
  await endSnarkjsThreads();
});

function toPoint([x, y]: G1Json): G1Point {
  return bn254.G1.Point.fromAffine({ x: BigInt(x), y: BigInt(y) });
}
function toJson(point: G1Point): string[] {
  const { x, y } = point.toAffine();
  return [String(x), String(y), '1'];
}

/** A proof for any public signals, from public values alone. */
function forge(key: VerificationKey, signals: readonly string[], delta: bigint) {
  const inputs = ['1', ...signals].reduce((sum, signal, i) => {
    const point = key.IC[i];
    if (point === undefined) {
      throw new Error('the key has other public signals');
    }
    return sum.add(toPoint(point).multiplyUnsafe(BigInt(signal)));
  }, bn254.G1.Point.ZERO);
  return {
    protocol: 'groth16',
    curve: 'bn128',
    pi_a: key.vk_alpha_1,
    pi_b: key.vk_beta_2,
    pi_c: toJson(inputs.multiply(Fr.inv(delta)).negate()),
  };
}

/** The factor of a beacon, computed from its parameters in the key. */
async function readBeaconFactor(name: string): Promise<bigint> {
  const { file } = await openKeyFile(at.path(name));
  try {
    const beacon = (await readRecord(file)).contributions[0]?.beacon;
    const seed = await deriveBeaconSeed(beacon?.value ?? Buffer.alloc(0), beacon?.exponent ?? 0);
    return createKeyStream(seed).sampleScalar();
  } finally {
    await file.close();
  }
}

const invented = ['1000000000000000000', '42'];

describe('a key with only a beacon', () => {
  it('can be forged by any reader of its transcript', async () => {
    const key = (await zKey.exportVerificationKey(at.path('beacon.zkey'))) as VerificationKey;
    const delta = await readBeaconFactor('beacon.zkey');
    expect(await groth16.verify(key, invented, forge(key, invented, delta))).toBe(true);
    expect(await groth16.verify(key, invented, forge(key, invented, delta + 1n))).toBe(false);
  });

  it('is refused by verify and by export', async () => {
    expect(await at.problemsOf('beacon.zkey')).toEqual(['no_contribution']);
    await expect(exportVerificationKey(at.path('beacon.zkey'))).rejects.toMatchObject({
      code: 'no_contribution',
    });
  });

  it('is refused before the file is written', async () => {
    await expect(at.end('0.zkey', 'never.zkey')).rejects.toMatchObject({ code: 'no_contribution' });
  });
});

describe('a key with anything after a beacon', () => {
  it.each([
    ['late.zkey', ['beacon_not_last']],
    ['beacons.zkey', ['no_contribution', 'beacon_not_last']],
    ['ended-twice.zkey', ['beacon_not_last']],
  ])('is refused by verify and by export: %s', async (name, codes) => {
    expect(await at.problemsOf(name)).toEqual(codes);
    await expect(exportVerificationKey(at.path(name))).rejects.toMatchObject({
      details: { finding: codes[0] },
    });
  });

  it.each(['ended.zkey', 'late.zkey', 'beacons.zkey'])(
    'accepts no further contribution or beacon: %s',
    async (name) => {
      await expect(at.contribute(name, 'never.zkey')).rejects.toMatchObject({
        code: 'ceremony_invalid',
      });
      await expect(at.end(name, 'never.zkey')).rejects.toMatchObject({ code: 'ceremony_invalid' });
    },
  );

  it('is accepted when the beacon is the last', async () => {
    expect(await at.problemsOf('ended.zkey')).toEqual([]);
    expect((await exportVerificationKey(at.path('ended.zkey'))).nPublic).toBe(2);
  });
});

describe('secret contributions that hide nothing', () => {
  it.each([
    ['a factor of 1', [1n], ['contribution_trivial', 'delta_trivial']],
    ['a factor of -1', [Fr.ORDER - 1n], ['contribution_trivial', 'delta_trivial']],
    ['factors that cancel', [sample('x'), Fr.inv(sample('x'))], ['delta_trivial']],
  ])('are refused: %s', async (_what, factors, codes) => {
    await at.write('crafted.zkey', craftKey(await at.read('0.zkey'), factors));
    expect(await at.problemsOf('crafted.zkey')).toEqual(codes);
    await expect(exportVerificationKey(at.path('crafted.zkey'))).rejects.toMatchObject({
      details: { finding: codes[0] },
    });
  });

  it('are distinguished from a contribution that hides its factor', async () => {
    await at.write('crafted.zkey', craftKey(await at.read('0.zkey'), [sample('x')]));
    expect(await at.problemsOf('crafted.zkey')).toEqual([]);
    expect(sectionOf(await at.read('crafted.zkey'), 10).readUInt32LE(64)).toBe(1);
  });
});

describe('the parameters of a contribution', () => {
  const spoil = async (change: (parameters: Buffer) => Buffer): Promise<string> => {
    const key = await at.read('beacon.zkey');
    const { start, length } = placesOf(key).get(10) ?? { start: 0, length: 0 };
    // One contribution: circuit hash and count (68), 392 bytes, then its parameters: name, exponent, value.
    const changed = change(key.subarray(start + 68 + 392, start + length));
    const spoilt = Buffer.concat([key.subarray(0, start + 68 + 392), changed]);
    spoilt.writeUInt32LE(changed.length, start + 68 + 388);
    spoilt.writeBigUInt64LE(BigInt(68 + 392 + changed.length), start - 8);
    await at.write('parameters.zkey', spoilt);
    return 'parameters.zkey';
  };
  const NAME = 2 + 'beacon'.length;

  it.each<[string, (parameters: Buffer) => Buffer]>([
    ['twice', (p) => Buffer.concat([p, p.subarray(NAME)])],
    ['out of order', (p) => Buffer.concat([p.subarray(NAME), p.subarray(0, NAME)])],
    ['without a value', (p) => p.subarray(0, NAME + 2)],
    ['without an exponent', (p) => Buffer.concat([p.subarray(0, NAME), p.subarray(NAME + 2)])],
  ])('are refused %s', async (_what, change) => {
    const name = await spoil(change);
    await expect(at.verify(name)).rejects.toMatchObject({ code: 'zkey_malformed' });
  });

  it('are read as they are', async () => {
    const verdict = await at.verify(await spoil((parameters) => parameters));
    expect(verdict.contributions).toMatchObject([
      {
        name: 'beacon',
        beacon: { value: new Uint8Array(Buffer.from(testBeacon, 'hex')), exponent: 10 },
      },
    ]);
  });
});
