// The people whom this machine has invited, as a roster names them: their newest link, and the wallet that was named for it first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRoster } from '@pool/pay-run';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReadInvited } from '../../../../packages/pay-run/src/commands/pay-invited.ts';
import walletVectors from '../../../../vectors/wallet-id.json' with { type: 'json' };
import { runCli } from '../cli.ts';
import { type FakeAccounts, startFakeAccounts } from '../fixtures/fake-accounts.ts';
import { type InvitedPerson, readInvited, writeInvited } from '../state/invited-people.ts';
import { createInvitations } from './invitations.ts';

const [employer, other] = walletVectors.wallets.slice(-2);
if (employer === undefined || other === undefined) {
  throw new Error('the vectors have no keys');
}

const listCall = 'GET /api/employers/invitation-links';
const expiresAt = '2027-02-26T08:00:00.000Z';
const silent = { isTty: false, write: () => undefined };

let home: string;
let envFile: string;
let platform: FakeAccounts;
/** As the platform lists them. */
let links: { readonly reference: string; readonly state: string; readonly address?: string }[];
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'invitations-'));
  platform = await startFakeAccounts();
  links = [];
  platform.answers = {
    [listCall]: () => ({
      ...{ success: true, walletLimit: 10, walletsTaken: 2 },
      links: links.map((link) => ({ ...link, expiresAt, createdAt: '2026-11-28T08:00:00.000Z' })),
    }),
  };
  envFile = join(home, 'source.env');
  const variables = {
    DISBURSE_HOME: home,
    DISBURSE_PLATFORM_URL: `${platform.url}/agent-edge`,
    ONBOARD_PRIVATE_KEY: employer.privateKey,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  writeFileSync(envFile, lines.join('\n'));
});
afterEach(async () => {
  await platform.stop();
  rmSync(home, { recursive: true });
});

function invite(...people: readonly Omit<InvitedPerson, 'hasLink'>[]): void {
  writeInvited(
    home,
    people.map((person) => ({ ...person, hasLink: true })),
  );
}

const ada = { reference: 'ada-first', name: 'Ada', email: 'ada@example.org' };
function invitations() {
  return createInvitations({ envFile }, silent);
}

describe('an invited person of a roster', () => {
  it('is found by name, e-mail address or reference, and is one person with a later link too', () => {
    invite(ada, { reference: 'ben-first', name: 'Ben' }, { ...ada, reference: 'ada-second' });
    for (const text of ['Ada', 'ada', 'ADA@example.org', 'ada-first', 'ada-second']) {
      expect(invitations().find(text)).toEqual([
        { person: 'ada-first', label: 'Ada, ada@example.org' },
      ]);
    }
    expect(invitations().find('Cem')).toEqual([]);
    expect(invitations().find('')).toEqual([]);
  });

  it('is a line of a roster, and mistakes are named by line', () => {
    invite(
      ada,
      { reference: 'ben-1-ref', name: 'Ben', email: 'b1@example.org' },
      { reference: 'ben-2-ref', name: 'Ben' },
    );
    const text = [
      'address,amount,memo',
      'invite:ada@example.org,100,November',
      'Invite: Cem,100,',
      'invite:Ben,100,',
      'invite:Ada,7,',
      `${employer.address},5,`,
    ].join('\n');
    const { entries, mistakes } = parseRoster(text, undefined, createReadInvited(invitations()));
    expect(entries[0]).toEqual({
      recipientAddress: 'invite:ada-first',
      amount: '100',
      memo: 'November',
      line: 2,
    });
    expect(entries[4]).toMatchObject({ recipientAddress: employer.address });
    expect(mistakes.map(({ line, column, message }) => [line, column, message])).toEqual([
      [3, 'address', expect.stringContaining('this machine has invited nobody as "Cem"')],
      [4, 'address', expect.stringContaining('2 invited people are called "Ben"')],
      [5, 'address', 'the same person is on line 2; list each recipient once per roster'],
    ]);
    const refused = parseRoster(text).mistakes[0];
    expect(refused).toMatchObject({ line: 2, code: 'invalid-address' });
    expect(refused?.message).toContain('--unregistered invite pays invited people');
  });

  it('has the state of the newest link, and no name reaches the platform', async () => {
    const calls: string[] = [];
    platform.onCall = (call) => calls.push(call);
    invite(ada, { ...ada, reference: 'ada-second' });
    links = [
      { reference: 'ada-first', state: 'expired' },
      { reference: 'ada-second', state: 'opened' },
      { reference: 'never-known', state: 'eligible', address: other.address },
    ];
    const states = await invitations().readStates(['ada-first', 'never-known']);
    expect(states.get('ada-first')).toEqual({
      ...{ person: 'ada-first', label: 'Ada, ada@example.org', state: 'opened', expiresAt },
    });
    // Even if the platform names a wallet: nothing was pinned for it here.
    expect(states.get('never-known')).toEqual({
      ...{ person: 'never-known', label: 'never-known', state: 'elsewhere' },
    });
    expect(calls).toContain(listCall);
    expect(calls.join()).not.toMatch(/ada/i);
  });

  it('keeps the wallet that was named first, new until it is confirmed, and names a change', async () => {
    invite(ada);
    links = [{ reference: 'ada-first', state: 'eligible', address: employer.address }];
    const read = async () => (await invitations().readStates(['ada-first'])).get('ada-first');
    expect(await read()).toMatchObject({ address: employer.address, isNew: true });
    expect(readInvited(home)[0]?.address).toBe(employer.address);
    expect(await read()).toMatchObject({ isNew: true });
    await invitations().confirm(new Map([['ada-first', other.address]]));
    expect(await read()).toMatchObject({ isNew: true });
    await invitations().confirm(new Map([['ada-first', employer.address.toLowerCase()]]));
    expect(await read()).not.toHaveProperty('isNew');
    links = [{ reference: 'ada-first', state: 'eligible', address: other.address }];
    const changed = await read();
    expect(changed).not.toHaveProperty('address');
    expect(changed?.changed).toEqual({ pinned: employer.address, named: other.address });
    let printed = '';
    const print = (text: string): void => {
      printed += text;
    };
    await runCli(['invite', 'list', '--env-file', envFile], {
      out: print,
      err: print,
      terminal: silent,
    });
    expect(printed).toContain(`${other.address}, and earlier ${employer.address}: ask the person`);
    expect(readInvited(home)[0]?.address).toBe(employer.address);
  });

  it('is pinned by "invite list" too', async () => {
    invite(ada);
    links = [{ reference: 'ada-first', state: 'accepted', address: employer.address }];
    await runCli(['invite', 'list', '--env-file', envFile], {
      out: () => undefined,
      err: () => undefined,
      terminal: silent,
    });
    expect(readInvited(home)[0]?.address).toBe(employer.address);
  });
});

it.each([['pay-runs'], ['pay-run']])('%s has a command that resumes', async (group) => {
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  await runCli([group, 'resume', '--help'], { out: print, err: print, terminal: silent });
  expect(printed).toContain('held back');
});
