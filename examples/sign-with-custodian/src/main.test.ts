import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSignInMessage, parseEvmAddress, Secret } from '@pool/core';
import {
  createSampleOrganisation,
  type ServedCustodianA,
  sampleOrigin,
  serveCustodianA,
} from '@pool/custodians/custodian-a';
import { createCustodianASigner } from '@pool/signers';
import { verifyMessage, Wallet } from 'ethers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSignInService } from './service.ts';

const wallet = new Wallet(`0x${'4c'.repeat(32)}`);
const walletId = 'wa-00000-login-0000000000000001';
const { initiator, approver, config } = createSampleOrganisation({ [walletId]: wallet.privateKey });

let folder: string;
let custodian: ServedCustodianA;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-sign-with-custodian-'));
  custodian = await serveCustodianA(config);
  await writeFile(join(folder, 'token'), initiator.token);
  await writeFile(join(folder, 'key.pem'), initiator.privateKey);
});
afterAll(async () => {
  for (const child of children) {
    child.kill('SIGKILL');
  }
  await custodian.close();
  await rm(folder, { recursive: true });
});

/** The service as a process. @returns its address */
async function start(): Promise<string> {
  const main = join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, ['--conditions=@pool/source', main], {
    env: {
      PORT: '0',
      STORE: join(folder, 'store'),
      SITE: 'https://pool.example',
      CHAIN_ID: '31337',
      CUSTODIAN_URL: custodian.url,
      CUSTODIAN_ORIGIN: sampleOrigin,
      CUSTODIAN_TOKEN_FILE: join(folder, 'token'),
      CUSTODIAN_KEY_FILE: join(folder, 'key.pem'),
      CUSTODIAN_CREDENTIAL_ID: initiator.credentialId,
      CUSTODIAN_WALLET_ID: walletId,
      WALLET_ADDRESS: wallet.address,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return (JSON.parse(line.toString('utf8')) as { url: string }).url;
}

type Answer = { id: string; state: string; signature?: string; reason?: string };

async function call(url: string, init: RequestInit = {}): Promise<[number, Answer]> {
  const response = await fetch(url, init);
  return [response.status, (await response.json()) as Answer];
}

function textOf(nonce: string, domain = 'pool.example'): string {
  return createSignInMessage({
    domain,
    address: parseEvmAddress(wallet.address),
    uri: `https://${domain}`,
    chainId: 31337,
    nonce,
    issuedAtMs: Date.now(),
    expirationTimeMs: Date.now() + 600_000,
  });
}

function post(url: string, message: string): Promise<[number, Answer]> {
  return call(`${url}/sign-ins`, { method: 'POST', body: JSON.stringify({ message }) });
}

it('signs after the vote, although the process that asked is gone', async () => {
  const message = textOf('abcdefgh12345678');
  const before = await createSignInService({
    signer: createCustodianASigner({
      url: custodian.url,
      origin: sampleOrigin,
      token: new Secret(initiator.token),
      credentialId: initiator.credentialId,
      serviceKey: new Secret(initiator.privateKey),
      walletId,
      address: parseEvmAddress(wallet.address),
    }),
    store: join(folder, 'store'),
    expected: { domain: 'pool.example', uri: 'https://pool.example', chainId: 31337 },
  });
  const { id, state } = await before.start(message);
  expect(state).toBe('awaiting-approval');
  const withdrawn = await before.start(textOf('withdrawn1234567'));
  expect(await before.withdraw(withdrawn.id)).toMatchObject({ state: 'refused', reason: 'denied' });

  for (const approval of custodian.control.state.approvals) {
    if (approval.status === 'Pending') {
      custodian.control.vote(approval.id, approver.userId, 'Approved');
    }
  }
  const url = await start();
  expect(await call(`${url}/sign-ins/${id}`)).toMatchObject([202, { state: 'signing' }]);
  const [status, { signature = '' }] = await call(`${url}/sign-ins/${id}`);
  expect([status, verifyMessage(message, signature)]).toEqual([200, wallet.address]);
  expect(await post(url, message)).toMatchObject([200, { id, signature }]);
  expect(await post(url, textOf('abcdefgh12345678', 'evil.example'))).toMatchObject([
    202,
    { state: 'refused', reason: 'foreign-sign-in' },
  ]);
  expect((await call(`${url}/sign-ins/p1-${'0'.repeat(36)}`))[0]).toBe(404);
  const creates = custodian.control.requests({ method: 'POST', path: '/signatures$' });
  expect(creates).toHaveLength(2);
});
