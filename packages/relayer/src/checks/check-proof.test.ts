import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verificationKeys } from '@pool/circuits';
import { circuitNames } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadVerificationKeys } from './check-proof.ts';

describe('the keys that proofs are verified with', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-platform-keys-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
  const json = JSON.stringify(verificationKeys['fund-64']);

  /** A folder with the verification key of fund-64 and nothing else, and the manifest that pins it. */
  async function publish(written: string) {
    await mkdir(join(folder, 'fund-64'));
    await writeFile(join(folder, 'fund-64', 'verification-key.json'), written);
    const elsewhere = digestOf('a file that the platform does not need');
    const sha256 = {
      r1cs: elsewhere,
      wasm: elsewhere,
      zkey: elsewhere,
      verificationKey: digestOf(json),
    };
    const manifest = join(folder, 'production.json');
    await writeFile(manifest, JSON.stringify({ circuits: { 'fund-64': { sha256 } } }));
    return { folder, manifest };
  }

  it('are by default the pinned development keys', async () => {
    const keys = await loadVerificationKeys(undefined);
    expect([...keys.keys()]).toEqual([...circuitNames]);
    expect(keys.get('fund-16')).toEqual(verificationKeys['fund-16']);
  });

  it('are the keys that the manifest pins, without a proving key', async () => {
    const keys = await loadVerificationKeys(await publish(json));
    expect([...keys]).toEqual([['fund-64', verificationKeys['fund-64']]]);
  });

  it('are refused if a file differs from the manifest', async () => {
    const published = await publish(json.replace('"1"', '"2"'));
    await expect(loadVerificationKeys(published)).rejects.toMatchObject({
      code: 'artifact_refused',
    });
  });
});
