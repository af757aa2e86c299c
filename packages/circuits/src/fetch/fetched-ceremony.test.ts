/** Fetched keys of valid and invalid ceremonies: the effect of the record in a proving key. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zKey } from 'snarkjs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { small } from '../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  placesOf,
  testBeacon,
} from '../../test/ceremony-folder.ts';
import { sample } from '../../test/fund-batch.ts';
import { createPowersOfTau } from '../../test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../test/witness.ts';
import { convertKeyFile } from '../artifacts/artifact-store.ts';
import { artifactFiles } from '../artifacts/build-artifacts.ts';
import { computeDigest } from '../artifacts-manifest.ts';
import { createKernelArithmetic, type PointArithmetic } from '../ceremony/points/point-sums.ts';
import type { FetchedKind } from './pinned-digests.ts';
import { openProductionKeys } from './production-keys.ts';

let kernels: PointArithmetic;
let at: CeremonyFolder;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await at.write('p.ptau', createPowersOfTau(powers, 3));
  await at.init('c.r1cs', 'p.ptau', '0.zkey');
  await at.contribute('0.zkey', 'one.zkey');
  await at.end('one.zkey', 'ended.zkey');
  const beacon = (from: string, to: string) =>
    zKey.beacon(at.path(from), at.path(to), 'beacon', testBeacon, 10);
  await beacon('0.zkey', 'beacon.zkey');
  await zKey.contribute(at.path('beacon.zkey'), at.path('late.zkey'), 'late', 'entropy');
  await beacon('ended.zkey', 'ended-twice.zkey');
  const ended = await at.read('ended.zkey');
  const start = (placesOf(ended).get(10)?.start ?? 0) - 12;
  const unrecorded = Buffer.from(ended.subarray(0, start));
  unrecorded.writeUInt32LE(9, 8);
  await at.write('unrecorded.zkey', unrecorded);
  await convertKeyFile(at.path('beacon.zkey'), 'compact', at.path('compact.zkey'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
  await endSnarkjsThreads();
});

/** Keys as they were fetched, with a manifest that pins them. */
async function openFetched(zkey: string, verificationKeyOf = zkey) {
  vi.stubEnv('NODE_ENV', 'production');
  const contents: Readonly<Record<FetchedKind, Uint8Array>> = {
    r1cs: Buffer.from('constraints'),
    wasm: Buffer.from('generator'),
    zkey: await at.read(zkey),
    verificationKey: Buffer.from(
      JSON.stringify(await zKey.exportVerificationKey(at.path(verificationKeyOf))),
    ),
  };
  const folder = at.path('fetched');
  const sha256: Record<string, string> = {};
  for (const kind of ['r1cs', 'wasm', 'zkey', 'verificationKey'] as const) {
    const path = join(folder, 'fund-16', artifactFiles[kind]);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, contents[kind]);
    sha256[kind] = computeDigest(contents[kind]);
  }
  const circuits = { 'fund-16': { sha256 }, 'fund-64': { sha256 } };
  await at.write('production.json', Buffer.from(JSON.stringify({ circuits })));
  return openProductionKeys({ folder, manifest: at.path('production.json') });
}

describe('fetched keys of a ceremony', () => {
  it.each(['one.zkey', 'ended.zkey'])('are returned if it is valid: %s', async (name) => {
    const keys = await openFetched(name);
    await keys.checkKeys();
    expect(await keys.ensureArtifacts('fund-16')).toMatchObject({ circuit: 'fund-16' });
    // Checked once: afterwards the digest shows that it is the same key.
    expect(await keys.ensureArtifacts('fund-16')).toMatchObject({ circuit: 'fund-16' });
  });

  it.each([
    ['beacon.zkey', 'no_contribution'],
    ['late.zkey', 'ceremony_invalid'],
    ['ended-twice.zkey', 'ceremony_invalid'],
    ['0.zkey', 'no_contribution'],
  ])('are refused at the start and before each use: %s', async (name, code) => {
    const keys = await openFetched(name);
    for (const call of [keys.checkKeys, () => keys.ensureArtifacts('fund-16')]) {
      await expect(call()).rejects.toMatchObject({
        code,
        message: expect.stringContaining('fund-16'),
      });
    }
  });

  it.each([
    ['unrecorded.zkey', 'ended.zkey'],
    ['compact.zkey', 'beacon.zkey'],
  ])('are refused when their ceremony cannot be read: %s', async (name, verificationKeyOf) => {
    const keys = await openFetched(name, verificationKeyOf);
    await expect(keys.checkKeys()).rejects.toMatchObject({ code: 'zkey_malformed' });
  });

  it('are refused with a verification key of another proving key', async () => {
    const keys = await openFetched('one.zkey', 'ended.zkey');
    await expect(keys.ensureArtifacts('fund-16')).rejects.toMatchObject({
      code: 'artifact_mismatch',
    });
  });
});
