// `disburse-agent onboard` against a platform in memory: what it asks for, what it writes, and what it refuses before either.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { exitCodes } from '@pool/pay-run';
import type { Onboarded } from '@pool/platform-client/onboard';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import encryptionVectors from '../../../../vectors/encryption-key.json' with { type: 'json' };
import walletVectors from '../../../../vectors/wallet-id.json' with { type: 'json' };
import { runCli } from '../cli.ts';
import { parseConfig, readEnvFile } from '../config/config.ts';
import type { HolderConfig } from '../config/holder-config.ts';
import { type FakeAccounts, fakeEmployerId, startFakeAccounts } from '../fixtures/fake-accounts.ts';
import { bootstrap } from '../fixtures/test-app.ts';
import { renderAgentEnv } from './onboard-files.ts';
import type { OnboardPlan } from './onboard-plan.ts';

// Keys and addresses of an independent implementation.
const [first, second] = walletVectors.wallets.slice(-2);
const [escrow] = encryptionVectors.keys.slice(-1);
if (first === undefined || second === undefined || escrow === undefined) {
  throw new Error('the vectors have no keys');
}
const [hostKey, host] = [first.privateKey, first.address];
const [holderKey, holder] = [second.privateKey, second.address];

function expectNoSecret(text: string): void {
  for (const secret of [hostKey, holderKey, escrow?.viewingKey ?? '']) {
    expect(text).not.toContain(secret.slice(2));
  }
}

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

type Variables = Readonly<Record<string, string>>;
const keys = { ONBOARD_PRIVATE_KEY: hostKey, DISBURSE_HOLDER_PRIVATE_KEY: holderKey };

async function onboard(args: readonly string[], variables: Variables = keys) {
  const source = join(directory, 'source.env');
  const lines = Object.entries({ DISBURSE_HOME: join(directory, 'home'), ...variables });
  writeFileSync(source, lines.map(([name, value]) => `${name}=${value}`).join('\n'));
  let printed = '';
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const code = await runCli(
    ['onboard', '--platform', platform.url, '--env-file', source, ...args],
    { out: print, err: print, terminal: { isTty: false, write: () => undefined } },
  );
  return { code, printed };
}

function outPath(): string {
  return join(directory, 'agent.env');
}

function readOut(): { readonly text: string; readonly values: Variables } {
  const text = readFileSync(outPath(), 'utf8');
  const { values, problems } = readEnvFile(text, outPath());
  expect(problems).toEqual([]);
  return { text, values: values as Variables };
}

function writeChains(domain: string): void {
  mkdirSync(join(directory, 'home'));
  const evidence = { domain, uri: platform.url };
  writeFileSync(
    join(directory, 'home', 'chains.json'),
    JSON.stringify({ evidence, chains: { sol: { family: 'solana' } } }),
  );
}

const all = 'holder.read,holder.transfer,holder.send,disburse';

describe('onboard', () => {
  it('signs in as the holder with its P, enrols, mints, and writes a complete file of mode 0600 [command.onboard, command.onboard-capabilities]', async () => {
    const { code, printed } = await onboard([
      '--enroll-holder',
      '--login',
      'holder',
      '--capabilities',
      all,
      '--out',
      outPath(),
    ]);
    expect(code).toBe(exitCodes.ok);
    expect(platform.calls).toEqual([
      'GET /api/auth/nonce',
      'POST /api/auth/verify',
      'POST /api/employers/register',
      'POST /api/employers/holder/onboard',
      'POST /api/employers/edge-tokens',
      'POST /api/employers/keys',
      'POST /api/employers/keys',
      'POST /api/employers/keys',
      'POST /api/employers/keys',
      'POST /agent-edge/bootstrap',
      'POST /api/auth/logout',
    ]);
    const { text, values } = readOut();
    const encryptionPublicKey = values['DISBURSE_HOLDER_ENCRYPTION_PUBKEY'];
    expect(platform.signIns).toEqual([{ address: holder, encryptionPublicKey }]);
    expect(statSync(outPath()).mode & 0o777).toBe(0o600);
    expect(values).toMatchObject({
      DISBURSE_PLATFORM_URL: `${platform.url}/agent-edge`,
      DISBURSE_PLATFORM_TOKEN: 'pool_edge_canary1',
      DISBURSE_PLATFORM_VERIFY_URL: `${platform.url}/api/employers/verify-key`,
      DISBURSE_EMPLOYER_ID: fakeEmployerId,
      DISBURSE_CHAIN: 'anvil',
      DISBURSE_HOLDER_SIGNER: 'local-key',
      DISBURSE_BALANCE_TOKEN: 'pool_live_canary2',
      DISBURSE_TRANSFER_TOKEN: 'pool_live_canary3',
      DISBURSE_SEND_TOKEN: 'pool_live_canary4',
      DISBURSE_SEND_DESTINATIONS: '',
    });
    // The disburse key is for callers, so it is in a comment.
    expect(text).toContain('# pool_live_canary5');
    expectNoSecret(text);
    // The agent starts with it.
    const config = parseConfig(
      { env: {}, readFile: () => '', homeDir: directory },
      { values, path: outPath() },
    );
    expect(config.holder.sendToken?.reveal()).toBe('pool_live_canary4');
    expectNoSecret(printed);
    expect(printed).not.toContain('canary');
    expect(printed).not.toContain(fakeEmployerId);
    expect(printed).toContain(`P ${encryptionPublicKey}`);
  });

  it('signs the session with the host key by default, and lists no P where nothing is enrolled [command.onboard-host-key, variable.onboard-key]', async () => {
    const { code } = await onboard(['--capabilities', 'disburse', '--out', outPath()], {
      ONBOARD_PRIVATE_KEY: hostKey,
    });
    expect(code).toBe(exitCodes.ok);
    expect(platform.signIns).toEqual([{ address: host, encryptionPublicKey: undefined }]);
    expect(platform.calls).not.toContain('POST /api/employers/holder/onboard');
    const { values } = readOut();
    expect(values['DISBURSE_BALANCE_TOKEN']).toBe('');
    expect(values).not.toHaveProperty('DISBURSE_HOLDER_ENCRYPTION_PUBKEY');
  });

  it('enrols with the host key if that is the key of the holder’s wallet', async () => {
    const same = { ONBOARD_PRIVATE_KEY: holderKey, DISBURSE_HOLDER_PRIVATE_KEY: holderKey };
    const { code } = await onboard(['--enroll-holder', '--out', outPath()], same);
    expect(code).toBe(exitCodes.ok);
    expect(platform.calls).toContain('POST /api/employers/holder/onboard');
  });

  it('enrols the P of an escrowed viewing key [command.onboard-own-keys]', async () => {
    const variables = { ...keys, DISBURSE_HOLDER_VIEWING_KEY: escrow.viewingKey };
    const args = ['--enroll-holder', '--login', 'holder', '--out', outPath()];
    expect((await onboard(args, variables)).code).toBe(exitCodes.ok);
    expect(platform.signIns[0]?.encryptionPublicKey).toBe(escrow.encryptionPublicKey);
    const { text } = readOut();
    expect(text).toContain('#DISBURSE_HOLDER_VIEWING_KEY_FILE=');
    expect(text).not.toContain(escrow.viewingKey.slice(2));
  });

  it('writes into the agent directory by default, and proposes a chains.json that a person has to complete', async () => {
    const { code, printed } = await onboard([]);
    expect(code).toBe(exitCodes.ok);
    const home = join(directory, 'home');
    expect(statSync(join(home, 'agent.env')).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(existsSync(join(home, 'chains.json'))).toBe(false);
    const proposed = JSON.parse(readFileSync(join(home, 'chains.json.proposed'), 'utf8')) as object;
    expect(proposed).toMatchObject({
      evidence: { domain: new URL(platform.url).host, uri: platform.url },
      chains: { anvil: { family: 'evm', chainId: 31337, rpcUrl: null, finality: null } },
    });
    expect(printed).toContain('chains.json.proposed: compare its addresses');
  });

  it('leaves an existing chains.json alone, and signs in under its domain', async () => {
    writeChains(new URL(platform.url).host);
    const { code, printed } = await onboard(['--enroll-holder', '--login', 'holder']);
    expect(code).toBe(exitCodes.ok);
    expect(printed).not.toContain('proposed');
    expect(existsSync(join(directory, 'home', 'chains.json.proposed'))).toBe(false);
  });
});

describe('onboard refuses, before it sends or writes anything,', () => {
  it.each<[string, readonly string[], Variables, string]>([
    [
      'to enrol from another wallet’s session',
      ['--enroll-holder'],
      keys,
      `wallet_mismatch: the session would be signed by ${host}, and the holder's wallet is ${holder}`,
    ],
    [
      'a holder key from another wallet’s session',
      ['--capabilities', 'holder.read'],
      keys,
      '--login holder',
    ],
    ['--rpc without --chains', ['--rpc', 'a=https://n'], keys, '--chains, which is missing'],
    ['an unknown file', ['--chains', '/none.json'], keys, '/none.json, cannot be read (ENOENT)'],
    ['no host key', [], {}, 'ONBOARD_PRIVATE_KEY is required'],
    ['no holder key', ['--login', 'holder'], {}, 'DISBURSE_HOLDER_PRIVATE_KEY is required'],
    [
      'custodian A without its holder',
      ['--login', 'custodian_a'],
      keys,
      'requires DISBURSE_HOLDER_SIGNER=custodian_a',
    ],
    ['another login', ['--login', 'somebody'], keys, '--login must be holder or custodian_a'],
    [
      'an unknown capability',
      ['--capabilities', 'holder.read,all'],
      keys,
      'entry 2: must be one of',
    ],
    ['a capability twice', ['--capabilities', 'disburse,disburse'], keys, 'names disburse twice'],
    [
      'an ed25519 holder',
      ['--enroll-holder', '--login', 'holder'],
      { DISBURSE_HOLDER_SIGNER: 'local-ed25519', DISBURSE_HOLDER_ED25519_KEY: holderKey },
      'DISBURSE_CHAIN is required by local-ed25519',
    ],
    [
      'holder keys of an ed25519 holder',
      ['--login', 'holder', '--capabilities', 'holder.transfer'],
      { DISBURSE_HOLDER_SIGNER: 'local-ed25519', DISBURSE_HOLDER_ED25519_KEY: holderKey },
      'no pool exists there',
    ],
    [
      'a viewing key that does not give the configured P',
      ['--enroll-holder', '--login', 'holder'],
      {
        ...keys,
        DISBURSE_HOLDER_VIEWING_KEY: escrow.viewingKey,
        DISBURSE_HOLDER_ENCRYPTION_PUBKEY: `0x${'a1'.repeat(32)}`,
      },
      'viewing_key_mismatch',
    ],
    [
      'a directory that does not exist',
      ['--out', '/nowhere/at/all/agent.env'],
      keys,
      'does not exist or cannot be written to',
    ],
    [
      'a missing directory in one that can be written to',
      ['--out', join(tmpdir(), 'not-made-by-anybody', 'agent.env')],
      keys,
      'does not exist or cannot be written to',
    ],
  ])('%s [command.onboard-capabilities]', async (_title, args, variables, expected) => {
    const { code, printed } = await onboard(['--out', outPath(), ...args], variables);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain(expected);
    expectNoSecret(printed);
    expect(platform.calls).toEqual([]);
    expect(existsSync(outPath())).toBe(false);
  });

  it('a file that exists, which it does not change', async () => {
    writeFileSync(outPath(), 'mine');
    const { code, printed } = await onboard(['--out', outPath()]);
    expect(code).toBe(exitCodes.error);
    expect(printed).toContain(`${outPath()} exists`);
    expect(readFileSync(outPath(), 'utf8')).toBe('mine');
    expect(platform.calls).toEqual([]);
  });

  it('a platform that is not the one of chains.json', async () => {
    writeChains('pool.example');
    const { printed } = await onboard(['--out', outPath()]);
    expect(printed).toContain('evidence.domain');
    expect(printed).toContain('pool.example');
    expect(platform.calls).toEqual([]);
  });

  it.each(['/agent-edge', '?x=1', '#y'])('a platform address that ends with %s', async (end) => {
    const { code } = await onboard(['--platform', `${platform.url}${end}`, '--out', outPath()]);
    expect(code).not.toBe(exitCodes.ok);
    expect(platform.calls).toEqual([]);
  });
});

describe('onboard that fails halfway', () => {
  const twoKeys = ['--login', 'holder', '--capabilities', 'holder.read,holder.send'];

  it.each([
    ['POST /api/employers/keys', 2],
    ['POST /agent-edge/bootstrap', 1],
    ['POST /api/employers/edge-tokens', 1],
    ['POST /api/employers/register', 1],
  ])('at call %s number %i revokes what it minted, and writes no file', async (call, times) => {
    platform.failures = [{ call, times }];
    const { code, printed } = await onboard([...twoKeys, '--out', outPath()]);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).not.toContain('canary');
    expect(printed).not.toContain('could not be revoked');
    expect(existsSync(outPath())).toBe(false);
    expect(platform.live()).toEqual([]);
    expect(platform.calls.at(-1)).toBe('POST /api/auth/logout');
  });

  it.each(['POST /api/employers/keys', 'POST /api/employers/edge-tokens'])(
    'revokes the credential of %s if the answer to the call is lost',
    async (call) => {
      platform.failures = [{ call, times: 1, isDone: true }];
      const { code, printed } = await onboard([...twoKeys, '--out', outPath()]);
      expect(code).not.toBe(exitCodes.ok);
      expect(platform.calls.filter((made) => made.startsWith('DELETE '))).not.toEqual([]);
      expect(platform.live()).toEqual([]);
      expect(printed).not.toContain('could not be revoked');
    },
  );

  it('revokes nothing of another pass', async () => {
    await onboard(['--login', 'holder', '--out', outPath()]);
    const before = platform.live();
    expect(before).toHaveLength(1);
    platform.failures = [{ call: 'POST /agent-edge/bootstrap', times: 2 }];
    await onboard([...twoKeys, '--out', join(directory, 'second.env')]);
    expect(platform.live()).toEqual(before);
  });

  it('names what it could not revoke, and the reason of the failure', async () => {
    platform.failures = [
      { call: 'POST /agent-edge/bootstrap', times: 1 },
      { call: 'DELETE /api/employers/keys/', times: 0 },
    ];
    const { code, printed } = await onboard([...twoKeys, '--out', outPath()]);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('credentials_not_revoked');
    expect(printed).toContain('API key 2, API key 3');
    expect(printed).not.toContain('edge token 1');
    expect(platform.live()).toEqual(['keys/2', 'keys/3']);
    expect(existsSync(outPath())).toBe(false);
  });

  it.each([
    ['walletPub', `0x02${'ab'.repeat(32)}`],
    ['encryptionPublicKey', `0x${'ab'.repeat(32)}`],
  ])('refuses an enrolment that names another %s than it sent', async (field, value) => {
    platform.enrolled = { [field]: value };
    const { code, printed } = await onboard(['--enroll-holder', ...twoKeys, '--out', outPath()]);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('enrolled another W or P');
    expect(platform.live()).toEqual([]);
    expect(existsSync(outPath())).toBe(false);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('undoes its work at %s', async (signal) => {
    let hangs = true;
    platform.onCall = (call) => {
      if (hangs && call === 'POST /agent-edge/bootstrap') {
        hangs = false;
        process.emit(signal, signal);
      }
    };
    const { code, printed } = await onboard([...twoKeys, '--out', outPath()]);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('interrupted');
    expect(platform.live()).toEqual([]);
    expect(existsSync(outPath())).toBe(false);
  });
});

describe('a value that would mean something else in the file', () => {
  const plan = { platformUrl: 'https://pool.example', holder: undefined } as unknown as OnboardPlan;
  const minted = (apiKey: string, employerId = fakeEmployerId): Onboarded => ({
    employerId,
    isNewAccount: true,
    enrolment: undefined,
    edgeToken: new Secret('pool_edge_x'),
    keys: new Map([['holder.read', new Secret(apiKey)]]),
    bootstrap: { ...bootstrap, employerId },
  });
  const config = { chain: 'anvil', holder: { signer: 'local-key' } as HolderConfig };

  it.each(['\nDISBURSE_DEFAULT=1', '"', "'", '`', '#', '\\', ' ', '\u00e9', '\r', '\0'])(
    'is refused: %j',
    (odd) => {
      expect(renderAgentEnv(plan, minted('pool_live_x'), config)).toContain('=pool_live_x\n');
      for (const result of [minted(`pool_live_x${odd}y`), minted('pool_live_x', `id${odd}`)]) {
        expect(() => renderAgentEnv(plan, result, config)).toThrow(
          expect.objectContaining({ code: 'platform_invalid_response' }),
        );
        expect(() => renderAgentEnv(plan, result, config)).not.toThrow(/pool_live_x/);
      }
    },
  );

  it('ends the pass, which leaves no credential', async () => {
    platform.apiKey = 'pool_live_x\nDISBURSE_SEND_MAX_AMOUNT=1';
    const { code } = await onboard([
      '--login',
      'holder',
      '--capabilities',
      'holder.read',
      '--out',
      outPath(),
    ]);
    expect(code).not.toBe(exitCodes.ok);
    expect(existsSync(outPath())).toBe(false);
    expect(platform.live()).toEqual([]);
  });
});
