// The pages about what the owners of a contract wallet sign. The contract is fake here; a real one is in apps/sandbox.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsoleDeps } from '@pool/console';
import {
  bigintToHex32,
  computeFundAuthorizationData,
  computeTypedDataDigest,
  computeVoidBatchData,
  type Hex,
  PoolError,
  parseEvmAddress,
  parseField,
  parseHex32,
} from '@pool/core';
import { createOwnersDesk, openReleaseLog } from '@pool/operations';
import { listOwners } from '@pool/pay-run';
import { computeSafeMessageHash } from '@pool/signers';
import { expect, it, onTestFinished } from 'vitest';
import { openTestConsole } from './console-world.ts';

const wallet = parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0');
const pool = parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512');
const token = parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');
const chainId = 31337;
const signature: Hex = `0x${'11'.repeat(130)}`;
const toField = (value: bigint) => parseField(bigintToHex32(value));
const silent = { out: () => undefined };

async function open() {
  const home = mkdtempSync(join(tmpdir(), 'owners-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const log = await openReleaseLog({ home, jobs: { url: 'memory:' } });
  onTestFinished(() => log.close());
  /** What the fake contract accepts, or why it does not answer. */
  const contract = { accepts: signature, outage: undefined as PoolError | undefined };
  const chain = {
    async checkContractSignature({ signature: given }: { readonly signature: Hex }) {
      if (contract.outage !== undefined) {
        throw contract.outage;
      }
      return given === contract.accepts ? ('valid' as const) : ('invalid' as const);
    },
    fetchOwners: async () => undefined,
  };
  const settings = { chainId, tokens: { USDC: { address: token, decimals: 6 } } };
  const owners = {
    openLog: async () => log,
    chains: new Map([['anvil', { settings, chain }]]),
    nowMs: Date.now,
  } as unknown as NonNullable<ConsoleDeps['owners']>;
  const console = openTestConsole({ people: 2, owners });
  const desk = createOwnersDesk(owners);
  const deadline = Math.floor(Date.now() / 1_000) + 3_600;
  async function ask(key: string, kind: 'fund-authorization' | 'void' = 'fund-authorization') {
    const batchNonce = toField(BigInt(key.length) + 7n);
    const authorization = {
      ...{ funder: wallet, token, total: 2_500_000n, batchRoot: toField(1n), batchNonce },
      sealedNotesHash: parseHex32(`0x${'22'.repeat(32)}`),
      deadline: BigInt(deadline),
    };
    const data =
      kind === 'void'
        ? computeVoidBatchData(chainId, pool, wallet, batchNonce)
        : computeFundAuthorizationData(chainId, pool, authorization);
    const digest = computeTypedDataDigest(data);
    const batch = { key, chain: 'anvil', token };
    await desk.ask({
      ...{ id: `${key} ${kind}`, kind, wallet, chainId, batch, digest, data },
      ...{ total: '2500000', count: 2, deadline },
    });
    return { digest, hash: computeSafeMessageHash(chainId, wallet, digest) };
  }
  const signed = async () =>
    (await log.listSince()).filter(({ event }) => event === 'owners-signed');
  return { home, console, contract, owners, ask, log, signed, deadline };
}

it('shows what the owners sign, and gives them the file of "release owners"', async () => {
  const { home, console, owners, ask, deadline } = await open();
  const { read, get } = await console.login();
  expect(await read('releases')).toContain('Nothing waits for the owners of the contract wallet');
  const { digest, hash } = await ask('june');
  const list = await read('releases');
  expect(list).toContain(`/releases/owners/${hash}">june</a>`);
  expect(list).toMatch(/2\.5 USDC[\s\S]*waits for the signatures/);
  const page = await read(`releases/owners/${hash}`);
  const until = new Date(deadline * 1_000).toISOString().slice(0, 16).replace('T', ' ');
  for (const text of [
    ...[digest, hash, wallet, 'june', '<dd>payment</dd>', '<dd>2.5 USDC (2500000 base units)</dd>'],
    ...['<dd>2</dd>', '<dd>anvil, chain id 31337</dd>', `<dd>${until} UTC</dd>`],
  ]) {
    expect(page).toContain(text);
  }
  const file = await get(`releases/owners/${hash}/request.json`);
  expect(file.headers.get('content-disposition')).toContain(`owners-${hash.slice(2, 10)}.json`);
  const out = join(home, 'owners.json');
  await listOwners(owners, { out }, silent);
  expect(await file.text()).toBe(readFileSync(out, 'utf8'));
  expect((await get(`releases/owners/0x${'0'.repeat(64)}`)).status).toBe(404);
});

it('takes their signatures as hex or as a message of Safe, once', async () => {
  const { console, ask, signed } = await open();
  const { submit, read, place } = await console.login();
  const { hash } = await ask('june');
  const message = { safe: wallet, messageHash: hash, preparedSignature: signature, origin: 'x' };
  for (const text of [signature, `${signature.toUpperCase().replace('0X', '0x')}\n`]) {
    const stored = await submit(`releases/owners/${hash}`, { text });
    expect([stored.status, stored.headers.get('location')]).toEqual([
      303,
      `${place}releases?signed=1`,
    ]);
  }
  await submit(`releases/owners/${hash}`, { text: JSON.stringify(message) });
  expect(await signed()).toMatchObject([{ key: 'june', by: 'loopback' }]);
  const page = await read('releases?signed=1');
  expect(page).toContain('The signatures of the owners were stored');
  expect(page).toContain('<td>signed</td>');
});

it('says beside the form why signatures do not count, and keeps what was given', async () => {
  const { console, contract, ask, signed } = await open();
  const { submit } = await console.login();
  const { hash } = await ask('june');
  const other = `0x${'33'.repeat(65)}`;
  const outage = new PoolError('chain_unreachable', 'the node is away', { retryable: true });
  const refusals: readonly (readonly [string, number, RegExp])[] = [
    [other, 400, /does not accept the signature for 0x[\s\S]*nothing was stored/],
    ['0x1234', 400, /the signature has 2 bytes/],
    ['my signature', 400, /what you gave is not/],
    ['', 400, /give the file of the signatures, or paste the text/],
    ['{"confirmations":[]}', 400, /no signature of an owner yet/],
    ['{"format":"pool/release-answer/1","releases":[]}', 400, /import the answer of a person/],
    [JSON.stringify({ messageHash: other, preparedSignature: signature }), 400, /another message/],
  ];
  const give = async (text: string, status: number, message: RegExp): Promise<void> => {
    const refused = await submit(`releases/owners/${hash}`, { text });
    const page = await refused.text();
    expect([text, refused.status]).toEqual([text, status]);
    expect(page).toMatch(/role="alert"/);
    expect(page).toMatch(message);
    const kept = text.replaceAll('"', '&quot;');
    expect(page).toContain(`aria-describedby="form-help">${kept}</textarea>`);
  };
  for (const [text, status, message] of refusals) {
    await give(text, status, message);
  }
  contract.outage = outage;
  await give(signature, 503, /the node is away/);
  expect(await signed()).toEqual([]);
});

it('takes signatures from a form of the session only', async () => {
  const { console, ask, signed } = await open();
  const { place, cookie, read } = await console.login();
  const { hash } = await ask('june');
  const form = /name="form" value="([^"]+)"/.exec(await read(''))?.[1] ?? '';
  const path = `${place}releases/owners/${hash}`;
  for (const [fields, headers] of [
    [{ form }, { cookie, origin: 'http://127.0.0.1:9999' }],
    [{ form: `${form}x` }, { cookie }],
    [{}, { cookie }],
    [{ form }, {}],
  ] as const) {
    const answer = await console.post(path, { text: signature, ...fields }, headers);
    expect([401, 403]).toContain(answer.status);
  }
  expect(await signed()).toEqual([]);
});

it('links the page of the pay run that waits, and leaves out what has ended', async () => {
  const { console, ask } = await open();
  const { world } = console;
  world.state.verdict = () => 'settling';
  const split = world.split();
  const { read } = await console.login();
  await expect.poll(() => world.state.settling.length).toBe(1);
  const [key = ''] = world.state.submitted;
  const { hash } = await ask(key);
  const other = await ask('other');
  const withdrawal = await ask(key, 'void');
  const page = await read('runs/anvil/USDC/2026-11');
  expect(page).toMatch(
    new RegExp(`releases/owners/${hash}">payment: 2\\.5 USDC [^<]* to 2 people</a>: waits`),
  );
  expect(page).toContain(`releases/owners/${withdrawal.hash}">withdrawal of a payment: 2.5 USDC`);
  expect(page.match(/releases\/owners\//g)).toHaveLength(2);
  await world.state.settling[0]?.('completed');
  await split;
  const list = await read('releases');
  expect([list.includes(hash), list.includes(other.hash)]).toEqual([false, true]);
});

it('says nothing about owners where no contract wallet pays', async () => {
  const { read } = await openTestConsole().login();
  expect(await read('releases')).not.toContain('owners');
});
