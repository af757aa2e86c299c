import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CircuitName } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ArtifactDigests,
  type ArtifactKind,
  type ArtifactsManifest,
  computeDigest,
} from '../artifacts-manifest.ts';
import { createArtifactStore, createArtifactStoreOf, type KeyForm } from './artifact-store.ts';
import { artifactFiles, buildArtifacts } from './build-artifacts.ts';

const contents = {
  r1cs: 'constraints',
  wasm: 'generator',
  zkey: 'standard form of key',
  compactKey: 'key',
  verificationKey: '{"protocol":"groth16"}',
};
type Contents = Readonly<Record<ArtifactKind, string>>;

function digestsOf(files: Contents): ArtifactDigests {
  return {
    r1cs: computeDigest(files.r1cs),
    wasm: computeDigest(files.wasm),
    zkey: computeDigest(files.zkey),
    compactKey: computeDigest(files.compactKey),
    verificationKey: computeDigest(files.verificationKey),
  };
}
const entry = {
  recipe: computeDigest('recipe'),
  constraints: 1,
  wires: 1,
  publicSignals: 3,
  domainSize: 2,
  terms: 1,
  sha256: digestsOf(contents),
};
const manifest: ArtifactsManifest = {
  'fund-16': entry,
  'fund-64': entry,
  'fund-256': entry,
  'spend-2x4': entry,
  'spend-16x8': entry,
};
/** What the store keeps for a prover. */
const kept = ['wasm', 'compactKey', 'verificationKey'] as const;

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'pool-store-test-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cacheDir, { recursive: true, force: true });
});

type TestStoreOptions = {
  readonly files?: Contents;
  readonly recipe?: string;
  readonly keyForm?: KeyForm;
  /** Digests the builder reports; default: the true ones. */
  readonly reported?: ArtifactDigests;
};

function createTestStore({
  files = contents,
  recipe = 'a'.repeat(64),
  keyForm = 'compact',
  reported = digestsOf(files),
}: TestStoreOptions = {}) {
  const build = vi.fn(async (_circuit: CircuitName, folder: string) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const kind of kept) {
      await writeFile(join(folder, artifactFiles[kind]), files[kind]);
    }
    return reported;
  });
  const buildConstraints = vi.fn(async (_circuit: CircuitName, folder: string) => {
    await writeFile(join(folder, artifactFiles.r1cs), files.r1cs);
    return { r1cs: computeDigest(files.r1cs) };
  });
  const convert = vi.fn(async (compactPath: string, zkeyPath: string) => {
    const standard = `standard form of ${await readFile(compactPath, 'utf8')}`;
    const written = files.zkey === contents.zkey ? standard : files.zkey;
    await writeFile(zkeyPath, written, { flag: 'wx' });
    return computeDigest(written);
  });
  const store = createArtifactStoreOf({
    cacheDir,
    keyForm,
    readManifest: () => manifest,
    computeRecipe: () => recipe,
    build,
    buildConstraints,
    convert,
  });
  return { store, build, buildConstraints, convert };
}

describe('the artifact store', () => {
  it('builds once, then serves from the cache', async () => {
    const { store, build } = createTestStore();
    const first = await store.ensureArtifacts('fund-16');
    const second = await store.ensureArtifacts('fund-16');
    expect(build).toHaveBeenCalledTimes(1);
    expect(second).toEqual(first);
    expect(first).toMatchObject({ circuit: 'fund-16', size: 16, digests: entry.sha256 });
    expect(await readFile(first.zkey, 'utf8')).toBe(contents.compactKey);
    expect(first.verificationKey).toEqual({ protocol: 'groth16' });
  });

  it('lets one caller build while others wait, and leaves nothing behind', async () => {
    const stores = [1, 2, 3].map(() => createTestStore());
    const results = await Promise.all(stores.map(({ store }) => store.ensureArtifacts('fund-16')));
    expect(stores.map(({ build }) => build.mock.calls.length).reduce((a, b) => a + b)).toBe(1);
    expect(new Set(results.map(({ zkey }) => zkey)).size).toBe(1);
    expect(await readdir(cacheDir)).toEqual([`fund-16-${'a'.repeat(16)}`]);
  });

  it.each(kept)('rebuilds when the cached %s differs', async (kind) => {
    const { store, build } = createTestStore();
    const { wasm } = await store.ensureArtifacts('fund-16');
    const path = join(wasm, '..', artifactFiles[kind]);
    await writeFile(path, 'tampered');
    await store.ensureArtifacts('fund-16');
    expect(build).toHaveBeenCalledTimes(2);
    expect(await readFile(path, 'utf8')).toBe(contents[kind]);
  });

  it.each(kept)('refuses a build whose %s is not pinned, and keeps nothing', async (kind) => {
    const files = { ...contents, [kind]: '"other"' };
    // The files are read again, independently of the digests that the builder reports.
    for (const reported of [digestsOf(files), entry.sha256]) {
      const { store } = createTestStore({ files, reported });
      await expect(store.ensureArtifacts('fund-16')).rejects.toMatchObject({
        code: 'artifact_mismatch',
        message: expect.stringContaining(kind),
      });
      expect(await readdir(cacheDir)).toEqual([]);
    }
  });

  it.each(['r1cs', 'zkey'] as const)(
    'refuses a build with another %s, even if that file is not stored',
    async (kind) => {
      const reported = { ...entry.sha256, [kind]: computeDigest('other') };
      const { store } = createTestStore({ reported });
      await expect(store.ensureArtifacts('fund-16')).rejects.toMatchObject({
        code: 'artifact_mismatch',
        message: expect.stringContaining(kind),
      });
    },
  );

  it('stores the artifacts of each recipe separately', async () => {
    const first = await createTestStore().store.ensureArtifacts('fund-16');
    const { store, build } = createTestStore({ recipe: 'b'.repeat(64) });
    const second = await store.ensureArtifacts('fund-16');
    expect(build).toHaveBeenCalledTimes(1);
    expect(second.zkey).not.toBe(first.zkey);
  });

  it('takes over the lock of a process that died', async () => {
    const { store } = createTestStore();
    // No process has this number: the maximum of Linux is 2^22.
    await writeFile(join(cacheDir, `fund-16-${'a'.repeat(16)}.lock`), '4194305\n');
    const { zkey } = await store.ensureArtifacts('fund-16');
    expect(existsSync(zkey)).toBe(true);
  });

  it('stops waiting for the lock of a live process when aborted', async () => {
    const { store } = createTestStore();
    await writeFile(join(cacheDir, `fund-16-${'a'.repeat(16)}.lock`), `${process.pid}\n`);
    const signal = AbortSignal.timeout(100);
    await expect(store.ensureArtifacts('fund-16', { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('reports its stages', async () => {
    const stages: string[] = [];
    await createTestStore().store.ensureArtifacts('fund-16', {
      onProgress: (stage) => stages.push(stage),
    });
    expect(stages).toEqual(['verify', 'ready']);
  });
});

describe('the constraint file', () => {
  it('is compiled on request, checked, and stored separately', async () => {
    const { store, build, buildConstraints } = createTestStore();
    const path = await store.ensureConstraints('fund-16');
    expect(await readFile(path, 'utf8')).toBe(contents.r1cs);
    await writeFile(path, 'tampered');
    expect(await readFile(await store.ensureConstraints('fund-16'), 'utf8')).toBe(contents.r1cs);
    expect(buildConstraints).toHaveBeenCalledTimes(2);
    expect(build).not.toHaveBeenCalled();
  });

  it('is refused when it is not pinned', async () => {
    const { store } = createTestStore({ files: { ...contents, r1cs: 'other' } });
    await expect(store.ensureConstraints('fund-16')).rejects.toMatchObject({
      code: 'artifact_mismatch',
    });
  });
});

describe('the standard form of the key', () => {
  it('is the key that a store for standard keys returns, made once and checked at every use', async () => {
    const { store, build, convert } = createTestStore({ keyForm: 'standard' });
    const { zkey } = await store.ensureArtifacts('fund-16');
    await store.ensureArtifacts('fund-16');
    expect(await readFile(zkey, 'utf8')).toBe(contents.zkey);
    expect([build, convert].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    await writeFile(zkey, 'tampered');
    await store.ensureArtifacts('fund-16');
    expect(await readFile(zkey, 'utf8')).toBe(contents.zkey);
    expect(convert).toHaveBeenCalledTimes(2);
  });

  it('is written to the path of the caller and replaces an older one', async () => {
    const { store } = createTestStore();
    const path = join(cacheDir, 'mine.zkey');
    await writeFile(path, 'older');
    await store.writeStandardZkey('fund-16', path);
    expect(await readFile(path, 'utf8')).toBe(contents.zkey);
    expect((await readdir(cacheDir)).sort()).toEqual([`fund-16-${'a'.repeat(16)}`, 'mine.zkey']);
  });

  it('is not written if it differs from the pinned one', async () => {
    const { store } = createTestStore({
      files: { ...contents, zkey: 'other' },
      reported: entry.sha256,
    });
    const path = join(cacheDir, 'mine.zkey');
    await writeFile(path, 'older');
    await expect(store.writeStandardZkey('fund-16', path)).rejects.toMatchObject({
      code: 'artifact_mismatch',
    });
    expect(await readFile(path, 'utf8')).toBe('older');
    expect((await readdir(cacheDir)).sort()).toEqual([`fund-16-${'a'.repeat(16)}`, 'mine.zkey']);
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
    await expect(store.writeStandardZkey('fund-16', join(cacheDir, 'k'))).rejects.toEqual(refused);
    await expect(buildArtifacts('fund-16', cacheDir)).rejects.toEqual(refused);
    expect(build).toHaveBeenCalledTimes(1);
  });
});
