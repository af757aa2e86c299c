// Who is asked before the first signature: a funder's and a holder's wallet at custodian A, and the gate, over real HTTP.

import type { ChainsFile } from '@pool/core';
import { askCustody, reportCustody } from '@pool/operations';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../config/config.ts';
import { parseConfig } from '../../config/config.ts';
import { createConfigSource, goodEnvironment } from '../../fixtures/config-world.ts';
import { approveToken, type CustodyWorld, openCustodyWorld } from '../../fixtures/custody-world.ts';
import { createSignerProbe, isHolderOnly, listCustodyProbes } from './custody-probes.ts';

const chainsFile: ChainsFile = {
  chains: {},
  evidence: { domain: 'pool.example', uri: 'https://pool.example' },
};
const wrongToken = { DISBURSE_APPROVE_TOKEN: 'another-token-canary-of-a-gate' };
const wrongWallet = { DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB: createFakeHolder(3).walletPub };

let world: CustodyWorld;
beforeEach(async () => {
  world = await openCustodyWorld();
});
afterEach(() => world.close());

function configure(changes: Readonly<Record<string, string>> = {}): Config {
  const env = { ...goodEnvironment, ...world.variables, ...changes };
  return parseConfig(createConfigSource(env), { values: {} });
}

function list(changes?: Readonly<Record<string, string>>) {
  return listCustodyProbes(configure(changes), () => chainsFile);
}

async function askAll(changes?: Readonly<Record<string, string>>) {
  return await Promise.all(list(changes).map((probe) => askCustody(probe)));
}

async function problemsOf(changes?: Readonly<Record<string, string>>) {
  return (await askAll(changes)).flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
}

describe('the parts of custody', () => {
  it('are each asked once, and for no signature', async () => {
    const answers = await askAll();
    expect(answers.map(({ part, finding }) => [part, finding.ok, finding.detail.kind])).toEqual([
      ['signer', true, 'custodian_a'],
      ['holderSigner', true, 'custodian_a'],
      ['approve', true, 'reachable'],
    ]);
    expect(world.gate.requests).toEqual([
      `GET /v1/wallets/${createFakeHolder(1).address}`,
      `GET /v1/wallets/${createFakeHolder(2).address}`,
    ]);
    // Each signer proves that its account can sign; nothing is asked to be signed.
    const posts = world.custodian.control.requests({ method: 'POST', path: '' });
    expect(new Set(posts.map(({ path }) => path))).toEqual(
      new Set(['/auth/action/init', '/auth/action']),
    );
  });

  it('are none with keys of this process', () => {
    const config = parseConfig(createConfigSource(goodEnvironment), { values: {} });
    expect(listCustodyProbes(config, () => chainsFile)).toEqual([]);
  });

  it('include the gate of a holder without a funder', () => {
    const parts = list({ DISBURSE_SIGNER: '' }).map(({ part }) => part);
    expect(parts).toEqual(['holderSigner', 'approve']);
  });

  it('name the variable of a token that the gate does not accept, and no token', async () => {
    const problems = await problemsOf(wrongToken);
    expect(problems).toEqual([
      {
        variable: 'DISBURSE_APPROVE_TOKEN',
        message: expect.stringMatching(
          /^DISBURSE_APPROVE_TOKEN: .*does not accept the token.*HTTP 401.*APPROVE_MANIFEST_TOKEN/,
        ),
        isOutage: false,
      },
    ]);
    expect(JSON.stringify(problems)).not.toContain('canary');
  });

  it('name the address of a gate that does not answer', async () => {
    await world.gate.stop();
    expect(await problemsOf()).toEqual([
      {
        variable: 'DISBURSE_APPROVE_URL',
        message: expect.stringMatching(/could not be reached.*[Ss]tart the approve process/),
        isOutage: true,
      },
    ]);
  });

  it.each([
    ['funder', 1],
    ['holder', 2],
  ])('name the gate if its policy does not list the %s', async (role, index) => {
    const { address } = createFakeHolder(index);
    world.gate.roles[address] = [];
    expect(await problemsOf()).toEqual([
      {
        variable: 'DISBURSE_APPROVE_URL',
        message: expect.stringMatching(
          new RegExp(`does not list ${address} as a ${role}.*the gate of this wallet$`),
        ),
        isOutage: false,
      },
    ]);
  });

  it('name the holder’s signer if its wallet has another key than W', async () => {
    world.gate.roles[createFakeHolder(3).address] = ['holder'];
    expect(await problemsOf(wrongWallet)).toEqual([
      {
        variable: 'DISBURSE_HOLDER_SIGNER',
        message: expect.stringContaining('has another key than the configured address'),
        isOutage: false,
      },
    ]);
  });

  it('name the holder’s signer if its enclave does not answer', async () => {
    const enclave = {
      DISBURSE_HOLDER_SIGNER: 'enclave',
      DISBURSE_HOLDER_ENCLAVE_SOCKET: '/nowhere/enclave.sock',
      DISBURSE_HOLDER_ENCLAVE_WALLET_PUB: createFakeHolder(2).walletPub,
      DISBURSE_HOLDER_ENCLAVE_ROOT_SHA256: 'ab'.repeat(32),
      DISBURSE_HOLDER_ENCLAVE_PCRS: [0, 1, 2].map((i) => `${i}=${'a1'.repeat(48)}`).join(','),
    };
    expect(await problemsOf(enclave)).toEqual([
      {
        variable: 'DISBURSE_HOLDER_SIGNER',
        message: expect.stringContaining('no enclave answers at /nowhere/enclave.sock'),
        isOutage: true,
      },
    ]);
  });

  it('are given up after their time', async () => {
    world.gate.isSilent = true;
    const [gate] = list().slice(-1);
    if (gate === undefined) {
      throw new Error('the gate is not asked');
    }
    expect(await askCustody(gate, { timeoutMs: 20 })).toMatchObject({
      finding: { ok: false, detail: { kind: 'timed_out' } },
      problem: { variable: 'DISBURSE_APPROVE_URL', isOutage: true },
    });
  });
});

describe('the report at the start', () => {
  async function report(changes: Readonly<Record<string, string>>, stopped: AbortSignal) {
    const lines: (readonly [level: string, fields: object, message: string])[] = [];
    await reportCustody(
      list(changes),
      {
        warn: (fields, message) => void lines.push(['warn', fields, message]),
        error: (fields, message) => void lines.push(['error', fields, message]),
      },
      stopped,
    );
    return lines;
  }
  const running = new AbortController().signal;

  it('is empty when everybody answers', async () => {
    expect(await report({}, running)).toEqual([]);
  });

  it('has an error for a wrong token, and a warning for an outage', async () => {
    world.custodian.control.addFault({ method: 'GET', path: 'hold', kind: 'error-before' });
    const lines = await report(wrongToken, running);
    expect(lines.map(([level, fields]) => [level, fields])).toEqual(
      expect.arrayContaining([
        ['error', { variable: 'DISBURSE_APPROVE_TOKEN', code: 'approver_refused' }],
        ['warn', { variable: 'DISBURSE_HOLDER_SIGNER', code: 'custodian_unreachable' }],
      ]),
    );
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it('ends without a line when the agent stops', async () => {
    world.gate.isSilent = true;
    const stopping = new AbortController();
    const reported = report({}, stopping.signal);
    stopping.abort();
    expect(await reported).toEqual([]);
  });
});

describe('`signer` of readiness', () => {
  const read = (changes?: Readonly<Record<string, string>>) =>
    createSignerProbe(configure(changes), chainsFile)();

  it('is ok when signers and gate answer', async () => {
    expect(await read()).toEqual({
      ok: true,
      detail: {
        kind: 'custodian_a',
        message: expect.stringMatching(
          /wallet has the configured address.*holder's wallet.*approve process accepts/,
        ),
      },
    });
  });

  it.each([
    ['the token', wrongToken, 'refused', /^the approve process: it refuses/],
    ['the holder’s wallet', wrongWallet, 'misconfigured', /^the holder's signer: its wallet/],
    [
      'the origin of the account',
      { DISBURSE_CUSTODIAN_A_ORIGIN: 'https://other.example' },
      'misconfigured',
      /^the funder's signer: .*it refuses the key, credential or origin/,
    ],
  ])(
    'is not ok with another one of %s, and names who says so',
    async (_, change, kind, message) => {
      const finding = await read(change);
      expect(finding).toEqual({
        ok: false,
        detail: { kind, message: expect.stringMatching(message) },
      });
      expect(JSON.stringify(finding)).not.toMatch(new RegExp(`canary|${approveToken}`));
    },
  );

  it('asks the custodian again each time, and has each account prove its key once', async () => {
    const { control } = world.custodian;
    const probe = createSignerProbe(configure(), chainsFile);
    const asked: (readonly [gets: number, posts: number])[] = [];
    for (let times = 0; times < 2; times += 1) {
      expect(await probe()).toMatchObject({ ok: true });
      asked.push([
        control.requests({ method: 'GET', path: '' }).length,
        control.requests({ method: 'POST', path: '/auth/action$' }).length,
      ]);
    }
    expect(asked).toEqual([
      [2, 2],
      [4, 2],
    ]);
  });

  it('names who did not answer in time', async () => {
    world.gate.isSilent = true;
    expect(await createSignerProbe(configure(), chainsFile, 1_000)()).toEqual({
      ok: false,
      detail: { kind: 'timeout', message: 'the approve process: it did not answer in time' },
    });
  });

  it('is not ok without a funder, also when the holder’s signer answers', async () => {
    expect(await read({ DISBURSE_SIGNER: '' })).toMatchObject({
      ok: false,
      detail: { kind: 'none', message: expect.stringContaining('no funder signer') },
    });
  });
});

describe('an agent for its holder only', () => {
  const funder = `0x${'11'.repeat(32)}`;
  const token = { DISBURSE_BALANCE_TOKEN: 'pool_live_reader' };
  const configureOnly = (variables: Readonly<Record<string, string>>): Config =>
    parseConfig(createConfigSource(variables), { values: {} });

  it('is ready without a funder signer', async () => {
    const config = configureOnly({ ...goodEnvironment, ...token });
    expect(isHolderOnly(config)).toBe(true);
    expect(await createSignerProbe(config, chainsFile)()).toMatchObject({
      ok: true,
      detail: { kind: 'holder' },
    });
  });

  it.each([
    ['with a funder key', { ...token, DISBURSE_FUNDER_PRIVATE_KEY: funder }],
    ['without a key of a holder’s role', {}],
  ])('is not one %s', (_, variables) => {
    expect(isHolderOnly(configureOnly({ ...goodEnvironment, ...variables }))).toBe(false);
  });

  it('that has neither a funder signer nor a role is not ready, and says so', async () => {
    expect(await createSignerProbe(configureOnly(goodEnvironment), chainsFile)()).toMatchObject({
      ok: false,
      detail: { kind: 'none' },
    });
  });
});
