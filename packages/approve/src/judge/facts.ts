/**
 * Reads from the gate's own node what a decision depends on. A question that the node does not answer is left out, and the decision
 * waits. The log and the health of the gate say so.
 *
 * @module
 */

import {
  createPoolComparison,
  createPoolReader,
  type PoolReader,
  requirePoolCode,
} from '@pool/contracts';
import { type KeySource, readPinnedKeys } from '@pool/contracts/pinned-keys';
import {
  type ChainsFile,
  type EvmChainSettings,
  type Hex32,
  PoolError,
  parseHex32,
} from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import {
  type BatchQuestion,
  computeDifference,
  deadMarginSeconds,
  differs,
  type FactQuestions,
  type Facts,
} from '@pool/policy';
import { type GateLog, nameError } from '../config/gate-home.ts';
import type { PoolPlace } from '../config/settings-files.ts';

// What the nodes of one chain say about the questions of a decision. Where two nodes are configured, a fact is what both say.

/** The part of a pool reader that facts need. */
export type FactReader = Pick<
  PoolReader,
  'fetchFinalBlock' | 'fetchHeadTimestamp' | 'fetchBatchRootOf' | 'fetchIsVoided' | 'fetchOutRootOf'
>;

/** Of the nodes of one pool: the one that everything is read from, and a second one that must say the same. */
type FactReaders = readonly FactReader[];

/** @throws PoolError `chain_unreachable` if the nodes differ: which of them lies or lags is unknown, so the question stays open */
async function readSame<T extends string>(
  readers: FactReaders,
  read: (reader: FactReader) => Promise<T>,
): Promise<T> {
  const answers = await Promise.all(readers.map(read));
  const [first] = answers;
  if (first === undefined || answers.some((answer) => answer !== first)) {
    throw new PoolError('chain_unreachable', 'the two nodes of the chain say different things');
  }
  return first;
}

async function readBatch(
  readers: FactReaders,
  { funder, batchNonce }: BatchQuestion,
): Promise<NonNullable<Facts['batch']>> {
  return await readSame(readers, async (reader) => {
    if ((await reader.fetchBatchRootOf(funder, batchNonce, 'latest')) !== undefined) {
      return 'used';
    }
    return (await reader.fetchIsVoided(funder, batchNonce, 'latest')) ? 'voided' : 'open';
  });
}

/**
 * The rule of late landing (protocol §8), at a final block only. A single node is not believed that an approved attempt was voided: the
 * clock must be past its deadline too.
 */
async function readPreviousAttempt(
  readers: FactReaders,
  { funder, batchNonce, deadline, isApproved }: BatchQuestion,
  nowMs: number,
): Promise<NonNullable<Facts['previousAttempt']>> {
  const isOwnClockPast = deadline !== undefined && isPast(deadline, nowMs);
  return await readSame(readers, async (reader) => {
    const { number, timestampSeconds } = await reader.fetchFinalBlock();
    if ((await reader.fetchBatchRootOf(funder, batchNonce, number)) !== undefined) {
      return 'settled';
    }
    const isVoided = await reader.fetchIsVoided(funder, batchNonce, number);
    if (isVoided && (!isApproved || readers.length > 1)) {
      return 'dead';
    }
    return isOwnClockPast && (isVoided || timestampSeconds > deadline) ? 'dead' : 'alive';
  });
}

/** Used as any of the nodes says: a note that one of them calls spent is not spent again. */
async function readUsed(
  readers: FactReaders,
  nullifiers: readonly Hex32[],
): Promise<readonly Hex32[]> {
  const used = await Promise.all(readers.map((reader) => readUsedAt(reader, nullifiers, 'latest')));
  return [...new Set(used.flat())];
}

async function readUsedAt(
  reader: FactReader,
  nullifiers: readonly Hex32[],
  block: number | 'latest',
): Promise<readonly Hex32[]> {
  const roots = await Promise.all(
    nullifiers.map((nullifier) => reader.fetchOutRootOf(nullifier, block)),
  );
  return nullifiers.filter((_, index) => roots[index] !== undefined);
}

/** Spends that no node lets land any more. */
async function readDeadSpends(
  readers: FactReaders,
  spends: FactQuestions['earlierSpends'],
  nowMs: number,
): Promise<readonly Hex32[]> {
  const finals = await Promise.all(
    readers.map(async (reader) => ({ reader, block: await reader.fetchFinalBlock() })),
  );
  const dead: Hex32[] = [];
  for (const { manifestDigest, deadline, nullifiers } of spends) {
    const isOver =
      isPast(deadline, nowMs) && finals.every(({ block }) => block.timestampSeconds > deadline);
    const used = isOver
      ? await Promise.all(
          finals.map(({ reader, block }) => readUsedAt(reader, nullifiers, block.number)),
        )
      : [];
    if (isOver && used.flat().length === 0) {
      dead.push(manifestDigest);
    }
  }
  return dead;
}

function isPast(deadline: number, nowMs: number): boolean {
  return nowMs > 1000 * (deadline + deadMarginSeconds);
}

/** Undefined in `maxClockDifferenceSeconds` of a chain's settings. A newest block is some seconds old; a clock without NTP drifts by minutes. */
const defaultClockSeconds = 300;

export type FactSource = ReturnType<typeof createFactSource>;

/** No pool has it. */
const noNullifier = parseHex32(`0x${'00'.repeat(32)}`);

/** @param openReader - makes the reader of a chain; tests pass their own */
export function createFactSource(
  chains: ChainsFile,
  openReader: (settings: EvmChainSettings) => Promise<FactReader>,
  log?: Pick<GateLog, 'info' | 'error'>,
) {
  const readers = new Map<string, Promise<FactReaders>>();
  /** Chains whose newest block differs from the clock, with the difference in seconds. */
  const clocks = new Map<number, number>();
  /** Code of the last failure of each question, by pool and question. */
  const failing = new Map<string, { readonly chainId: number; readonly code: string }>();

  /** Undefined for no question, and for one that the node does not answer. A failure is logged when it begins, changes and ends. */
  async function answer<TQuestion extends PoolPlace, TAnswer>(
    about: string,
    question: TQuestion | undefined,
    read: (question: TQuestion) => Promise<TAnswer>,
  ): Promise<TAnswer | undefined> {
    if (question === undefined) {
      return undefined;
    }
    const { chainId, pool } = question;
    const key = `${chainId} ${pool} ${about}`;
    try {
      const found = await read(question);
      if (failing.delete(key)) {
        log?.info({ chainId, pool, about }, 'the node answers again');
      }
      return found;
    } catch (error) {
      // Whatever went wrong, the question is open, and a decision that depends on it waits.
      const code = nameError(error);
      if (failing.get(key)?.code !== code) {
        const isOther = error instanceof PoolError && code === 'pool_code_differs';
        log?.error(
          { chainId, pool, about, error: code, ...(isOther ? { reason: error.message } : {}) },
          isOther
            ? 'the pool is not the expected one; nothing is voted for it'
            : 'the node does not answer; what depends on it waits',
        );
      }
      failing.set(key, { chainId, code });
      return undefined;
    }
  }

  function findSettings({ chainId, pool }: PoolPlace): EvmChainSettings {
    const settings = Object.values(chains.chains).find(
      (chain) => chain.chainId === chainId && chain.pool === pool,
    );
    if (settings === undefined) {
      throw new PoolError(
        'invalid_configuration',
        `the chain settings of the gate do not have the pool ${pool} of chain ${chainId}`,
      );
    }
    return settings;
  }

  async function findReaders(place: PoolPlace): Promise<FactReaders> {
    const settings = findSettings(place);
    const key = `${place.chainId} ${place.pool}`;
    const { secondRpcUrl } = settings.approve ?? {};
    const nodes = secondRpcUrl === undefined ? [] : [{ ...settings, rpcUrl: secondRpcUrl }];
    const open = readers.get(key) ?? Promise.all([settings, ...nodes].map(openReader));
    readers.set(key, open);
    return await open.catch((error: unknown) => {
      // Asked again at the next decision.
      readers.delete(key);
      throw error;
    });
  }

  async function readWitnesses(place: PoolPlace): Promise<Facts['clock']> {
    return await answer('clock', place, async (question) => {
      const { maxClockDifferenceSeconds = defaultClockSeconds } =
        findSettings(question).approve ?? {};
      const readers = await findReaders(question);
      const heads = await Promise.all(readers.map((reader) => reader.fetchHeadTimestamp()));
      return heads.map((blockSeconds) => ({
        blockSeconds,
        maxDifferenceSeconds: maxClockDifferenceSeconds,
      }));
    });
  }

  return {
    /** What the node does not answer is left out. */
    async read(questions: FactQuestions, nowMs: number): Promise<Facts> {
      const { batch, previousAttempt, nullifiers, earlierSpends } = questions;
      return {
        batch: await answer('batch', batch, async (question) =>
          readBatch(await findReaders(question), question),
        ),
        previousAttempt: await answer('previous attempt', previousAttempt, async (question) =>
          readPreviousAttempt(await findReaders(question), question, nowMs),
        ),
        usedNullifiers: await answer('nullifiers', nullifiers, async (question) =>
          readUsed(await findReaders(question), question.values),
        ),
        deadSpends: await answer('earlier spends', nullifiers, async (question) =>
          earlierSpends.length === 0
            ? []
            : await readDeadSpends(await findReaders(question), earlierSpends, nowMs),
        ),
      };
    },
    /** The newest block of each chain, of every node of it; without places, of every chain of the settings. Undefined: a node does not answer. */
    async readClock(places: readonly PoolPlace[]): Promise<Facts['clock']> {
      // A policy without a pool, for example one of sign-ins only: every chain of the settings tells the time.
      const asked = places.length > 0 ? places : Object.values(chains.chains);
      const ofChains = [
        ...new Map(asked.map(({ chainId, pool }) => [chainId, { chainId, pool }])).values(),
      ];
      const read = await Promise.all(ofChains.map(async (place) => await readWitnesses(place)));
      const known = read.filter((witnesses) => witnesses !== undefined);
      return known.length < read.length || known.length === 0 ? undefined : known.flat();
    },
    /** Asks the node of each pool for what decisions ask for, so that an outage is known before a batch waits for it. Never throws. */
    async probe(places: readonly PoolPlace[], nowMs: number): Promise<void> {
      clocks.clear();
      for (const place of places) {
        const isReached = await answer('probe', place, async (question) => {
          for (const reader of await findReaders(question)) {
            await reader.fetchFinalBlock();
            await reader.fetchOutRootOf(noNullifier, 'latest');
          }
          return true;
        });
        const wrong = (await readWitnesses(place))?.find((witness) => differs(witness, nowMs));
        if (wrong !== undefined) {
          clocks.set(place.chainId, computeDifference(wrong, nowMs));
        }
        if (isReached === true) {
          // A question that nobody asks any more does not stay a problem.
          const prefix = `${place.chainId} ${place.pool} `;
          for (const key of [...failing.keys()].filter((one) => one.startsWith(prefix))) {
            failing.delete(key);
          }
        }
      }
    },
    /** What the nodes do not answer now, as sentences for the operator. */
    problems(): readonly string[] {
      const lines = [...failing.values()].map(({ chainId, code }) =>
        code === 'pool_code_differs'
          ? `the pool of chain ${chainId} does not have the contracts that the pinned keys give (${code}), so nothing is voted for it: read the log for the contract, and compare the chain settings with the addresses that were published`
          : `the node of chain ${chainId} does not answer (${code}), so batches and spends wait: check its rpcUrl in the chain settings, and read the log`,
      );
      const clockLines = [...clocks].map(
        ([chainId, seconds]) =>
          `the clock of this host and the newest block of chain ${chainId} differ by ${seconds} seconds, so nothing is voted: set the clock, or look at the node`,
      );
      return [...new Set(lines), ...clockLines];
    },
  };
}

/**
 * The reader of a pool whose contracts have the code that the pinned keys give: for another pool there is none, so nothing is voted.
 * @param keys - undefined: the development keys
 * @throws PoolError `pool_code_differs`, `wrong_chain`, `chain_unreachable`
 */
export async function openPoolReader(
  settings: EvmChainSettings,
  keys: KeySource | undefined,
): Promise<FactReader> {
  const provider = createEvmProvider(settings);
  try {
    await requirePoolCode(createPoolComparison(provider, settings, () => readPinnedKeys(keys)));
  } catch (error) {
    provider.destroy();
    throw error;
  }
  return createPoolReader(provider, settings);
}
