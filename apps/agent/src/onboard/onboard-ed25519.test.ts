// `disburse-agent onboard` with a wallet of Solana or Stellar (docs/decisions/0006), against a platform in memory.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '@pool/pay-run';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../cli.ts';
import { readEnvFile } from '../config/config.ts';
import { type FakeAccounts, startFakeAccounts } from '../fixtures/fake-accounts.ts';

const seed = `0x${'4e'.repeat(32)}`;

let directory: string;
let platform: FakeAccounts;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'onboard-'));
  platform = await startFakeAccounts();
});
afterEach(async () => {
  await platform.stop();
  rmSync(directory, { recursive: true });
});

describe('onboard of an ed25519 wallet', () => {
  it.each([
    ['solana', /^[1-9A-HJ-NP-Za-km-z]{43,44}$/],
    ['stellar', /^G[A-Z2-7]{55}$/],
  ])(
    'enrols it on %s, and says that it cannot be paid here [variable.holder-signer-ed25519]',
    async (family, form) => {
      const home = join(directory, 'home');
      mkdirSync(home);
      const evidence = { domain: new URL(platform.url).host, uri: platform.url };
      writeFileSync(
        join(home, 'chains.json'),
        JSON.stringify({ evidence, chains: { other: { family } } }),
      );
      const source = join(directory, 'source.env');
      const variables = {
        DISBURSE_HOME: home,
        DISBURSE_CHAIN: 'other',
        DISBURSE_HOLDER_SIGNER: 'local-ed25519',
        DISBURSE_HOLDER_ED25519_KEY: seed,
      };
      writeFileSync(
        source,
        Object.entries(variables)
          .map(([name, value]) => `${name}=${value}`)
          .join('\n'),
      );
      platform.enrolled = { readiness: 'eligibility_disabled' };
      let printed = '';
      const print = (text: string): void => {
        printed += `${text}\n`;
      };
      const outPath = join(directory, 'agent.env');
      const enrolment = ['--enroll-holder', '--login', 'holder', '--out', outPath];
      const code = await runCli(
        ['onboard', '--platform', platform.url, '--env-file', source, ...enrolment],
        { out: print, err: print, terminal: { isTty: false, write: () => undefined } },
      );
      expect(printed).toContain(
        `cannot be paid and cannot spend here: there is no pool on ${family}`,
      );
      expect(code).toBe(exitCodes.ok);
      const text = readFileSync(outPath, 'utf8');
      const { values } = readEnvFile(text, outPath);
      expect(values).toMatchObject({
        DISBURSE_CHAIN: 'other',
        DISBURSE_HOLDER_SIGNER: 'local-ed25519',
      });
      expect(text).toContain('DISBURSE_HOLDER_ED25519_KEY_FILE');
      const [signIn] = platform.signIns;
      expect(signIn?.address).toMatch(form);
      expect(signIn?.encryptionPublicKey).toBe(values['DISBURSE_HOLDER_ENCRYPTION_PUBKEY']);
      expect(text + printed).not.toContain(seed.slice(2));
    },
  );
});
