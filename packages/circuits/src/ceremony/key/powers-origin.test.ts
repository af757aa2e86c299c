/** Where powers of tau come from: files that snarkjs made, and records that were changed or copied. */
import { createHash } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { small } from '../../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  flipAt,
  placesOf,
  sectionOf,
  testBeacon,
} from '../../../test/ceremony-folder.ts';
import { sample } from '../../../test/fund-batch.ts';
import { createPowersOfTau } from '../../../test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../../test/witness.ts';
import { computeFileDigest } from '../../artifacts-manifest.ts';
import { deriveChallenge } from '../files/key-stream.ts';
import { openPowersOfTau } from '../files/powers-of-tau.ts';
import { createKernelArithmetic, type PointArithmetic } from '../points/point-sums.ts';
import { encodeForTranscript, encodeG1, encodeG2 } from '../points/points.ts';
import { verifyKey } from '../verify/verify-key.ts';
import { initialiseKey } from './initialise.ts';
import { findOriginProblem } from './powers-origin.ts';

const { powersOfTau, curves } = snarkjs;
const power = 3;
/** Bytes of one contribution before its parameters, and where its points lie. */
const fixed = 1504;

let kernels: PointArithmetic;
let at: CeremonyFolder;

function prepare(from: string, to: string) {
  return powersOfTau.preparePhase2(at.path(from), at.path(to));
}
function beacon(from: string, to: string) {
  return powersOfTau.beacon(at.path(from), at.path(to), 'beacon', testBeacon, 10);
}
function contribute(from: string, to: string) {
  return powersOfTau.contribute(at.path(from), at.path(to), 'they', 'entropy');
}

/** A file's copy with another record of contributions. */
async function withRecord(from: string, to: string, record: Uint8Array): Promise<string> {
  const file = await at.read(from);
  const { start, length } = placesOf(file).get(7) ?? { start: 0, length: 0 };
  const changed = Buffer.concat([file.subarray(0, start), record, file.subarray(start + length)]);
  changed.writeBigUInt64LE(BigInt(record.length), start - 8);
  await at.write(to, changed);
  return to;
}

beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  const curve = await curves.getCurveFromName('bn128');
  await powersOfTau.newAccumulator(curve, power, at.path('new'));
  await contribute('new', 'one');
  await beacon('new', 'beacon');
  await contribute('beacon', 'late');
  await contribute('one', 'two');
  await beacon('two', 'ended');
  for (const name of ['new', 'one', 'beacon', 'late', 'ended']) {
    await prepare(name, `${name}.ptau`);
  }
  await powersOfTau.newAccumulator(curve, power + 1, at.path('large-new'));
  await contribute('large-new', 'large');
  await prepare('large', 'large.ptau');
  await powersOfTau.truncate(at.path('large.ptau'), at.path('cut-'));
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
  await endSnarkjsThreads();
});

async function codeOf(name: string, pinned?: string): Promise<string | undefined> {
  const powers = await openPowersOfTau(at.path(name));
  try {
    return (await findOriginProblem(at.path(name), powers, pinned))?.code;
  } finally {
    await powers.close();
  }
}

describe('powers of tau are accepted', () => {
  it.each(['one.ptau', 'ended.ptau', 'late.ptau', 'large.ptau', 'cut-03.ptau'])(
    'with a secret contribution: %s',
    async (name) => {
      expect(await codeOf(name)).toBeUndefined();
      expect(await powersOfTau.verify(at.path(name))).toBe(true);
    },
  );

  it.each(['new.ptau', 'beacon.ptau'])('with a pinned digest: %s', async (name) => {
    expect(await codeOf(name, await computeFileDigest(at.path(name)))).toBeUndefined();
  });
});

describe('powers of tau are refused', () => {
  it.each(['new.ptau', 'beacon.ptau'])('if tau is public: %s', async (name) => {
    expect(await codeOf(name)).toBe('ptau_no_secret_contribution');
  });

  it('if the pinned digest differs, with any contributor', async () => {
    expect(await codeOf('one.ptau', await computeFileDigest(at.path('ended.ptau')))).toBe(
      'ptau_digest_mismatch',
    );
  });

  it('if the record belongs to another file', async () => {
    const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
    await at.write('known.ptau', createPowersOfTau(powers, power));
    const record = sectionOf(await at.read('one.ptau'), 7);
    await withRecord('known.ptau', 'copied.ptau', record);
    expect(await codeOf('known.ptau')).toBe('ptau_no_secret_contribution');
    expect(await codeOf('copied.ptau')).toBe('ptau_contribution_invalid');
  });

  it('if a contribution has an invalid proof, does not follow the previous one, or is missing', async () => {
    const record = sectionOf(await at.read('ended.ptau'), 7);
    const one = sectionOf(await at.read('one.ptau'), 7);
    // A point of each kind, and the challenge of the first contribution, from which the second one's points follow.
    for (const place of [4, 4 + 64, 4 + 448, 4 + 448 + 64, 4 + 448 + 384, 4 + 448 + 768 + 216]) {
      const name = await at.spoil('ended.ptau', 'spoilt.ptau', 7, flipAt(place));
      expect(await codeOf(name)).toBe('ptau_contribution_invalid');
    }
    const first = record.subarray(4, 4 + fixed + record.readUInt32LE(fixed));
    const dropped = Buffer.concat([record.subarray(0, 4), record.subarray(4 + first.length)]);
    dropped.writeUInt32LE(2);
    await withRecord('ended.ptau', 'dropped.ptau', dropped);
    expect(await codeOf('dropped.ptau')).toBe('ptau_contribution_invalid');
    await withRecord('ended.ptau', 'shortened.ptau', one);
    expect(await codeOf('shortened.ptau')).toBe('ptau_contribution_invalid');
  });

  it('if the factors of the secret contribution are public', async () => {
    const record = sectionOf(await at.read('beacon.ptau'), 7);
    const challenge = record.subarray(4 + fixed - 8 - 64, 4 + fixed - 8);
    const base = encodeG1(bn254.G1.Point.BASE.multiply(7n));
    const inTranscript = encodeForTranscript('g1', base);
    const proofs = [0, 1, 2].map((number) =>
      encodeG2(
        deriveChallenge(
          createHash('blake2b512')
            .update(Uint8Array.of(number))
            .update(challenge)
            .update(inTranscript)
            .update(inTranscript)
            .digest(),
        ),
      ),
    );
    const values = record.subarray(4, 4 + 448);
    const bases = new Array<Buffer>(6).fill(base);
    const rest = Buffer.alloc(216 + 64 + 8);
    const all = Buffer.concat([record, values, ...bases, ...proofs, rest]);
    all.writeUInt32LE(2);
    await withRecord('beacon.ptau', 'trivial.ptau', all);
    expect(await codeOf('trivial.ptau')).toBe('ptau_no_secret_contribution');
  });

  it('if their record cannot be read', async () => {
    const record = sectionOf(await at.read('one.ptau'), 7);
    await withRecord('one.ptau', 'cut.ptau', record.subarray(0, record.length - 1));
    await expect(codeOf('cut.ptau')).rejects.toMatchObject({ code: 'artifact_malformed' });
    await withRecord('one.ptau', 'longer.ptau', Buffer.concat([record, Buffer.alloc(1)]));
    await expect(codeOf('longer.ptau')).rejects.toMatchObject({ code: 'artifact_malformed' });
  });

  it('when an initial key is made, and when a key is verified', async () => {
    const paths = { r1cs: at.path('c.r1cs'), ptau: at.path('beacon.ptau') };
    const options = { arithmetic: kernels };
    await expect(
      initialiseKey({ ...paths, out: at.path('never.zkey') }, options),
    ).rejects.toMatchObject({ code: 'ceremony_invalid' });
    await at.init('c.r1cs', 'beacon.ptau', '0.zkey');
    await at.contribute('0.zkey', '1.zkey');
    const verdict = await verifyKey({ ...paths, zkey: at.path('1.zkey') }, options);
    expect(verdict.problems.map(({ code }) => code)).toEqual(['ptau_no_secret_contribution']);
    expect(await at.problemsOf('1.zkey', 'c.r1cs', 'beacon.ptau')).toEqual([]);
  });
});
