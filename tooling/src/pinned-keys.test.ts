/** The files of keys that @pool/circuits writes, as @pool/contracts reads them. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verificationKeys } from '@pool/circuits';
import { readPinnedKeys } from '@pool/contracts/pinned-keys';
import { bigintToHex32 } from '@pool/core';
import { expect, it } from 'vitest';

/** The development key with another alpha, in the form of its file and in words. */
const ceremonyKey = { ...verificationKeys['fund-16'], vk_alpha_1: ['1', '2', '1'] };
const [, , ...wordsAfterAlpha] = (await readPinnedKeys(undefined))['fund-16'] ?? [];
const ceremonyWords = [bigintToHex32(1n), bigintToHex32(2n), ...wordsAfterAlpha];

it('reads the keys that a manifest pins, and refuses a file that it does not pin', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pool-pinned-keys-'));
  try {
    const json = JSON.stringify(ceremonyKey);
    const sha256 = { verificationKey: createHash('sha256').update(json).digest('hex') };
    const manifest = join(folder, 'manifest.json');
    await writeFile(
      manifest,
      JSON.stringify({ circuits: { 'fund-16': { sha256 }, 'fund-64': { sha256 } } }),
    );
    await mkdir(join(folder, 'fund-16'));
    const path = join(folder, 'fund-16', 'verification-key.json');
    await writeFile(path, json);
    expect(await readPinnedKeys({ folder, manifest })).toEqual({ 'fund-16': ceremonyWords });
    await writeFile(path, `${json} `);
    await expect(readPinnedKeys({ folder, manifest })).rejects.toMatchObject({
      code: 'artifact_refused',
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
