/** Fetched keys: which are returned, and which are refused. A whole ceremony to a proof: tooling/src/production-keys.e2e.test.ts. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VerificationKey } from '@pool/kernels';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { artifactFiles } from '../artifacts/build-artifacts.ts';
import { computeDigest } from '../artifacts-manifest.ts';
import { verificationKeys } from '../generated/verification-keys.ts';
import { type FetchedKind, fetchedKinds } from './pinned-digests.ts';
import { openProductionKeys } from './production-keys.ts';

const dev = verificationKeys['fund-16'];
const generator = dev.vk_gamma_2;
/** A key that shares no secret with the development setup: points are not checked here. */
const foreign: VerificationKey = {
  ...dev,
  vk_alpha_1: ['1', '2', '1'],
  vk_beta_2: [
    ['5', '6'],
    ['7', '8'],
    ['1', '0'],
  ],
  vk_delta_2: [
    ['1', '2'],
    ['3', '4'],
    ['1', '0'],
  ],
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-keys-test-'));
  vi.stubEnv('NODE_ENV', 'production');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** Fetched files of fund-16 and their manifest, opened. */
async function openWith(key: VerificationKey) {
  const contents: Readonly<Record<FetchedKind, string>> = {
    r1cs: 'constraints',
    wasm: 'generator',
    zkey: 'key',
    verificationKey: JSON.stringify(key),
  };
  await mkdir(join(folder, 'fund-16'), { recursive: true });
  for (const kind of fetchedKinds) {
    await writeFile(join(folder, 'fund-16', artifactFiles[kind]), contents[kind]);
  }
  const sha256 = Object.fromEntries(
    fetchedKinds.map((kind) => [kind, computeDigest(contents[kind])]),
  );
  const manifest = join(folder, 'production.json');
  await writeFile(manifest, JSON.stringify({ circuits: { 'fund-16': { sha256 } } }));
  return openProductionKeys({ folder, manifest });
}
function fileOf(kind: FetchedKind) {
  return join(folder, 'fund-16', artifactFiles[kind]);
}

describe('fetched keys', () => {
  it('are returned if they match the manifest', async () => {
    const keys = await openWith(foreign);
    expect(keys.circuits).toEqual(['fund-16']);
    expect(await keys.ensureArtifacts('fund-16')).toEqual({
      circuit: 'fund-16',
      size: 16,
      wasm: fileOf('wasm'),
      zkey: fileOf('zkey'),
      verificationKey: foreign,
    });
    // The constraint file is for those who verify the ceremony, not for a prover.
    await rm(fileOf('r1cs'));
    expect(await keys.readVerificationKey('fund-16')).toEqual(foreign);
    await keys.ensureArtifacts('fund-16');
  });

  it.each(['wasm', 'zkey', 'verificationKey'] as const)(
    'are refused if the file %s is missing or differs',
    async (kind) => {
      const keys = await openWith(foreign);
      await writeFile(fileOf(kind), 'other');
      await expect(keys.ensureArtifacts('fund-16')).rejects.toMatchObject({
        code: 'artifact_refused',
      });
      await rm(fileOf(kind));
      await expect(keys.ensureArtifacts('fund-16')).rejects.toMatchObject({
        code: 'artifact_missing',
      });
    },
  );

  it('are limited to the circuits that the manifest pins', async () => {
    const keys = await openWith(foreign);
    for (const call of [keys.ensureArtifacts, keys.readVerificationKey]) {
      await expect(call('fund-64')).rejects.toMatchObject({ code: 'artifact_mismatch' });
    }
  });

  it('stop loading at the abort signal', async () => {
    const keys = await openWith(foreign);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(keys.ensureArtifacts('fund-16', { signal })).rejects.toThrow('enough');
  });

  it('require a readable manifest', async () => {
    const missing = { folder, manifest: join(folder, 'nothing.json') };
    expect(() => openProductionKeys(missing)).toThrow('cannot be read');
    await writeFile(missing.manifest, '{}');
    expect(() => openProductionKeys(missing)).toThrow('pin');
  });
});

describe('keys whose secrets are known', () => {
  it.each([
    ['the development key', dev],
    ['a key with its alpha', { ...foreign, vk_alpha_1: dev.vk_alpha_1 }],
    ['a key with its beta', { ...foreign, vk_beta_2: dev.vk_beta_2 }],
    ['a key with its delta', { ...foreign, vk_delta_2: dev.vk_delta_2 }],
  ])('are refused in production: %s', async (_what, key) => {
    const keys = await openWith(key);
    for (const call of [keys.ensureArtifacts, keys.readVerificationKey]) {
      await expect(call('fund-16')).rejects.toMatchObject({ code: 'insecure_dev_setup' });
    }
    vi.stubEnv('NODE_ENV', 'development');
    expect(await keys.readVerificationKey('fund-16')).toEqual(key);
  });

  it('are refused everywhere without a contribution', async () => {
    vi.stubEnv('NODE_ENV', 'development');
    const keys = await openWith({ ...foreign, vk_delta_2: generator });
    await expect(keys.ensureArtifacts('fund-16')).rejects.toMatchObject({
      code: 'no_contribution',
    });
  });
});
