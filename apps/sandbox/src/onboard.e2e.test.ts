// `disburse-agent onboard` against a real platform with its gate: the whole pass of a holder, and what it writes.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { createEdgeClient, createKeyVerifier, createSessionClient } from '@pool/platform-client';
import { startNodeProcess } from '@pool/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { deriveHolderKey } from './chain/sandbox-keys.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { agentScript } from './processes/agent-process.ts';

type Identity = {
  readonly address: string;
  readonly walletPub: string;
  readonly encryptionPublicKey: string;
};

let stack: TestStack;
let home: string;
beforeAll(async () => {
  stack = await startTestStack({ holderCount: 1 });
  home = mkdtempSync(join(tmpdir(), 'onboard-'));
});
afterAll(async () => {
  rmSync(home, { recursive: true });
  await stack.end();
});

/** A wallet that the platform has never seen, and the key of another one. */
const holderKey = deriveHolderKey(2_000);
const hostKey = deriveHolderKey(2_001);

let runs = 0;
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  runs += 1;
  const agent = startNodeProcess({
    name: 'onboard',
    script: agentScript,
    args,
    logPath: join(home, `${runs}.log`),
    env: { DISBURSE_HOME: home, DISBURSE_HOLDER_PRIVATE_KEY: holderKey.reveal(), ...env },
  });
  try {
    const { code } = await agent.exited;
    return { code, output: agent.output() };
  } finally {
    await agent.stop();
  }
}

function readVariable(path: string, name: string): string {
  const line = readFileSync(path, 'utf8').match(new RegExp(`^${name}=(.*)$`, 'm'));
  return line?.[1] ?? '';
}

it('opens no account where it refuses, and names --login holder [identity.address-is-sessions]', async () => {
  const { code, output } = await run(
    [
      'onboard',
      '--platform',
      stack.platformUrl,
      '--enroll-holder',
      '--capabilities',
      'holder.read',
    ],
    { ONBOARD_PRIVATE_KEY: hostKey.reveal() },
  );
  expect(code).not.toBe(0);
  expect(output).toContain('--login holder');
  const host = createSessionClient({ url: stack.platformUrl });
  await expect(host.listKeys()).rejects.toMatchObject({ code: 'unauthorized' });
});

it('enrols the holder in its own session, and writes credentials that work [service.account-operations, identity.address-is-sessions, command.onboard, command.onboard-capabilities, command.onboard-own-keys]', async () => {
  const path = join(home, 'agent.env');
  const { code, output } = await run([
    'onboard',
    '--platform',
    stack.platformUrl,
    '--enroll-holder',
    '--login',
    'holder',
    '--capabilities',
    'holder.read,holder.transfer,holder.send',
  ]);
  expect(output).toContain('enrolled: ready');
  expect(code).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);

  const edgeToken = new Secret(readVariable(path, 'DISBURSE_PLATFORM_TOKEN'));
  const edge = createEdgeClient({
    url: readVariable(path, 'DISBURSE_PLATFORM_URL'),
    token: edgeToken,
  });
  const { employerId, employerAddress } = await edge.bootstrap();
  expect(readVariable(path, 'DISBURSE_EMPLOYER_ID')).toBe(employerId);
  const verifyUrl = readVariable(path, 'DISBURSE_PLATFORM_VERIFY_URL');
  const verifier = createKeyVerifier({ verifyUrl, edgeToken });
  for (const [name, capability] of [
    ['DISBURSE_BALANCE_TOKEN', 'holder.read'],
    ['DISBURSE_TRANSFER_TOKEN', 'holder.transfer'],
    ['DISBURSE_SEND_TOKEN', 'holder.send'],
  ] as const) {
    expect(await verifier.verify(readVariable(path, name))).toMatchObject({
      valid: true,
      capability,
      employerId,
      address: employerAddress,
    });
    expect(output).not.toContain(readVariable(path, name));
  }

  // The identity is the enrolled one, and the session's.
  const identity = JSON.parse(
    (
      await run(['identity', '--env-file', path], {
        DISBURSE_CHAINS_FILE: join(stack.directory, 'chains.json'),
      })
    ).output,
  ) as Identity;
  expect(identity.address).toBe(employerAddress);
  const session = await openSession(holderKey, stack);
  expect(await session.getEnrollment()).toMatchObject({
    readiness: 'ready',
    walletPub: identity.walletPub,
    encryptionPublicKey: identity.encryptionPublicKey,
  });
  expect(readVariable(path, 'DISBURSE_HOLDER_ENCRYPTION_PUBKEY')).toBe(
    identity.encryptionPublicKey,
  );
  const check = await run(['config', 'check', '--env-file', path]);
  expect(check).toMatchObject({ code: 0 });
});

it('overwrites no file, and mints nothing then', async () => {
  const session = await openSession(holderKey, stack);
  const before = await session.listKeys();
  const { code, output } = await run([
    'onboard',
    '--platform',
    stack.platformUrl,
    '--login',
    'holder',
    '--capabilities',
    'holder.read',
  ]);
  expect(code).not.toBe(0);
  expect(output).toContain('is not overwritten');
  expect(await session.listKeys()).toEqual(before);
});

it('writes a chains.json that works from the file that the operator publishes, if the chain agrees', async () => {
  const published = join(home, 'published.json');
  const { evidence, chains } = stack.chains;
  const chain = chains[stack.chain];
  if (chain === undefined) {
    throw new Error('the stack has no chain');
  }
  const { rpcUrl, ...settings } = chain;
  const publish = (changes: object): void =>
    writeFileSync(
      published,
      JSON.stringify({ evidence, chains: { [stack.chain]: { ...settings, ...changes } } }),
    );
  const own = join(home, 'published-home');
  const onboard = () =>
    run(
      [
        ...['onboard', '--platform', stack.platformUrl, '--chains', published],
        ...['--rpc', `${stack.chain}=${rpcUrl}`],
      ],
      { DISBURSE_HOME: own, ONBOARD_PRIVATE_KEY: hostKey.reveal() },
    );
  const { USDC } = settings.tokens;
  for (const [changes, message] of [
    [{ tokens: { USDC: { ...USDC, decimals: 18 } } }, 'USDC has 6 decimals, and the file says 18'],
    [{ tokens: { EVIL: { ...USDC, address: settings.pool } } }, 'is not the token EVIL'],
    [{ deployedAtBlock: 1 }, 'the pool was not deployed in block 1'],
    [{ registry: settings.pool }, 'is not a ShieldedPool with the registry'],
    [{ chainId: 8453 }, 'serves another chain'],
  ] as const) {
    publish(changes);
    const refused = await onboard();
    expect(refused.output).toContain(message);
    expect(refused.code).not.toBe(0);
    expect(existsSync(join(own, 'chains.json'))).toBe(false);
  }

  publish({});
  const { code, output } = await onboard();
  expect(output).toContain(`wrote ${join(own, 'chains.json')}: each chain confirms`);
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(join(own, 'chains.json'), 'utf8'))).toEqual({
    evidence,
    chains: { [stack.chain]: { ...settings, rpcUrl } },
  });
  const check = await run(['config', 'check'], { DISBURSE_HOME: own });
  expect(check.code).toBe(0);
});
