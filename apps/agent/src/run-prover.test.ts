import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProver } from './run-prover.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-prover-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('makes a key pair in a new file of its owner', async () => {
  const file = join(folder, 'prover.key');
  const lines: string[] = [];
  const out = (text: string) => lines.push(text);
  expect(await runProver({ newKey: file }, { out })).toBe(0);
  const { publicKey, privateKey } = JSON.parse(readFileSync(file, 'utf8')) as {
    publicKey: string;
    privateKey: string;
  };
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await identityToRecipient(privateKey)).toBe(publicKey);
  expect(lines.join()).toContain(`DISBURSE_PROVER_PUBLIC_KEY=${publicKey}`);
  expect(lines.join()).not.toContain(privateKey);
  await expect(runProver({ newKey: file }, { out })).rejects.toMatchObject({
    code: 'file_not_written',
  });
});

it('names every variable that it misses', async () => {
  const envFile = join(folder, 'empty.env');
  writeFileSync(envFile, '');
  await expect(runProver({ envFile }, { out: () => undefined })).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringMatching(
      /DISBURSE_PROVER_QUEUE is required.*DISBURSE_PROVER_PRIVATE_KEY is required/s,
    ),
  });
});
