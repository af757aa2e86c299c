// What agents and gates of earlier versions left behind opens in this version (docs/operations/upgrading.md): nothing is paid again, and
// what was paid can be read. The stores are real ones of those versions (vectors/stores).
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runApproveCli } from '@pool/approve';
import { createRedactedLog, serveHttp } from '@pool/http-server';
import {
  type EarlierStores,
  findFreePorts,
  listEarlierVersions,
  type PostgresServer,
  queryDatabase,
  readData,
  startPostgres,
  unpackEarlierStores,
} from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Agent, startAgent } from '../../src/agent.ts';
import { runCli } from '../../src/cli.ts';
import { readConfig } from '../../src/config/config.ts';

type Payment = {
  readonly request: {
    readonly token: string;
    readonly recipients: readonly { readonly recipientAddress: string }[];
  };
  readonly job: { readonly key: string; readonly state: string };
};
type Facts = {
  readonly agent: Payment & { readonly roster: string };
  readonly shared: Payment & { readonly roster: string };
  /** Undefined: that version had no releases. */
  readonly released?: Payment & { readonly log: { readonly entries: readonly object[] } };
  readonly holder: {
    readonly walletPub: string;
    readonly encryptionPublicKey: string;
    readonly payee: object;
    readonly transfer: { readonly body: object };
    readonly send: { readonly body: object };
    readonly keys: { readonly transfer: string; readonly send: string };
  };
  readonly backupPassphrase: string;
};

type Question = { readonly body: object; readonly bearer?: string; readonly path?: string };

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** A platform that knows the employer and the keys of a home, and answers nothing else: whatever would be paid again fails. */
async function servePlatform(home: string, { agent, holder }: Facts): Promise<Server> {
  // The first recipient is the holder.
  const address = agent.request.recipients[0]?.recipientAddress;
  const read = (name: string) => JSON.parse(readFileSync(join(home, name), 'utf8'));
  const { employerId } = read('tenancy.json');
  const { anvil } = read('chains.json').chains;
  const { chainId, pool, registry, maxRecipients } = anvil;
  const tokens = { USDC: anvil.tokens.USDC.address };
  const bootstrap = {
    ...{ employerId, employerAddress: address, chain: 'anvil' },
    chains: { anvil: { chainId, pool, registry, tokens } },
    maxRecipients: { anvil: maxRecipients },
    gate: { url: 'http://127.0.0.1:1' },
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const isTransfer = text.includes(holder.keys.transfer);
      const capability = isTransfer ? 'holder.transfer' : 'holder.send';
      const key = { valid: true, capability, employerId, address, keyId: 1 };
      const isKnown = isTransfer || text.includes(holder.keys.send);
      const answers: Record<string, unknown> = {
        '/agent-edge/bootstrap': bootstrap,
        '/api/employers/verify-key': isKnown ? key : { valid: false },
      };
      const answer = answers[request.url ?? ''];
      response.writeHead(answer === undefined ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { code: 'down', message: 'down' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe.each(listEarlierVersions())('stores of %s', (version) => {
  let stores: EarlierStores;
  let facts: Facts;
  let shared: readonly string[];
  const servers: Server[] = [];
  beforeAll(async () => {
    stores = unpackEarlierStores(version);
    facts = stores.facts as Facts;
    const url = new URL(await postgres.createDatabase());
    await queryDatabase(url.href, stores.readDump('jobs'));
    const { password } = url;
    url.password = '';
    shared = [`DISBURSE_JOB_STORE=${url.href}`, `DISBURSE_JOB_STORE_PASSWORD=${password}`];
    for (const name of ['agent', 'shared', 'holder', 'released']) {
      if (readdirSync(stores.directory).includes(`${name}-home`)) {
        await configure(name);
      }
    }
  });
  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    stores.remove();
  });

  function homeOf(name: string): string {
    return join(stores.directory, `${name}-home`);
  }

  async function configure(name: string): Promise<void> {
    const home = homeOf(name);
    const server = await servePlatform(home, facts);
    servers.push(server);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [free = 0] = await findFreePorts(1);
    const policy = join(home, 'release-policy.json');
    const variables = [
      `DISBURSE_HOME=${home}`,
      `DISBURSE_PLATFORM_URL=${url}/agent-edge`,
      `DISBURSE_PLATFORM_VERIFY_URL=${url}/api/employers/verify-key`,
      'DISBURSE_PROVER=mock',
      `DISBURSE_PORT=${free}`,
      ...(name === 'shared' ? shared : []),
      ...(name === 'released' ? [`DISBURSE_RELEASE_POLICY=${policy}`] : []),
    ];
    const names = variables.map((line) => line.split('=')[0]);
    const path = join(home, 'agent.env');
    const kept = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => !names.includes(line.split('=')[0]));
    writeFileSync(path, [...kept, ...variables, ''].join('\n'));
  }

  const run = (name: string, ...argv: readonly string[]) =>
    runAlone(...argv, '--env-file', join(homeOf(name), 'agent.env'));

  async function runAlone(...argv: readonly string[]) {
    let printed = '';
    const write = (text: string): void => {
      printed += `${text}\n`;
    };
    const code = await runCli(argv, {
      ...{ out: write, err: write },
      terminal: { isTty: false, write: () => undefined },
    });
    return { code, printed };
  }

  /** With an agent that starts in that home, and ends. */
  async function serve<T>(name: string, work: (agent: Agent) => Promise<T>): Promise<T> {
    const config = readConfig(join(homeOf(name), 'agent.env'));
    const agent = await startAgent(config, createRedactedLog('silent'));
    try {
      await agent.tenant.ready;
      return await work(agent);
    } finally {
      await agent.close();
    }
  }

  function ask(name: string, questions: readonly (readonly [key: string, Question])[]) {
    return serve(name, async ({ app }) => {
      const loopback = readFileSync(join(homeOf(name), 'loopback.token'), 'utf8').trim();
      const answers = [];
      for (const [key, { body, bearer = loopback, path = 'disburse' }] of questions) {
        const answer = await app.request(`http://127.0.0.1/api/${path}`, {
          method: 'POST',
          headers: {
            ...{ authorization: `Bearer ${bearer}`, 'idempotency-key': key },
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
        });
        answers.push([answer.status, await answer.json()]);
      }
      return answers;
    });
  }

  it.each(['agent', 'shared'] as const)(
    'the jobs of %s answer as they did, and another body under a key is refused',
    async (name) => {
      const { request, job } = facts[name];
      const { recipients } = request;
      const other = { ...request, recipients: recipients.slice(1) };
      for (const _start of [1, 2]) {
        expect(
          await ask(name, [
            ['first', { body: request }],
            ['first', { body: other }],
          ]),
        ).toEqual([
          [200, { ...job, statusUrl: '/api/disburse/first' }],
          [409, expect.objectContaining({ code: 'idempotency_conflict' })],
        ]);
      }
    },
  );

  it.each(['agent', 'shared'] as const)(
    'the label that %s paid is of its roster, and pays no other',
    async (name) => {
      const roster = join(stores.directory, 'roster.csv');
      writeFileSync(roster, facts[name].roster);
      const listed = await run(name, 'pay-runs', 'list');
      expect(listed).toMatchObject({ code: 0, printed: expect.stringContaining('october') });
      await serve(name, async ({ app }) => {
        const { host, port } = readConfig(join(homeOf(name), 'agent.env'));
        const server = await serveHttp((request, from) => app.fetch(request, from), {
          ...{ host, port, onRefused: () => undefined },
          limits: { maxConnections: 16, maxConnectionsPerPeer: 0 },
        });
        const pay = ['disburse', '--file', roster, '--pay-run', 'October', '--yes', '--json'];
        const again = await run(name, ...pay);
        expect([again.code, readData(again.printed)]).toMatchObject([0, { isRepeat: true }]);
        appendFileSync(roster, '0x000000000000000000000000000000000000dEaD,3000000\n');
        expect(await run(name, ...pay)).toMatchObject({
          code: 2,
          printed: expect.stringContaining('pay_run_conflict'),
        });
        await server.close();
      });
      const exported = await run(name, 'jobs', 'export', '--format', 'json');
      expect(exported.code).toBe(0);
      expect(exported.printed).toContain('2000001');
    },
  );

  it('the release log of an agent is whole, and the paid batch waits for nobody', async () => {
    if (facts.released === undefined) {
      return;
    }
    const log = join(stores.directory, 'log.json');
    const { printed, code } = await run('released', 'release', 'log', '--json');
    expect([code, readData(printed)]).toEqual([0, facts.released.log]);
    writeFileSync(log, printed);
    expect(await run('released', 'release', 'verify', log)).toMatchObject({ code: 0 });
    const { request, job } = facts.released;
    expect(await ask('released', [['released', { body: request }]])).toEqual([
      [200, { ...job, statusUrl: '/api/disburse/released' }],
    ]);
  });

  it('a spend of the journal is not made again', async () => {
    const { payee, transfer, send, keys } = facts.holder;
    const moved = { token: 'USDC', recipients: [payee] };
    const answers = await ask('holder', [
      ['move', { path: 'transfer', bearer: keys.transfer, body: moved }],
      ['out', { path: 'send', bearer: keys.send, body: { token: 'USDC', amount: '300000' } }],
    ]);
    expect(answers).toEqual([
      [200, transfer.body],
      [200, send.body],
    ]);
  });

  it('the holder has its W and P', async () => {
    const { walletPub, encryptionPublicKey } = facts.holder;
    const { code, printed } = await run('holder', 'identity');
    expect([code, JSON.parse(printed)]).toMatchObject([0, { walletPub, encryptionPublicKey }]);
  });

  it('its backup is restored', async () => {
    const passphrase = join(stores.directory, 'passphrase');
    writeFileSync(passphrase, facts.backupPassphrase, { mode: 0o600 });
    const file = join(stores.directory, 'backup.age');
    const open = ['--passphrase-file', passphrase];
    const to = join(stores.directory, 'restored');
    expect(await runAlone('backup', 'restore', file, ...open, '--to', to)).toMatchObject({
      code: 0,
    });
    expect(readdirSync(to)).toContain('spends.sqlite');
  });

  it('the ledger of the gate is whole, and knows what was voted', async () => {
    for (const _time of [1, 2]) {
      expect(await gate('audit', 'verify')).toMatchObject({ code: 0 });
    }
    expect((await gate('pending')).printed).toBe('Nothing waits.\n');
    expect((await gate('manifests')).printed).toContain('approved');
  });

  it('each file of a later version is refused, with what to do, and stays as it is', async () => {
    const files = readdirSync(stores.directory, { recursive: true, encoding: 'utf8' }).filter(
      // The agent opens a cache of notes at the first spend.
      (path) => path.endsWith('.sqlite') && !/^restored|holder-notes-/.test(path),
    );
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      const name = dirname(file).replace('-home', '');
      const database = new DatabaseSync(join(stores.directory, file));
      const before = database.prepare('PRAGMA user_version').get()?.['user_version'];
      database.exec('PRAGMA user_version = 1000');
      expect([file, await openAndFail(name, basename(file))]).toEqual([
        file,
        expect.stringMatching(/version of this program wrote (it|the ledger); run that version/),
      ]);
      expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1000 });
      database.exec(`PRAGMA user_version = ${before}`);
      database.close();
    }
  });

  /** @returns what is said */
  async function openAndFail(name: string, file: string): Promise<string> {
    if (file === 'ledger.sqlite') {
      return (await gate('audit', 'verify')).printed;
    }
    if (file === 'pay-runs.sqlite') {
      return (await run(name, 'pay-runs', 'list')).printed;
    }
    return await ask(name, []).then(
      () => 'the agent starts',
      (error: unknown) => String(error),
    );
  }

  async function gate(...argv: readonly string[]) {
    let printed = '';
    const write = (text: string): void => {
      printed += `${text}\n`;
    };
    const code = await runApproveCli(argv, {
      ...{ name: 'pool-approve', version: '0.0.0', nowMs: Date.now },
      source: {
        env: { APPROVE_HOME: homeOf('approve-a') },
        readFile: (path) => readFileSync(path, 'utf8'),
        homeDir: '/nowhere',
      },
      streams: { out: write, err: write },
    });
    return { code, printed };
  }
});
