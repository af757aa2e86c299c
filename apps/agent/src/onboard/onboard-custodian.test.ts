// `onboard --login custodian_a`: the holder's wallet at custodian A signs the session after a vote. The custodian is its simulator, over
// real HTTP; the platform is in memory.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSignInMessage, maxEvidenceSkewMs, parseEvmAddress } from '@pool/core';
import {
  createSampleOrganisation,
  type SampleOrganisation,
  type ServedCustodianA,
  sampleOrigin,
  serveCustodianA,
} from '@pool/custodians/custodian-a';
import { exitCodes } from '@pool/pay-run';
import { runOnboarding } from '@pool/platform-client/onboard';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../cli.ts';
import { readKeepingSettings } from '../config/config.ts';
import { type FakeAccounts, startFakeAccounts } from '../fixtures/fake-accounts.ts';
import { planOnboarding } from './onboard-plan.ts';

const holder = createFakeHolder(1);
const stranger = createFakeHolder(2);
const walletId = 'wa-00000-hold-0000000000000001';
const scalar = `0x01${'ab'.repeat(31)}`;

let directory: string;
let platform: FakeAccounts;
let organisation: SampleOrganisation;
let custodian: ServedCustodianA;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'onboard-'));
  platform = await startFakeAccounts();
  organisation = createSampleOrganisation({ [walletId]: holder.wallet.privateKey });
  custodian = await serveCustodianA(organisation.config);
});
afterEach(async () => {
  await Promise.all([platform.stop(), custodian.close()]);
  rmSync(directory, { recursive: true });
});

function writeSource(changes: Readonly<Record<string, string>> = {}): string {
  const source = join(directory, 'source.env');
  const { initiator } = organisation;
  const variables: Readonly<Record<string, string>> = {
    DISBURSE_HOME: join(directory, 'home'),
    DISBURSE_HOLDER_SIGNER: 'custodian_a',
    DISBURSE_HOLDER_VIEWING_KEY: scalar,
    DISBURSE_CUSTODIAN_A_URL: custodian.url,
    DISBURSE_CUSTODIAN_A_ORIGIN: sampleOrigin,
    DISBURSE_CUSTODIAN_A_SERVICE_TOKEN: initiator.token,
    DISBURSE_CUSTODIAN_A_CREDENTIAL_ID: initiator.credentialId,
    DISBURSE_CUSTODIAN_A_SERVICE_KEY: initiator.privateKey.trim().replaceAll('\n', '\\n'),
    DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID: walletId,
    DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB: holder.walletPub,
    DISBURSE_APPROVE_URL: 'http://127.0.0.1:9',
    DISBURSE_APPROVE_TOKEN: 'token-of-the-approve-process',
    ...changes,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  writeFileSync(source, lines.join('\n'));
  return source;
}

function outPath(): string {
  return join(directory, 'agent.env');
}

/** Whether a text waits for its vote. */
function isWaiting(): boolean {
  const home = join(directory, 'home');
  const names = existsSync(home) ? readdirSync(home) : [];
  return names.some((name) => /^onboard-sign-in-[0-9a-f]{16}\.json$/.test(name));
}

async function onboard(
  login: readonly string[] = ['--login', 'custodian_a'],
  source = writeSource(),
  isTty = true,
) {
  let printed = '';
  let shown = '';
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const enrolment = ['--enroll-holder', ...login, '--out', outPath()];
  const code = await runCli(
    ['onboard', '--platform', platform.url, '--env-file', source, ...enrolment],
    {
      out: print,
      err: print,
      terminal: {
        isTty,
        write: (text) => {
          shown += text;
        },
      },
    },
  );
  return { code, printed, shown };
}

async function vote(value: 'Approved' | 'Denied'): Promise<void> {
  const { control } = custodian;
  const findPending = () => control.state.approvals.find(({ status }) => status === 'Pending');
  await expect.poll(findPending).toBeDefined();
  control.vote(findPending()?.id ?? '', organisation.approver.userId, value, 'not this one');
}

function countRequests(): number {
  return custodian.control.requests({ method: 'POST', path: '/signatures$' }).length;
}

describe('onboard --login custodian_a', () => {
  it('waits for the vote, enrols the holder, and writes no credential of the custodian [command.onboard-custodian, command.onboard-vote]', async () => {
    const running = onboard();
    await vote('Approved');
    const { code, printed, shown } = await running;
    expect(printed).toContain(`signed in as ${holder.address}`);
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain(
      'set the files of the service token, the service key, the approve token and the viewing key in it',
    );
    expect(shown).toContain('waiting for the vote on the sign-in at the custodian');
    expect(platform.signIns.map(({ address }) => address)).toEqual([holder.address]);
    expect(platform.signIns[0]?.encryptionPublicKey).toMatch(/^0x[0-9a-f]{64}$/);
    const text = readFileSync(outPath(), 'utf8');
    expect(text).toContain('DISBURSE_HOLDER_SIGNER=custodian_a');
    expect(text).toContain(`DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID=${walletId}`);
    expect(text).toContain('DISBURSE_CUSTODIAN_A_HEADER_PREFIX=x-');
    expect(text).not.toContain(organisation.initiator.token);
    expect(text).not.toContain(organisation.initiator.privateKey.split('\n')[1]);
    expect(isWaiting()).toBe(false);
  });

  it('goes on with the same request after it was ended while it waited [command.onboard-vote]', async () => {
    const source = writeSource();
    const plan = await planOnboarding(
      { platform: platform.url, enrollHolder: true, login: 'custodian_a', out: outPath() },
      readKeepingSettings(source),
    );
    const interruption = new AbortController();
    const first = runOnboarding(plan, { signal: interruption.signal, store: () => undefined });
    first.catch(() => undefined);
    await expect.poll(countRequests).toBe(1);
    interruption.abort();
    await expect(first).rejects.toMatchObject({
      code: 'interrupted',
      message: expect.stringContaining('run the same command again'),
    });
    expect(isWaiting()).toBe(true);
    // People vote while no command runs.
    await vote('Approved');
    const { code } = await onboard(undefined, source);
    expect(code).toBe(exitCodes.ok);
    expect(countRequests()).toBe(1);
    expect(platform.calls.filter((call) => call === 'GET /api/auth/nonce')).toHaveLength(1);
    expect(isWaiting()).toBe(false);
  });

  it('says why the vote went against it, and keeps nothing [command.onboard-vote]', async () => {
    const running = onboard(undefined, undefined, false);
    await vote('Denied');
    const { code, printed, shown } = await running;
    const { id } = custodian.control.state.signatures[0] ?? {};
    expect(shown).toBe(`waiting for the vote on the sign-in at the custodian, request ${id}\n`);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('denied at the custodian: not this one');
    expect(isWaiting()).toBe(false);
    expect(platform.signIns).toEqual([]);
  });

  it('ends its redrawn line before it prints an error', async () => {
    const running = onboard();
    await vote('Denied');
    const { shown } = await running;
    expect(shown.endsWith('\r\u001b[K')).toBe(true);
  });

  it('writes one line into a pipe when an outage of the custodian begins, and one when it ends', async () => {
    const outage = { method: 'POST', path: '/auth/action/init$', kind: 'error-before' } as const;
    custodian.control.addFault({ ...outage, times: 2 });
    const running = onboard(undefined, undefined, false);
    await vote('Approved');
    const { code, shown } = await running;
    expect(code).toBe(exitCodes.ok);
    const { id } = custodian.control.state.signatures[0] ?? {};
    expect(shown.split('\n')).toEqual([
      expect.stringMatching(/^the custodian does not answer \(\w+\), trying again$/),
      'the custodian answers again',
      `waiting for the vote on the sign-in at the custodian, request ${id}`,
      '',
    ]);
  });

  it('asks for a new text if the stored one became too old before the custodian had it', async () => {
    const source = writeSource();
    const plan = await planOnboarding(
      { platform: platform.url, enrollHolder: true, login: 'custodian_a', out: outPath() },
      readKeepingSettings(source),
    );
    const nowMs = Date.now();
    const { encryptionPublicKey } = plan.holder ?? {};
    plan.pending?.keep(
      createSignInMessage({
        ...plan.place,
        address: parseEvmAddress(holder.address),
        chainId: 31_337,
        nonce: 'o'.repeat(20),
        issuedAtMs: nowMs - maxEvidenceSkewMs - 1_000,
        expirationTimeMs: nowMs + 3_600_000,
        ...(encryptionPublicKey === undefined ? {} : { encryptionPublicKey }),
      }),
    );
    const running = onboard(undefined, source);
    await vote('Approved');
    const { code, printed } = await running;
    expect(printed).toContain(`signed in as ${holder.address}`);
    expect(code).toBe(exitCodes.ok);
    expect(countRequests()).toBe(1);
    expect(isWaiting()).toBe(false);
  });

  it('is the only session that enrols this holder [command.onboard-own-session]', async () => {
    const source = writeSource({ ONBOARD_PRIVATE_KEY: stranger.wallet.privateKey });
    const { code, printed } = await onboard([], source);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('wallet_mismatch');
    expect(printed).toContain('--login custodian_a');
    expect(countRequests()).toBe(0);
    expect(platform.calls).toEqual([]);
  });
});
