import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createArtifactStore, createArtifactStoreOf } from './artifact-store.ts';
import { type ArtifactsManifest, computeDigest } from './artifacts-manifest.ts';
import { artifactFiles, buildArtifacts } from './build-artifacts.ts';
import type { CircuitName } from './circuits.ts';

const contents = {
  r1cs: 'constraints',
  wasm: 'generator',
  zkey: 'key',
  verificationKey: '{"protocol":"groth16"}',
};

const entry = {
  recipe: computeDigest('recipe'),
  constraints: 1,
  wires: 1,
  publicSignals: 3,
  domainSize: 2,
  terms: 1,
  sha256: {
    r1cs: computeDigest(contents.r1cs),
    wasm: computeDigest(contents.wasm),
    zkey: computeDigest(contents.zkey),
    verificationKey: computeDigest(contents.verificationKey),
  },
};
const manifest: ArtifactsManifest = { 'fund-16': entry, 'fund-64': entry, 'fund-256': entry };

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'pool-store-test-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cacheDir, { recursive: true, force: true });
});

const createTestStore = (files: Record<string, string> = contents, recipe = 'a'.repeat(64)) => {
  const build = vi.fn(async (_circuit: CircuitName, folder: string) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const [kind, name] of Object.entries(artifactFiles)) {
      await writeFile(join(folder, name), files[kind] ?? '');
    }
  });
  const store = createArtifactStoreOf({
    cacheDir,
    readManifest: () => manifest,
    computeRecipe: () => recipe,
    build,
  });
  return { store, build };
};

describe('the artifact store', () => {
  it('builds once, then serves from the cache', async () => {
    const { store, build } = createTestStore();
    const first = await store.ensureArtifacts('fund-16');
    const second = await store.ensureArtifacts('fund-16');
    expect(build).toHaveBeenCalledTimes(1);
    expect(second).toEqual(first);
    expect(first).toMatchObject({ circuit: 'fund-16', size: 16, digests: entry.sha256 });
    expect(await readFile(first.zkeyPath, 'utf8')).toBe(contents.zkey);
    expect(first.verificationKey).toEqual({ protocol: 'groth16' });
  });

  it('lets one caller build while others wait, and leaves nothing behind', async () => {
    const stores = [1, 2, 3].map(() => createTestStore());
    const results = await Promise.all(stores.map(({ store }) => store.ensureArtifacts('fund-16')));
    expect(stores.map(({ build }) => build.mock.calls.length).reduce((a, b) => a + b)).toBe(1);
    expect(new Set(results.map(({ zkeyPath }) => zkeyPath)).size).toBe(1);
    expect(await readdir(cacheDir)).toEqual([`fund-16-${'a'.repeat(16)}`]);
  });

  it.each(Object.entries(artifactFiles))('rebuilds when the cached %s differs', async (_, name) => {
    const { store, build } = createTestStore();
    const { r1csPath } = await store.ensureArtifacts('fund-16');
    const path = join(r1csPath, '..', name);
    const honest = await readFile(path, 'utf8');
    await writeFile(path, 'tampered');
    await store.ensureArtifacts('fund-16');
    expect(build).toHaveBeenCalledTimes(2);
    expect(await readFile(path, 'utf8')).toBe(honest);
  });

  it.each(Object.keys(artifactFiles))('refuses a build whose %s is not pinned', async (kind) => {
    const { store } = createTestStore({ ...contents, [kind]: '"other"' });
    await expect(store.ensureArtifacts('fund-16')).rejects.toMatchObject({
      code: 'artifacts_digest_mismatch',
      message: expect.stringContaining(kind),
    });
  });

  it('keeps artifacts of other recipes apart', async () => {
    const first = await createTestStore().store.ensureArtifacts('fund-16');
    const { store, build } = createTestStore(contents, 'b'.repeat(64));
    const second = await store.ensureArtifacts('fund-16');
    expect(build).toHaveBeenCalledTimes(1);
    expect(second.zkeyPath).not.toBe(first.zkeyPath);
  });

  it('takes over the lock of a process that died', async () => {
    const { store } = createTestStore();
    // No process of this number: Linux ends at 2^22.
    await writeFile(join(cacheDir, `fund-16-${'a'.repeat(16)}.lock`), '4194305\n');
    const { zkeyPath } = await store.ensureArtifacts('fund-16');
    expect(existsSync(zkeyPath)).toBe(true);
  });

  it('stops waiting for the lock of a live process when aborted', async () => {
    const { store } = createTestStore();
    await writeFile(join(cacheDir, `fund-16-${'a'.repeat(16)}.lock`), `${process.pid}\n`);
    const signal = AbortSignal.timeout(100);
    await expect(store.ensureArtifacts('fund-16', { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('tells its stages', async () => {
    const stages: string[] = [];
    await createTestStore().store.ensureArtifacts('fund-16', {
      onProgress: (stage) => stages.push(stage),
    });
    expect(stages).toEqual(['verify', 'ready']);
  });
});

describe('in production', () => {
  it('neither builds nor serves keys of the dev setup', async () => {
    const { store, build } = createTestStore();
    await store.ensureArtifacts('fund-16');
    vi.stubEnv('NODE_ENV', 'production');
    const refused = expect.objectContaining({ code: 'insecure_dev_setup' });
    await expect(store.ensureArtifacts('fund-16')).rejects.toEqual(refused);
    await expect(createArtifactStore({ cacheDir }).ensureArtifacts('fund-16')).rejects.toEqual(
      refused,
    );
    await expect(buildArtifacts('fund-16', cacheDir)).rejects.toEqual(refused);
    expect(build).toHaveBeenCalledTimes(1);
  });
});
