// `disburse-agent invite` against a platform in memory: what leaves the machine, what is written, and what a repeated run does.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '@pool/pay-run';
import { readData } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import walletVectors from '../../../../../vectors/wallet-id.json' with { type: 'json' };
import { runCli } from '../../cli.ts';
import { type FakeAccounts, startFakeAccounts } from '../../fixtures/fake-accounts.ts';
import {
  confirmWallets,
  pinWallets,
  readInvited,
  withInvitedLock,
} from '../../state/invited-people.ts';

const [employer] = walletVectors.wallets.slice(-1);
if (employer === undefined) {
  throw new Error('the vectors have no keys');
}

const listCall = 'GET /api/employers/invitation-links';
const createCall = 'POST /api/employers/invitation-links';
const expiresAt = '2027-02-26T08:00:00.000Z';
const quota = { success: true, walletLimit: 10, walletsTaken: 2 };

let directory: string;
let platform: FakeAccounts;
/** What the platform got to create, in order. */
let asked: { readonly references: readonly string[]; readonly days?: number }[];
/** State by reference, as the platform lists it. */
let states: Map<string, string>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'invite-'));
  platform = await startFakeAccounts();
  asked = [];
  states = new Map();
  platform.answers = {
    [listCall]: () => ({
      ...quota,
      links: [...states].map(([reference, state]) => ({
        ...{ reference, state, expiresAt },
        createdAt: '2026-11-28T08:00:00.000Z',
        ...(state === 'eligible' ? { address: employer.address } : {}),
      })),
    }),
    [createCall]: (body) => {
      const request = body as unknown as (typeof asked)[number];
      asked.push(request);
      for (const reference of request.references) {
        states.set(reference, 'created');
      }
      const links = request.references.map((reference) => ({
        ...{ reference, expiresAt },
        code: `pool_invite_code${asked.length}-${reference}`,
      }));
      return { ...quota, links };
    },
  };
});
afterEach(async () => {
  await platform.stop();
  rmSync(directory, { recursive: true });
});

async function run(...args: readonly string[]) {
  const envFile = join(directory, 'source.env');
  const variables = {
    DISBURSE_HOME: join(directory, 'home'),
    DISBURSE_PLATFORM_URL: `${platform.url}/agent-edge`,
    ONBOARD_PRIVATE_KEY: employer?.privateKey,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  writeFileSync(envFile, lines.join('\n'));
  let printed = '';
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const code = await runCli(['invite', ...args, '--env-file', envFile], {
    out: print,
    err: print,
    terminal: { isTty: false, write: () => undefined },
  });
  return { code, printed };
}

function writePeople(...rows: readonly string[]): string {
  const path = join(directory, 'people.csv');
  writeFileSync(path, ['name,email', ...rows].join('\n'));
  return path;
}

function pathOf(name: string): string {
  return join(directory, name);
}

function readLinks(name: string): string[][] {
  const text = readFileSync(pathOf(name), 'utf8');
  return text
    .trimEnd()
    .split('\r\n')
    .map((row) => row.split(','));
}

const ada = 'Ada Lovelace,ada@example.org';
const ben = 'Ben,ben@example.org';

describe('invite', () => {
  it('writes a link for each person into a new file of mode 0600, and sends no name and no address', async () => {
    const bodies: string[] = [];
    platform.onCall = (call) => bodies.push(call);
    const { code, printed } = await run(
      ...['--file', writePeople(ada, ben), '--out', pathOf('links.csv'), '--days', '30'],
    );
    expect(code).toBe(exitCodes.ok);
    expect(platform.calls).toEqual([
      'GET /api/auth/nonce',
      'POST /api/auth/verify',
      listCall,
      createCall,
      'POST /api/auth/logout',
    ]);
    const [head, first, second] = readLinks('links.csv');
    const [reference = '', ...rest] = first ?? [];
    expect(head).toEqual(['reference', 'name', 'email', 'link', 'expires']);
    expect(rest).toEqual([
      'Ada Lovelace',
      'ada@example.org',
      `${platform.url}/payee/#invite=pool_invite_code1-${reference}`,
      expiresAt,
    ]);
    expect(asked).toEqual([{ references: [reference, second?.[0]], days: 30 }]);
    expect(reference).toMatch(/^[0-9a-f]{20}$/);
    expect(JSON.stringify(asked)).not.toMatch(/ada|ben/i);
    expect(statSync(pathOf('links.csv')).mode & 0o777).toBe(0o600);
    const ledger = join(directory, 'home', 'invitations.json');
    expect(statSync(ledger).mode & 0o777).toBe(0o600);
    expect(`${readFileSync(ledger, 'utf8')}${printed}`).not.toContain('pool_invite');
  });

  it('invites one person by options', async () => {
    expect((await run('--email', 'ada@example.org', '--out', pathOf('links.csv'))).code).toBe(0);
    expect(readLinks('links.csv')[1]?.slice(1, 3)).toEqual(['', 'ada@example.org']);
    expect(asked[0]).toEqual({ references: [expect.any(String)] });
  });

  it('keeps the links that people have, and invites those that are new', async () => {
    await run('--file', writePeople(ada), '--out', pathOf('links.csv'));
    const first = readLinks('links.csv')[1]?.[0] ?? '';
    states.set(first, 'opened');
    const { printed } = await run('--file', writePeople(ada, ben), '--out', pathOf('more.csv'));
    expect(readLinks('more.csv').map((row) => row[1])).toEqual(['name', 'Ben']);
    expect(printed).toContain('Ada Lovelace, ada@example.org has a link already: opened');

    const none = await run('--file', writePeople(ada, ben), '--out', pathOf('none.csv'));
    expect(none.printed).toContain('nobody was invited');
    expect(existsSync(pathOf('none.csv'))).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it('replaces unused links with --again, under the same reference', async () => {
    await run('--file', writePeople(ada, ben), '--out', pathOf('links.csv'));
    const [, first, second] = readLinks('links.csv').map(([reference = '']) => reference);
    states.set(second ?? '', 'eligible');
    const again = await run(
      ...['--file', writePeople(ada, ben), '--out', pathOf('again.csv'), '--again'],
    );
    expect(asked[1]).toEqual({ references: [first] });
    expect(again.printed).toContain('Ben, ben@example.org has a link already: eligible');
  });

  it.each(['expired', 'revoked'])(
    'makes a new link for a person whose link is %s',
    async (state) => {
      await run('--file', writePeople(ada), '--out', pathOf('links.csv'));
      const reference = readLinks('links.csv')[1]?.[0] ?? '';
      states.set(reference, state);
      await run('--file', writePeople(ada), '--out', pathOf('again.csv'));
      expect(asked[1]?.references).toEqual([expect.any(String)]);
      expect(asked[1]?.references).not.toEqual([reference]);
    },
  );

  it('keeps the wallet that was named for a link which --again replaces', async () => {
    await run('--name', 'Ada', '--out', pathOf('links.csv'));
    const reference = readLinks('links.csv')[1]?.[0] ?? '';
    const pinned = new Map([[reference, employer.address]]);
    await pinWallets(pathOf('home'), [{ reference, address: employer.address }]);
    await confirmWallets(pathOf('home'), pinned);
    // The platform says that no wallet accepted it after all.
    await run('--name', 'Ada', '--out', pathOf('again.csv'), '--again');
    expect(asked[1]).toEqual(asked[0]);
    expect(readInvited(pathOf('home'))).toMatchObject([
      { reference, address: employer.address, confirmed: true },
    ]);
  });

  it('makes the links again, under the same references, when the answer was lost', async () => {
    platform.failures = [{ call: createCall, times: 1, isDone: true }];
    const lost = await run('--file', writePeople(ada), '--out', pathOf('links.csv'));
    expect(lost.code).not.toBe(exitCodes.ok);
    expect(existsSync(pathOf('links.csv'))).toBe(false);
    expect((await run('--file', writePeople(ada), '--out', pathOf('links.csv'))).code).toBe(0);
    expect(asked[1]).toEqual(asked[0]);
    expect(readLinks('links.csv')[1]?.[3]).toContain('code2');
  });

  it('keeps the names of everybody when several commands run at once', async () => {
    const runs = ['Ada', 'Ben', 'Cem', 'Dan'].map((name) =>
      run('--name', name, '--out', pathOf(`${name}.csv`)),
    );
    expect((await Promise.all(runs)).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const names = readInvited(pathOf('home')).map(({ name, hasLink }) => [name, hasLink]);
    expect(names.sort()).toEqual([
      ['Ada', true],
      ['Ben', true],
      ['Cem', true],
      ['Dan', true],
    ]);
  });

  it('makes one link of a person whom two commands invite at once', async () => {
    await Promise.all([
      run('--name', 'Ada', '--out', pathOf('1.csv')),
      run('--name', 'Ada', '--out', pathOf('2.csv')),
    ]);
    expect(asked).toHaveLength(1);
    expect([existsSync(pathOf('1.csv')), existsSync(pathOf('2.csv'))].sort()).toEqual([
      false,
      true,
    ]);
  });

  it('gives up on a file that another command holds', async () => {
    const home = pathOf('home');
    await withInvitedLock(home, async () => {
      const second = withInvitedLock(home, async () => undefined, 0);
      await expect(second).rejects.toMatchObject({ code: 'invitations_in_use' });
    });
  });

  it('makes links of many people in calls of 500', async () => {
    const people = Array.from({ length: 501 }, (_, index) => `P${index},p${index}@example.org`);
    await run('--file', writePeople(...people), '--out', pathOf('links.csv'));
    expect(asked.map(({ references }) => references.length)).toEqual([500, 1]);
    expect(readLinks('links.csv')).toHaveLength(502);
  });

  it.each<[string, () => readonly string[], string]>([
    [
      'a list with mistakes',
      () => ['--file', writePeople(ada, 'Ben,ben'), '--out', pathOf('x')],
      'line 3, email',
    ],
    [
      'a file that exists',
      () => ['--file', writePeople(ada), '--out', pathOf('people.csv')],
      'is not overwritten',
    ],
    ['nobody', () => ['--out', pathOf('x')], 'nobody is named'],
    [
      'a list and a person',
      () => ['--file', writePeople(ada), '--name', 'Ada', '--out', pathOf('x')],
      'not both',
    ],
    [
      'an address with a typing mistake',
      () => ['--email', 'ada', '--out', pathOf('x')],
      '--email: "ada" is not',
    ],
    ['no file for the links', () => ['--name', 'Ada'], '--out'],
    ['no days', () => ['--name', 'Ada', '--out', pathOf('x'), '--days', '0'], '--days must be'],
  ])('refuses %s before it asks the platform', async (_name, args, words) => {
    const { code, printed } = await run(...args());
    expect([code, platform.calls]).toEqual([expect.any(Number), []]);
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain(words);
  });

  it('prints one JSON document', async () => {
    const first = await run('--file', writePeople(ada), '--out', pathOf('links.csv'), '--json');
    const reference = readLinks('links.csv')[1]?.[0];
    const person = { name: 'Ada Lovelace', email: 'ada@example.org', reference };
    expect(readData(first.printed)).toEqual({
      ...{ file: pathOf('links.csv'), walletLimit: 10, walletsTaken: 2 },
      invited: [person],
      kept: [],
    });
    const second = await run('--file', writePeople(ada), '--out', pathOf('x.csv'), '--json');
    expect(readData(second.printed)).toEqual({
      invited: [],
      kept: [{ ...person, state: 'created' }],
    });
  });
});

describe('invite list and revoke', () => {
  it('list the state of each link with the name of its person', async () => {
    await run('--file', writePeople(ada), '--out', pathOf('links.csv'));
    const reference = readLinks('links.csv')[1]?.[0] ?? '';
    states.set(reference, 'eligible');
    states.set('from-another-host', 'revoked');
    const { code, printed } = await run('list');
    expect(code).toBe(exitCodes.ok);
    expect(printed.split('\n')).toEqual([
      `eligible  ${reference}  until 2027-02-26  Ada Lovelace, ada@example.org  ${employer.address}`,
      'revoked   from-another-host     until 2027-02-26  from-another-host',
      '2 of 10 wallets are invited or enrolled',
      '',
    ]);
    const { links } = readData((await run('list', '--json')).printed) as { links: object[] };
    expect(links[0]).toMatchObject({ name: 'Ada Lovelace', reference, state: 'eligible' });
  });

  it('revoke a link by its reference', async () => {
    const { code, printed } = await run('revoke', 'reference-1');
    expect([code, printed]).toEqual([exitCodes.ok, 'reference-1: revoked\n']);
    expect(platform.calls).toContain('DELETE /api/employers/invitation-links/reference-1');
    expect(platform.calls.at(-1)).toBe('POST /api/auth/logout');
  });

  it('end the session when the platform refuses', async () => {
    platform.failures = [{ call: listCall, times: 0 }];
    expect((await run('list')).code).not.toBe(exitCodes.ok);
    expect(platform.calls.at(-1)).toBe('POST /api/auth/logout');
  });

  it('say which names are lost when the file is damaged', async () => {
    await run('--file', writePeople(ada), '--out', pathOf('links.csv'));
    writeFileSync(join(directory, 'home', 'invitations.json'), '{');
    const { code, printed } = await run('list');
    expect(code).not.toBe(exitCodes.ok);
    expect(printed).toContain('store_damaged');
  });
});
