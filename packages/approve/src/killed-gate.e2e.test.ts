// The gate as a process of its own, killed by SIGKILL at each point of a vote, and started again on the same files.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  listVerifierCodes,
  renderNoteTreeCode,
  renderPoolCode,
  renderRegistryCode,
  verifierPlaces,
} from '@pool/contracts';
import { readPinnedKeys } from '@pool/contracts/pinned-keys';
import { type FundFile, parseEvmAddress } from '@pool/core';
import { openLedger } from '@pool/policy';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ledgerPath } from './config/gate-home.ts';
import type { FaultPoint } from './config/variables.ts';
import { fundBody } from './fixtures/bodies.ts';
import { createWorldA, funderWallet, type WorldA } from './fixtures/custodian-a.ts';
import { createWorldB, typedMessage, type WorldB } from './fixtures/custodian-b.ts';
import { manifestToken } from './fixtures/gate-home.ts';
import { chainId, chainsJson, fundFile, recipient } from './fixtures/payroll.ts';

const main = fileURLToPath(new URL('../../../apps/approve/src/main.ts', import.meta.url));

let node: Server;
let world: WorldA | WorldB | undefined;
const processes: ChildProcess[] = [];
/** A gate that ends by itself leaves its compiled code here, so the next ones start in a third of the time. */
const compileCache = mkdtempSync(join(tmpdir(), 'pool-gate-code-'));

const zeroWord = `0x${'00'.repeat(32)}`;
const block = {
  hash: zeroWord,
  parentHash: zeroWord,
  number: '0x1',
  difficulty: '0x0',
  gasLimit: '0x0',
  gasUsed: '0x0',
  extraData: '0x',
  transactions: [],
};

/** The gate compares its clock with the newest block. */
function readClock(): string {
  return `0x${Math.floor(Date.now() / 1000).toString(16)}`;
}

/** The code of the pool and of its contracts, by lower-case address: the gate compares it with the development keys. */
async function renderCodes(): Promise<ReadonlyMap<string, string>> {
  const { pool, registry } = chainsJson.chains.anvil;
  const addressOf = (index: number): string => `0x${String(index).padStart(40, '0')}`;
  const noteTree = addressOf(1);
  const keys = await readPinnedKeys(undefined);
  const places = verifierPlaces.map(({ circuit }, index) => {
    const [code = '0x'] = listVerifierCodes(circuit, keys[circuit] ?? []);
    return { circuit, address: addressOf(2 + index), code };
  });
  const verifiers = Object.fromEntries(
    places.map(({ circuit, address }) => [circuit, address]),
  ) as Parameters<typeof renderPoolCode>[1]['verifiers'];
  return new Map([
    [
      pool.toLowerCase(),
      renderPoolCode({ chainId, pool: parseEvmAddress(pool) }, { registry, noteTree, verifiers }),
    ],
    [registry.toLowerCase(), renderRegistryCode(3_600n)],
    [noteTree, renderNoteTreeCode(noteTree)],
    ...places.map(({ address, code }): [string, string] => [address, code]),
  ]);
}

/** A fake node: on its chain, no batch was funded or voided. */
function serveFakeNode(codes: ReadonlyMap<string, string>): Server {
  return createServer((request, response) => {
    void json(request).then((body) => {
      const { id, method, params } = body as {
        readonly id: number;
        readonly method: string;
        readonly params: readonly unknown[];
      };
      const results = new Map<string, unknown>([
        ['eth_chainId', `0x${chainId.toString(16)}`],
        ['eth_getBlockByNumber', { ...block, timestamp: readClock() }],
        ['eth_getCode', codes.get(String(params[0]).toLowerCase()) ?? '0x'],
      ]);
      const result = results.get(method) ?? zeroWord;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
}

beforeAll(async () => {
  node = serveFakeNode(await renderCodes()).listen(0, '127.0.0.1');
  await once(node, 'listening');
});

afterEach(async () => {
  for (const child of processes.splice(0)) {
    child.kill('SIGKILL');
  }
  await world?.close();
  world = undefined;
});

afterAll(() => {
  node.close();
  node.closeAllConnections();
  rmSync(compileCache, { recursive: true, force: true });
});

/** Gives the gate of a custodian the chain of the fake node. */
function open<W extends WorldA | WorldB>(opened: W): W {
  world = opened;
  const { port } = node.address() as AddressInfo;
  const anvil = { ...chainsJson.chains.anvil, rpcUrl: `http://127.0.0.1:${port}` };
  writeFileSync(
    join(opened.home.path, 'chains.json'),
    JSON.stringify({ ...chainsJson, chains: { anvil } }),
  );
  return opened;
}

type GateProcess = {
  readonly url: string;
  readonly ended: Promise<unknown[]>;
  post(file: FundFile): Promise<void>;
  stop(): Promise<void>;
};

/** @param fault - where it kills itself */
async function startGate({ variables }: WorldA | WorldB, fault?: FaultPoint): Promise<GateProcess> {
  const child = spawn(process.execPath, ['--conditions=@pool/source', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      APPROVE_PORT: '0',
      ...variables(),
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: compileCache,
      NODE_ENV: 'test',
      ...(fault === undefined ? {} : { APPROVE_FAULT: fault }),
    },
  });
  processes.push(child);
  const ended = once(child, 'exit');
  for await (const line of child.stdout) {
    const [, url] = /listens on (\S+)/.exec(String(line)) ?? [];
    if (url !== undefined) {
      return {
        url,
        ended,
        async post(file) {
          const { status } = await fetch(`${url}/v1/manifests`, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: `Bearer ${manifestToken}`,
            },
            body: JSON.stringify(file),
          });
          expect(status).toBe(200);
        },
        async stop() {
          child.kill('SIGTERM');
          expect(await ended).toEqual([0, null]);
        },
      };
    }
  }
  throw new Error('the gate ended before it listened');
}

/** What the ledger holds: votes, the sum of the day, and votes that the custodian has not shown. */
function readLedger({ home }: WorldA | WorldB) {
  const ledger = openLedger({ path: ledgerPath(home.path), role: 'operator' });
  try {
    const { counts } = ledger.exportHistory();
    const { votes, openVotes } = ledger.status();
    return { votes, openVotes, sum: counts.reduce((sum, { amount }) => sum + amount, 0n) };
  } finally {
    ledger.close();
  }
}

/** 700 each. Two of them fit into the 1,500 of a day. */
function threeBatches(): readonly [FundFile, FundFile, FundFile] {
  const batch = () => fundFile({ recipients: [recipient(1, '400'), recipient(2, '300')] });
  return [batch(), batch(), batch()];
}

/** What the custodian has of the gate at the moment of its death. */
const votesAt = {
  'vote.after-decide': [],
  'vote.before-send': [],
  'vote.after-send': ['Approved'],
  'vote.after-read-back': ['Approved'],
} as const satisfies Record<Extract<FaultPoint, `vote.${string}`>, readonly string[]>;

// Each run has the last point of each custodian. The crash tests of custodian A and the callbacks of B have all of them in memory.
const isFullRun = process.env['POOL_TEST_FULL'] === '1';

describe.each(Object.entries(votesAt).slice(isFullRun ? 0 : -1))(
  'a gate of custodian A that is killed at %s',
  (name, sent) => {
    const point = name as keyof typeof votesAt;

    it('votes once, counts once and keeps the limit of the day', async () => {
      const custody = open(await createWorldA());
      const files = threeBatches();
      const first = await startGate(custody, point);
      await expectHealthy(first);
      const ids: string[] = [];
      for (const file of files) {
        ids.push(await custody.ask(funderWallet, fundBody(file)));
      }
      // A manifest wakes the gate. The other two requests wait for theirs.
      await first.post(files[0]);
      expect(await first.ended).toEqual([null, 'SIGKILL']);
      expect(ids.map(custody.votesOf)).toEqual([sent, [], []]);
      // What is voted is counted before it is sent.
      expect(readLedger(custody)).toMatchObject({ votes: 1, sum: 700n });

      const again = await startGate(custody);
      await expectHealthy(again);
      await again.post(files[1]);
      await again.post(files[2]);
      await expect
        .poll(() => ids.map(custody.statusOf), { interval: 20 })
        .toEqual(['Signed', 'Signed', 'Rejected']);
      await again.stop();
      expect(readLedger(custody)).toEqual({ votes: 3, openVotes: 0, sum: 1_400n });
      expect(ids.map(custody.votesOf)).toEqual([['Approved'], ['Approved'], ['Denied']]);
      expect(custody.reasonOf(ids[2] ?? '')).toMatch(/totals of this day/);
      const { control } = custody.custodian;
      expect(control.requests({ method: 'POST', path: '/decisions$' })).toHaveLength(3);
    });
  },
);

/** The co-signer asks before it approves and again before it signs. */
const callbackPoints = [
  'callback.after-decide',
  'callback.before-answer',
] as const satisfies readonly Extract<FaultPoint, `callback.${string}`>[];
const stages = ['approval', 'signing'] as const;

const callbacks = callbackPoints.flatMap((point) => stages.map((stage) => [point, stage] as const));
describe.each(callbacks.slice(isFullRun ? 0 : -1))(
  'a gate of custodian B that is killed at %s of the stage %s',
  (point, stage) => {
    it('answers the same again, counts once and keeps the limit of the day', async () => {
      // It asks again when the test ends its pause, however long the gate takes to start.
      const retry = { intervalMs: 86_400_000, times: 1 };
      const custody = open(await createWorldB({ onNoAnswer: 'retry', retry, stages: [stage] }));
      const { control } = custody.custodian;
      const [killed, second, third] = threeBatches();
      const first = await startGate(custody, point);
      await expectHealthy(first);
      await Promise.all([killed, second, third].map(first.post));
      const id = await custody.create(typedMessage(fundBody(killed)));
      expect(await first.ended).toEqual([null, 'SIGKILL']);
      expect(custody.answersOf(id)).not.toContain('APPROVE');
      expect(readLedger(custody)).toMatchObject({ votes: 1, sum: 700n });

      const again = await startGate(custody);
      await expectHealthy(again);
      // The co-signer asks again.
      expect(control.skipPauses()).toBe(1);
      const ends: string[] = [await endOf(custody, id)];
      for (const file of [second, third]) {
        ends.push(await endOf(custody, await custody.create(typedMessage(fundBody(file)))));
      }
      expect(ends).toEqual(['COMPLETED', 'COMPLETED', 'REJECTED']);
      expect(custody.answersOf(id)).toEqual(['NONE', 'APPROVE']);
      expect(readLedger(custody)).toMatchObject({ votes: 3, sum: 1_400n });
      await again.stop();
    });
  },
);

async function expectHealthy({ url }: GateProcess): Promise<void> {
  const read = async (): Promise<unknown> => (await fetch(`${url}/healthz`)).json();
  await expect.poll(read, { interval: 20 }).toEqual({ ok: true });
}

async function endOf(custody: WorldB, id: string): Promise<string> {
  await expect
    .poll(() => custody.statusOf(id), { interval: 5 })
    .toMatch(/COMPLETED|REJECTED|FAILED|CANCELLED/);
  return custody.statusOf(id);
}
