/**
 * Replays runs of the model against the relayer and its rows: two relayers of one account on one database, and a chain that does what the
 * model's does. A signature that the model has not stored yet waits inside the relayer, so another one can act in between.
 *
 * @module
 */
import type { EvmChainSettings } from '@pool/core';
import { Wallet } from 'ethers';
import { expect } from 'vitest';
import type { PlatformDatabase } from '../../packages/database/src/platform-tables.ts';
import { createLog } from '../../packages/http-server/src/service/log.ts';
import type { PoolChain } from '../../packages/relayer/src/chain/pool-chain.ts';
import { advance } from '../../packages/relayer/src/send/advance.ts';
import { followNonce } from '../../packages/relayer/src/send/nonces.ts';
import { selectOpenNonces } from '../../packages/relayer/src/send/sent-nonces.ts';
import { describeNewSettlement } from '../../packages/relayer/src/store/settlement-store.ts';
import {
  findSubmission,
  selectSubmission,
  storeChecked,
} from '../../packages/relayer/src/store/submissions.ts';
import {
  createTestSettlement,
  insertTestEmployer,
  type TestSettlement,
  testEmployerId,
} from '../../packages/relayer/test/test-settlement.ts';
import type { Row, State, Step } from './quint.ts';

/** Which of them a relayer finds first is its own business. */
const refusals = ['not_leader', 'taken'];

const log = createLog('silent', 'test');
const sender = `0x${'a1'.repeat(20)}`;
/** Number of the newest final block. The head is one above it. */
const finalBlock = 100;

/** What the rows or their user may do otherwise, to see that a replay finds it. */
export type RelayerFault = {
  readonly what: string;
  /** Nobody asks whether another relayer leads. */
  readonly isLeaderAsked?: false;
  /** A trigger that keeps a column as it was. */
  readonly kept?: { readonly table: string; readonly column: string };
};

export const relayerFaults: readonly RelayerFault[] = [
  { what: 'that does not ask who leads', isLeaderAsked: false },
  { what: 'whose sent submissions stay accepted', kept: { table: 'submissions', column: 'state' } },
  {
    what: 'whose mined transactions stay open',
    kept: { table: 'relayer_transactions', column: 'state' },
  },
];

/** The settlements of both keys, signed once: their batches are made in half a second. */
export async function createSettlements(): Promise<ReadonlyMap<string, TestSettlement>> {
  const address = `0x${'b2'.repeat(20)}`;
  const settings = { chainId: 31337, pool: address } as Partial<EvmChainSettings>;
  const target = {
    settings: settings as EvmChainSettings,
    token: address,
    funder: new Wallet(`0x${'1'.repeat(64)}`),
    timestamp: 0,
  };
  const eligibilityRoot = 1n as Parameters<typeof createTestSettlement>[1]['eligibilityRoot'];
  const named = ['k', 'l'].map(
    async (jobKey) =>
      [jobKey, await createTestSettlement(target, { eligibilityRoot, jobKey })] as const,
  );
  return new Map(await Promise.all(named));
}

/** A relayer in the middle of a signature. */
type Signing = {
  /** What the model knows of it. */
  readonly signed: { readonly nonce: number; readonly call: string };
  /**
   * Lets it go on.
   * @param mayLead - whether the database finds that it leads
   * @param id - the number that the model has for the transaction
   */
  proceed(mayLead: boolean, id: number): Promise<string>;
  die(): void;
};

/** @throws AssertionError for a nonce, an answer or a row that differs from the model's, with the actions so far */
export async function replayNonces(
  db: PlatformDatabase,
  settlements: ReadonlyMap<string, TestSettlement>,
  steps: readonly Step[],
  { isLeaderAsked = true }: { readonly isLeaderAsked?: boolean } = {},
): Promise<void> {
  await insertTestEmployer(db);
  const world = createWorld(db, settlements, isLeaderAsked);
  const done: string[] = [];
  const [first] = steps;
  for (const [key, { state }] of first?.before.submissions ?? []) {
    if (state === 'accepted') await world.accept(key, first?.before.deadline ?? 0);
  }
  try {
    for (const step of steps) {
      done.push(`${step.action} ${step.relayer} ${step.key}`);
      const answer = await world.act(step);
      if (answer !== undefined) {
        expect({ done, answer }).toEqual({
          done,
          answer: refusals.includes(step.answer) ? 'refused' : step.answer,
        });
        expect({ done, ...(await world.read()) }).toEqual({ done, ...expectedRows(step.after) });
      }
    }
  } catch (cause) {
    throw new Error(`the relayer differs after ${done.join(', ')}`, { cause });
  } finally {
    world.end();
  }
}

type Rows = {
  readonly rows: readonly string[];
  readonly submissions: Readonly<Record<string, string>>;
};

/** The indexer, and not the relayer, settles a submission. */
function expectedRows({ rows, submissions }: State): Rows {
  const stored = [...submissions].filter(([, { state }]) => state !== 'none');
  return {
    rows: rows.map(({ tx, state }) => `${tx.key}: ${tx.call} at ${tx.nonce} is ${state}`),
    submissions: Object.fromEntries(
      stored.map(([key, { state }]) => [key, state === 'settled' ? 'submitted' : state]),
    ),
  };
}

function createWorld(
  db: PlatformDatabase,
  settlements: ReadonlyMap<string, TestSettlement>,
  isLeaderAsked: boolean,
) {
  const ids = new Map<string, number>();
  const signing = new Map<string, Signing>();
  /** Model ids of stored transactions, by hash. */
  const stored = new Map<string, number>();
  let view: State | undefined;
  let signatures = 0;
  /** Later at each look: whatever is not mined is due for a replacement. */
  let nowMs = 1e12;

  const now = (): State => {
    if (view === undefined) throw new Error('no action yet');
    return view;
  };
  const keyOf = (nonce: unknown): string =>
    [...settlements].find(([, { request }]) => request.batch.batchNonce === nonce)?.[0] ?? '';
  const rootOf = (nonce: unknown, block: number | 'latest') => {
    const key = keyOf(nonce);
    const { paid } = block === 'latest' ? now().head : now().final;
    return (paid.get(key) ?? 0) > 0 ? settlements.get(key)?.request.batch.batchRoot : undefined;
  };

  /** One process of the relayer. What it signs is held until the model stores it. */
  function createProcess(hold: (nonce: number, call: string, txHash: string) => Promise<void>) {
    const sign = async (nonce: number, call: string) => {
      signatures += 1;
      const txHash = `transaction ${signatures}`;
      await hold(nonce, call, txHash);
      return {
        ...{ sender, nonce, txHash, rawTransaction: JSON.stringify({ nonce, call }) },
        ...{ gasLimit: 1n, maxFeePerGas: 1n },
      };
    };
    const chain: Partial<PoolChain> = {
      key: 'anvil',
      relayerAddress: sender,
      simulate: () => Promise.resolve(undefined),
      decideGas: () => Promise.resolve({ kind: 'limit', gasLimit: 1n }),
      findExcess: () => Promise.resolve(undefined),
      broadcast: () => Promise.resolve(),
      hasRelayerRole: () => Promise.resolve(true),
      fetchRevertReason: () => Promise.resolve({ code: 'reverted', message: 'reverted' }),
      fetchNonce: () => Promise.resolve(now().head.nonce),
      fetchNonceAt: () => Promise.resolve(now().final.nonce),
      fetchIsVoided: () => Promise.resolve(false),
      fetchBatchRootOf: async (_funder, nonce, block = 'latest') => rootOf(nonce, block),
      async fetchReceipt(txHash) {
        const id = stored.get(txHash) ?? 0;
        const { head, final, rows } = now();
        const call = rows.find(({ tx }) => tx.id === id)?.tx.call ?? '';
        return head.mined.includes(id)
          ? {
              succeeded: (final.paid.get(call) ?? 0) > 0,
              blockNumber: final.mined.includes(id) ? finalBlock : finalBlock + 1,
              gasUsed: 1n,
            }
          : undefined;
      },
      sign: (call, nonce) =>
        sign(nonce, call.kind === 'fund' ? keyOf(call.call.batch.batchNonce) : ''),
      signReplacement: (raw, purpose) => {
        const old = JSON.parse(raw) as { nonce: number; call: string };
        return sign(old.nonce, purpose === 'cancel' ? 'cancel' : old.call);
      },
    };
    return chain as PoolChain;
  }

  type Pass = Parameters<typeof advance>[0];

  function createPass(chain: PoolChain, mayLead: () => boolean): Pass {
    return {
      ...{ db, chain, log, replaceAfterMs: 1, inTurn: (work) => work() },
      nowMs: () => {
        nowMs += 1_000;
        return nowMs;
      },
      assertLeader: () => (mayLead() ? Promise.resolve() : Promise.reject(new Error('not_leader'))),
      final: {
        number: finalBlock,
        hash: `0x${'0'.repeat(64)}` as Pass['final']['hash'],
        timestampSeconds: now().final.time,
      },
    };
  }

  /** Runs one step of a relayer until it signs. */
  async function untilSigned(work: (pass: Pass) => Promise<unknown>): Promise<Signing> {
    const signed = Promise.withResolvers<Signing['signed'] & { readonly txHash: string }>();
    const release = Promise.withResolvers<undefined>();
    let isLeader = false;
    const chain = createProcess(async (nonce, call, txHash) => {
      signed.resolve({ nonce, call, txHash });
      await release.promise;
    });
    const outcome = work(createPass(chain, () => isLeader)).then(
      () => 'ended',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const early = outcome.then((what) => {
      throw new Error(`nothing was signed: ${what}`);
    });
    early.catch(() => undefined);
    const { txHash, ...what } = await Promise.race([signed.promise, early]);
    return {
      signed: what,
      async proceed(mayLead, id) {
        isLeader = mayLead;
        release.resolve(undefined);
        const end = await outcome;
        const row = await db
          .selectFrom('relayer_transactions')
          .select('id')
          .where('tx_hash', '=', txHash)
          .executeTakeFirst();
        if (row !== undefined) stored.set(txHash, id);
        // Nothing is stored, for whichever reason is found first.
        return row !== undefined
          ? 'stored'
          : ['ended', 'not_leader'].includes(end)
            ? 'refused'
            : end;
      },
      die: () => {
        release.reject(new Error('dead'));
      },
    };
  }

  function kill(relayer: string): void {
    signing.get(relayer)?.die();
    signing.delete(relayer);
  }

  const rowOf = async (key: string) => await selectSubmission(db, ids.get(key) ?? 0);

  async function follow(pass: Pass, nonce: number): Promise<void> {
    const open = (await selectOpenNonces(pass)).find(([newest]) => newest.nonce === nonce);
    if (open === undefined) throw new Error(`the relayer has nothing open at nonce ${nonce}`);
    const row = await selectSubmission(db, open[0].submission_id);
    await followNonce(pass, open, row, pass.final, pass.chain);
  }

  return {
    async accept(key: string, deadline: number): Promise<void> {
      const settlement = settlements.get(key)?.request;
      if (settlement === undefined) throw new Error(key);
      const request = { ...settlement, batch: { ...settlement.batch, deadline } };
      const payer = { employerId: testEmployerId, key };
      const posted = describeNewSettlement(payer, request, 0, () => Promise.resolve(0));
      const standing = await findSubmission(db, testEmployerId, key);
      // What is not about states is left out: it would take most of the time.
      const short = { ...posted, commitments: [], sealedNotes: [] };
      ids.set(key, (await storeChecked(db, short, standing, () => true)).id);
    },

    /** @returns what the relayer's database said, in the model's words; undefined: the action asks no relayer */
    async act({ action, relayer, key, before, after, answer }: Step): Promise<string | undefined> {
      view = before;
      const isLeader = before.leads.get(relayer) === before.epoch;
      const quiet = (): Pass =>
        createPass(
          createProcess(() => Promise.resolve()),
          () => true,
        );
      const begin = async (work: (pass: Pass) => Promise<unknown>): Promise<string> => {
        const one = await untilSigned(work);
        signing.set(relayer, one);
        const { nonce, call } = after.plans.get(relayer) ?? {};
        expect(one.signed).toEqual({ nonce, call });
        return '';
      };
      switch (action) {
        case 'accept':
          await this.accept(key, before.deadline);
          return '';
        case 'lead':
        case 'crashRelayer':
          kill(relayer);
          return undefined;
        case 'signFirst':
          return await begin(async (pass) => advance(pass, ids.get(key) ?? 0));
        case 'signReplacement':
          return await begin((pass) => follow(pass, before.head.nonce));
        case 'store': {
          const held = signing.get(relayer);
          signing.delete(relayer);
          return await held?.proceed(
            isLeader || !isLeaderAsked,
            before.plans.get(relayer)?.id ?? 0,
          );
        }
        case 'record':
          await follow(quiet(), nonceOfRecord(before, after));
          return answer;
        case 'recover':
        case 'expire':
          await advance(quiet(), ids.get(key) ?? 0);
          return answer;
        default:
          return undefined;
      }
    },

    async read(): Promise<Rows> {
      const keys = new Map([...ids].map(([key, id]) => [id, key]));
      const rows = await db.selectFrom('relayer_transactions').selectAll().orderBy('id').execute();
      const submissions = await Promise.all(
        [...ids.keys()].sort().map(async (key) => [key, (await rowOf(key)).state] as const),
      );
      return {
        rows: rows.map(({ submission_id, nonce, state, purpose }) => {
          const key = keys.get(submission_id) ?? '';
          return `${key}: ${purpose === 'fund' ? key : purpose} at ${nonce} is ${state}`;
        }),
        submissions: Object.fromEntries(submissions),
      };
    },

    end(): void {
      for (const relayer of [...signing.keys()]) kill(relayer);
    },
  };
}

/** The nonce of the row that an action ended. */
function nonceOfRecord(before: State, after: State): number {
  const index = after.rows.findIndex(
    ({ state }: Row, place) => state !== before.rows[place]?.state,
  );
  return after.rows[index]?.tx.nonce ?? -1;
}
