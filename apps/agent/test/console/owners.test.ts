// The pages about what the owners of a contract wallet sign.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { listOwners } from '@pool/pay-run';
import { expect, it } from 'vitest';
import { openTestConsole } from './console-world.ts';
import { contractWallet, createFakeOwners, ownersSignature } from './fake-owners.ts';

const silent = { out: () => undefined };

async function open() {
  const world = await createFakeOwners();
  const console = openTestConsole({ people: 2, owners: world.owners });
  return { ...world, console, office: { ...world.owners, store: console.world.store } };
}

/** A pay run whose payment settles until `end`. */
async function openRunning() {
  const { console, ...rest } = await open();
  const { world } = console;
  world.state.verdict = () => 'settling';
  const split = world.split();
  const { read } = await console.login();
  await expect.poll(() => world.state.settling.length).toBe(1);
  const [key = ''] = world.state.submitted;
  const end = async (): Promise<void> => {
    await world.state.settling[0]?.('completed');
    await split;
  };
  return { ...rest, key, read, end };
}

it('shows what the owners sign, and gives them the file of "release owners"', async () => {
  const { home, console, office, ask, deadline } = await open();
  const { read, get } = await console.login();
  expect(await read('releases')).toContain('Nothing waits for the owners of the contract wallet');
  const { digest, hash } = await ask('june');
  const list = await read('releases');
  expect(list).toContain(`/releases/owners/${hash}">june</a>`);
  expect(list).toMatch(/2\.5 USDC[\s\S]*waits for the signatures/);
  const page = await read(`releases/owners/${hash}`);
  const until = new Date(deadline * 1_000).toISOString().slice(0, 16).replace('T', ' ');
  for (const text of [
    ...[
      digest,
      hash,
      contractWallet,
      'june',
      '<dd>payment</dd>',
      '<dd>2.5 USDC (2500000 base units)</dd>',
    ],
    ...['<dd>2</dd>', '<dd>anvil, chain id 31337</dd>', `<dd>${until} UTC</dd>`],
  ]) {
    expect(page).toContain(text);
  }
  const file = await get(`releases/owners/${hash}/request.json`);
  expect(file.headers.get('content-disposition')).toContain(`owners-${hash.slice(2, 10)}.json`);
  const out = join(home, 'owners.json');
  await listOwners(office, { out }, silent);
  expect(await file.text()).toBe(readFileSync(out, 'utf8'));
  expect((await get(`releases/owners/0x${'0'.repeat(64)}`)).status).toBe(404);
});

it('takes their signatures as hex or as a message of Safe, once', async () => {
  const { console, ask, signed } = await open();
  const { submit, read, place } = await console.login();
  const { hash } = await ask('june');
  const message = {
    safe: contractWallet,
    messageHash: hash,
    preparedSignature: ownersSignature,
    origin: 'x',
  };
  for (const text of [ownersSignature, `${ownersSignature.toUpperCase().replace('0X', '0x')}\n`]) {
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
    [
      JSON.stringify({ messageHash: other, preparedSignature: ownersSignature }),
      400,
      /another message/,
    ],
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
  await give(ownersSignature, 503, /the node is away/);
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
    const answer = await console.post(path, { text: ownersSignature, ...fields }, headers);
    expect([401, 403]).toContain(answer.status);
  }
  expect(await signed()).toEqual([]);
});

it('links the page of the pay run that waits, and leaves out what has ended', async () => {
  const { ask, key, read, end } = await openRunning();
  const { hash } = await ask(key);
  const other = await ask('other');
  const withdrawal = await ask(key, 'void');
  const page = await read('runs/anvil/USDC/2026-11');
  expect(page).toMatch(
    new RegExp(`releases/owners/${hash}">payment: 2\\.5 USDC [^<]* to 2 people</a>: waits`),
  );
  expect(page).toContain(`releases/owners/${withdrawal.hash}">withdrawal of a payment: 2.5 USDC`);
  expect(page.match(/releases\/owners\//g)).toHaveLength(2);
  await end();
  const list = await read('releases');
  expect([list.includes(hash), list.includes(other.hash)]).toEqual([false, true]);
});

it('keeps the page of a pay run, with its cancel button, while the log is damaged', async () => {
  const { ask, log, key, read, end } = await openRunning();
  await ask(key);
  const { listOf } = log;
  const statement = '{';
  Object.assign(log, {
    listOf: async (of: string) => (await listOf(of)).map((entry) => ({ ...entry, statement })),
  });
  const page = await read('runs/anvil/USDC/2026-11');
  expect(page).toMatch(/entry \d of the release log [^<]* is damaged[^<]*restore the log/);
  expect(page).toContain('Cancel this payment');
  await end();
});

it('says nothing about owners where no contract wallet pays', async () => {
  const { read } = await openTestConsole().login();
  expect(await read('releases')).not.toContain('owners');
});
