import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { computeSourceDigest, parseCircuitName, sourceFolder } from './circuits.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-circuits-test-'));
  await cp(sourceFolder(), folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the digest of the sources', () => {
  it('does not depend on the folder, on other circuits, or on sources that are not included', async () => {
    await writeFile(join(folder, 'new.circom'), 'pragma circom 2.2.0;\n');
    await appendFile(join(folder, 'fund-64.circom'), '\n');
    expect(computeSourceDigest('fund-16', folder)).toBe(computeSourceDigest('fund-16'));
  });

  it.each(['fund-16.circom', 'fund.circom', 'poseidon.circom', 'generated/tags.circom'])(
    'changes with %s',
    async (name) => {
      await appendFile(join(folder, name), '\n');
      expect(computeSourceDigest('fund-16', folder)).not.toBe(computeSourceDigest('fund-16'));
    },
  );
});

it('refuses the name of a circuit that does not exist', () => {
  expect(parseCircuitName('fund-16')).toBe('fund-16');
  expect(() => parseCircuitName('fund-17')).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});
