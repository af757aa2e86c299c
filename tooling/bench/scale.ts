// `pnpm bench scale [--wallets 1000000] [--notes 1000000]`: a deployment on PostgreSQL whose gate and platform already have this many wallets,
// and whose platform has this many notes: how long a start takes, an enrolment, a look-up of 256 recipients, a payment, and what a new
// holder downloads. Real processes, a real chain and a real proof; the rows of the others are made up.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PostgresServer, startPostgres } from '@pool/testkit';
import { openSession } from '../../apps/sandbox/src/chain/people.ts';
import { deriveHolderKey } from '../../apps/sandbox/src/chain/sandbox-keys.ts';
import { ensureProvingKey } from '../../apps/sandbox/src/processes/artifacts.ts';
import { createProgress } from '../../apps/sandbox/src/processes/progress.ts';
import { type Stack, startStack } from '../../apps/sandbox/src/stack/stack.ts';
import {
  openStore,
  platformMigrations,
  type StorePart,
} from '../../packages/database/src/index.ts';
import { createLog } from '../../packages/http-server/src/index.ts';
import { gateMigrations } from '../../packages/pool-gate/src/index.ts';
import { parsePostgresUrl } from '../../packages/storage/src/postgres/index.ts';
import { findQuantile } from './agent/load.ts';
import { createStamp } from './results.ts';
import { saveSection } from './results-store.ts';

const recipients = 16;
const lookedUp = 256;
const slots = 256;
/** Rows of one statement. */
const chunk = 50_000;

/** Runs the benchmark with the options of the command line. */
export async function runScaleBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      wallets: { type: 'string', default: '1000000' },
      notes: { type: 'string', default: '1000000' },
    },
  });
  const [wallets, notes] = [Number(values.wallets), Number(values.notes)];
  const progress = createProgress({ stream: process.stderr, plainLines: true });
  await ensureProvingKey('fund-16', progress);
  const directory = mkdtempSync(join(tmpdir(), 'pool-bench-scale-'));
  const server = await startPostgres({ fsync: 'off', shared_buffers: '512MB' });
  const rows: (readonly [string, string])[] = [];
  const note = (what: string, figure: string): void => {
    rows.push([what, figure]);
    process.stderr.write(`  ${what}: ${figure}\n`);
  };
  const steps: { readonly text: string; readonly atMs: number }[] = [];
  const databases: string[] = [];
  let stack: Stack | undefined;
  try {
    stack = await startStack({
      ...{ directory, holderCount: recipients, blockSeconds: 0.4 },
      async createDatabase() {
        const url = await server.createDatabase();
        databases.push(url);
        progress.step(`rows of ${wallets} wallets`);
        if (databases.length === 1) {
          await migrate(url, 'platform', platformMigrations);
          await insertSubjects(server, url, wallets);
        } else {
          await migrate(url, 'gate', gateMigrations);
          await insertWallets(server, url, wallets);
        }
        steps.push({ text: 'starting', atMs: performance.now() });
        return url;
      },
      onStep(text) {
        progress.step(text);
        steps.push({ text, atMs: performance.now() });
      },
      agentEnvironment: { DISBURSE_ACCELERATOR: 'cpu' },
    });
    steps.push({ text: 'end', atMs: performance.now() });
    const secondsOf = (text: string): number => {
      const place = steps.findLastIndex((step) => step.text === text);
      return ((steps[place + 1]?.atMs ?? 0) - (steps[place]?.atMs ?? 0)) / 1000;
    };
    note('a start of gate and platform', `${secondsOf('starting').toFixed(1)} s`);
    note(
      `enrolling ${recipients} more wallets, until their root is final`,
      `${secondsOf('enrolling recipients').toFixed(1)} s`,
    );
    note('memory of the gate', `${readResidentMib(stack.gate.process.identity.pid)} MiB`);
    note('memory of the platform', `${readResidentMib(stack.platform.process.identity.pid)} MiB`);
    progress.step('looking up');
    const lookUps = await timeLookUps(stack, wallets);
    note(
      `a look-up of ${lookedUp} recipients, p50 and slowest of ${lookUps.length}`,
      `${findQuantile(lookUps, 0.5).toFixed(0)} ms, ${findQuantile(lookUps, 1).toFixed(0)} ms`,
    );
    progress.step('paying');
    const stages = new Map(await pay(stack));
    note('paths of a payment, from the gate', `${(stages.get('eligibility') ?? 0).toFixed(1)} s`);
    progress.step(`rows of ${notes} notes`);
    const key = (await openSession(deriveHolderKey(0), stack)).mintKey('holder.read', 'bench');
    await insertNotes(
      server,
      databases[0] ?? '',
      notes,
      stack.deployed.tokens['USDC']?.address ?? '',
    );
    progress.step('downloading');
    const bearer = (await key).apiKey.reveal();
    for (const which of ['first', 'second']) {
      const { bytes, seconds } = await downloadBatches(stack, bearer);
      note(
        `the ${which} download of all batches`,
        `${(bytes / 2 ** 20).toFixed(1)} MiB in ${seconds.toFixed(1)} s`,
      );
    }
    const startedAtMs = performance.now();
    await get(stack, '/agent-edge/notes?chain=anvil&token=USDC', bearer);
    note('the list of own notes', `${(performance.now() - startedAtMs).toFixed(0)} ms`);
    for (const [place, part] of ['platform', 'gate'].entries()) {
      const name = new URL(databases[place] ?? '').pathname.slice(1);
      const [row] = await server.query(`select pg_database_size('${name}')::float8 as bytes`);
      note(`the database of the ${part}`, `${(Number(row?.['bytes']) / 2 ** 20).toFixed(0)} MiB`);
    }
    progress.done();
    saveSection('scale', {
      title: 'Many wallets and many notes',
      ...createStamp(),
      about: `${wallets.toLocaleString('en')} wallets at gate and platform, ${notes.toLocaleString('en')} notes at the platform, in batches of ${slots}, on PostgreSQL ${server.version.replace(/^.* /, '')}. One holder may download 240 MiB at once, then 4 MiB a second (\`PLATFORM_RATE_BATCHES\`). All processes share the machine.`,
      tables: [{ columns: ['what', 'measured'], rows }],
    });
  } finally {
    await stack?.stop();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function migrate(
  url: string,
  part: StorePart,
  migrations: Parameters<typeof openStore>[2],
): Promise<void> {
  const settings = parsePostgresUrl(url);
  if (typeof settings === 'string') throw new Error(settings);
  const config = { kind: 'postgres', settings, poolSize: 1, mustBeDurable: false } as const;
  const log = createLog('silent', 'bench');
  const store = await openStore({ ...config, directory: undefined }, part, migrations, log);
  await store.close();
}

/** Runs a statement for the numbers of each chunk, from 1. @param create - the statement, which reads the numbers `i` of a table `n` */
async function insert(
  server: PostgresServer,
  url: string,
  count: number,
  create: (numbers: string) => string,
): Promise<void> {
  for (let first = 1; first <= count; first += chunk) {
    const last = Math.min(count, first + chunk - 1);
    const text = create(`generate_series(${first}, ${last}) as n (i)`);
    await server.query(text, new URL(url).pathname.slice(1));
  }
}

/** A word that differs for each number, and for each kind. */
function word(kind: number): string {
  return `'0x0${kind}' || lpad(to_hex(i), 62, '0')`;
}

const day = `'2026-01-01T00:00:00.000Z'`;

function insertWallets(server: PostgresServer, url: string, count: number): Promise<void> {
  return insert(
    server,
    url,
    count,
    (numbers) => `insert into wallets (wallet_id, wallet_pub, leaf_index, wanted, published)
      select ${word(1)}, '0x', i - 1, true, true from ${numbers}`,
  );
}

function insertSubjects(server: PostgresServer, url: string, count: number): Promise<void> {
  return insert(
    server,
    url,
    count,
    // An address without letters has no checksum to get wrong.
    (
      numbers,
    ) => `insert into subjects (address, wallet_pub, wallet_id, encryption_public_key, evidence_message,
        evidence_signature, readiness, created_at)
      select '0x' || lpad(i::text, 40, '0'), ${word(2)}, ${word(1)}, ${word(3)}, repeat('m', 400),
        '0x' || repeat('5', 130), 'ready', ${day} from ${numbers}`,
  );
}

/** Batches behind the only real one, of another employer. Their notes belong to the made-up wallets. */
async function insertNotes(
  server: PostgresServer,
  url: string,
  count: number,
  token: string,
): Promise<void> {
  const run = (text: string) => server.query(text, new URL(url).pathname.slice(1));
  const batches = Math.ceil(count / slots);
  await run(`insert into employers (id, address, created_at) values ('bench', 'bench', ${day})`);
  await insert(
    server,
    url,
    batches,
    (numbers) => `insert into submissions (kind, owner, key, chain, token, deadline, root, batch_id,
        sealed_notes_hash, request, state, created_at)
      select 'settlement', 'bench', 'bench-' || i, 'anvil', '${token.toLowerCase()}', 0, ${word(4)}, ${word(5)},
        ${word(6)}, '{}', 'settled', ${day} from ${numbers}`,
  );
  await insert(
    server,
    url,
    batches,
    (
      numbers,
    ) => `insert into batches (chain, leaf_index, batch_root, batch_id, sealed_notes_hash, tx_hash,
        block_number, submission_id, new_root, commitments)
      select 'anvil', i, s.root, s.batch_id, s.sealed_notes_hash, ${word(7)}, i, s.id, ${word(8)},
        (select json_agg('0x0' || lpad(to_hex(i * ${slots} + j), 63, '0'))::text
          from generate_series(0, ${slots - 1}) as m (j))
      from ${numbers} join submissions s on s.key = 'bench-' || i`,
  );
  await insert(
    server,
    url,
    batches * slots,
    (
      numbers,
    ) => `insert into sealed_notes (submission_id, slot, commitment, encryption_public_key, sealed)
      select b.submission_id, (i - 1) % ${slots}, ${word(9)}, ${word(3)}, '0x' || repeat('5e', 209)
      from ${numbers} join batches b on b.chain = 'anvil' and b.leaf_index = 1 + (i - 1) / ${slots}`,
  );
  await run('analyze');
}

/** @returns milliseconds of each */
async function timeLookUps(stack: Stack, wallets: number): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const addresses = Array.from({ length: lookedUp }, (_, place) => {
      const number = 1 + ((round * 7_919 + place * 3_907) % wallets);
      return `0x${String(number).padStart(40, '0')}`;
    });
    const startedAtMs = performance.now();
    const response = await fetch(`${stack.platformUrl}/agent-edge/recipients/lookup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.edgeToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ chain: stack.chain, addresses }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    taken.push(performance.now() - startedAtMs);
  }
  return taken;
}

/** @returns seconds of each stage */
async function pay({ agent, holders }: Stack): Promise<readonly (readonly [string, number])[]> {
  const headers = { authorization: `Bearer ${agent.loopbackToken}` };
  const body = JSON.stringify({
    token: 'USDC',
    recipients: holders.map((holder) => ({ recipientAddress: holder.address, amount: '1' })),
  });
  const sent = { 'content-type': 'application/json', 'idempotency-key': 'bench' };
  await fetch(`${agent.url}/api/disburse`, {
    ...{ method: 'POST', headers: { ...headers, ...sent }, body },
  });
  for (;;) {
    const job = (await (await fetch(`${agent.url}/api/disburse/bench`, { headers })).json()) as {
      readonly state: string;
    };
    if (job.state === 'done') break;
    if (job.state === 'failed') throw new Error(JSON.stringify(job));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const trace = (await (
    await fetch(`${agent.url}/api/disburse/bench/trace`, { headers })
  ).json()) as {
    readonly timings: readonly { readonly stage: string; readonly seconds: number }[];
  };
  return trace.timings.map(({ stage, seconds }) => [stage, seconds]);
}

async function get({ platformUrl }: Stack, path: string, bearer: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${platformUrl}${path}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
    const text = await response.text();
    if (response.status === 200) return text;
    if (response.status !== 429) throw new Error(`${response.status}: ${text}`);
    const seconds = Number(response.headers.get('retry-after') ?? '1');
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

async function downloadBatches(stack: Stack, bearer: string) {
  const startedAtMs = performance.now();
  let bytes = 0;
  for (let from: number | undefined = 0; from !== undefined; ) {
    const text = await get(stack, `/agent-edge/batches?chain=anvil&from=${from}`, bearer);
    bytes += text.length;
    from = (JSON.parse(text) as { readonly next?: number }).next;
  }
  return { bytes, seconds: (performance.now() - startedAtMs) / 1000 };
}

function readResidentMib(pid: number): string {
  const kibibytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kibibytes) / 1024).toFixed(0);
}
