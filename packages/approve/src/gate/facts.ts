/**
 * Reads from the gate's own node what a decision depends on. A question that the node does not answer is left out, and the decision
 * waits. The log and the health of the gate say so.
 *
 * @module
 */
import {
  assertChainId,
  createEvmProvider,
  createPoolReader,
  type PoolReader,
} from '@pool/contracts';
import {
  type ChainsFile,
  type EvmAddress,
  type EvmChainSettings,
  errorCodeOf,
  type Hex32,
  PoolError,
  parseHex32,
} from '@pool/core';
import type { BatchQuestion, FactQuestions, Facts } from '@pool/policy';
import type { GateLog } from './gate-log.ts';
import type { PoolPlace } from './settings-files.ts';

/** The part of a pool reader that facts need. */
export type FactReader = Pick<
  PoolReader,
  'fetchFinalBlock' | 'fetchBatchRootOf' | 'fetchIsVoided' | 'fetchOutRootOf'
>;

export type FactSource = {
  /** What the node does not answer is left out. */
  read(questions: FactQuestions): Promise<Facts>;
  /** Asks the node of each pool for what decisions ask for, so that an outage is known before a batch waits for it. Never throws. */
  probe(places: readonly PoolPlace[]): Promise<void>;
  /** What the nodes do not answer now, as sentences for the operator. */
  problems(): readonly string[];
};

type FindReader = (chainId: number, pool: EvmAddress) => Promise<FactReader>;

/** No pool has it. */
const noNullifier = parseHex32(`0x${'00'.repeat(32)}`);

/** @param openReader - makes the reader of a chain; tests pass their own */
export function createFactSource(
  chains: ChainsFile,
  openReader: (settings: EvmChainSettings) => Promise<FactReader> = openPoolReader,
  log?: Pick<GateLog, 'info' | 'error'>,
): FactSource {
  const readers = new Map<string, Promise<FactReader>>();
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
      const code = errorCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
      if (failing.get(key)?.code !== code) {
        log?.error(
          { chainId, pool, about, error: code },
          'the node does not answer; what depends on it waits',
        );
      }
      failing.set(key, { chainId, code });
      return undefined;
    }
  }

  async function findReader(chainId: number, pool: EvmAddress): Promise<FactReader> {
    const settings = Object.values(chains.chains).find(
      (chain) => chain.chainId === chainId && chain.pool === pool,
    );
    if (settings === undefined) {
      throw new PoolError(
        'invalid_configuration',
        `the chain settings of the gate do not have the pool ${pool} of chain ${chainId}`,
      );
    }
    const key = `${chainId} ${pool}`;
    const open = readers.get(key) ?? openReader(settings);
    readers.set(key, open);
    return await open.catch((error: unknown) => {
      // Asked again at the next decision.
      readers.delete(key);
      throw error;
    });
  }

  return {
    async read({ batch, previousAttempt, nullifiers, earlierSpends }) {
      return {
        batch: await answer('batch', batch, (question) => readBatch(findReader, question)),
        previousAttempt: await answer('previous attempt', previousAttempt, (question) =>
          readPreviousAttempt(findReader, question),
        ),
        usedNullifiers: await answer('nullifiers', nullifiers, async ({ chainId, pool, values }) =>
          readUsed(await findReader(chainId, pool), values, 'latest'),
        ),
        deadSpends: await answer('earlier spends', nullifiers, async ({ chainId, pool }) =>
          earlierSpends.length === 0
            ? []
            : await readDeadSpends(await findReader(chainId, pool), earlierSpends),
        ),
      };
    },
    async probe(places) {
      for (const place of places) {
        const isReached = await answer('probe', place, async ({ chainId, pool }) => {
          const reader = await findReader(chainId, pool);
          await reader.fetchFinalBlock();
          await reader.fetchOutRootOf(noNullifier, 'latest');
          return true;
        });
        if (isReached === true) {
          // A question that nobody asks any more does not stay a problem.
          const prefix = `${place.chainId} ${place.pool} `;
          for (const key of [...failing.keys()].filter((one) => one.startsWith(prefix))) {
            failing.delete(key);
          }
        }
      }
    },
    problems() {
      const lines = [...failing.values()].map(
        ({ chainId, code }) =>
          `the node of chain ${chainId} does not answer (${code}), so batches and spends wait: check its rpcUrl in the chain settings, and read the log`,
      );
      return [...new Set(lines)];
    },
  };
}

async function openPoolReader(settings: EvmChainSettings): Promise<FactReader> {
  const provider = createEvmProvider(settings);
  await assertChainId(provider, settings);
  return createPoolReader(provider, settings);
}

async function readBatch(
  findReader: FindReader,
  { chainId, pool, funder, batchNonce }: BatchQuestion,
): Promise<NonNullable<Facts['batch']>> {
  const reader = await findReader(chainId, pool);
  if ((await reader.fetchBatchRootOf(funder, batchNonce, 'latest')) !== undefined) {
    return 'used';
  }
  return (await reader.fetchIsVoided(funder, batchNonce, 'latest')) ? 'voided' : 'open';
}

/** The rule of late landing (protocol §8), at a final block only. */
async function readPreviousAttempt(
  findReader: FindReader,
  { chainId, pool, funder, batchNonce, deadline }: BatchQuestion,
): Promise<NonNullable<Facts['previousAttempt']>> {
  const reader = await findReader(chainId, pool);
  const { number, timestampSeconds } = await reader.fetchFinalBlock();
  if ((await reader.fetchBatchRootOf(funder, batchNonce, number)) !== undefined) {
    return 'settled';
  }
  if (await reader.fetchIsVoided(funder, batchNonce, number)) {
    return 'dead';
  }
  return deadline !== undefined && timestampSeconds > deadline ? 'dead' : 'alive';
}

async function readUsed(
  reader: FactReader,
  nullifiers: readonly Hex32[],
  block: number | 'latest',
): Promise<readonly Hex32[]> {
  const roots = await Promise.all(
    nullifiers.map((nullifier) => reader.fetchOutRootOf(nullifier, block)),
  );
  return nullifiers.filter((_, index) => roots[index] !== undefined);
}

async function readDeadSpends(
  reader: FactReader,
  spends: FactQuestions['earlierSpends'],
): Promise<readonly Hex32[]> {
  const { number, timestampSeconds } = await reader.fetchFinalBlock();
  const dead: Hex32[] = [];
  for (const { manifestDigest, deadline, nullifiers } of spends) {
    if (timestampSeconds > deadline && (await readUsed(reader, nullifiers, number)).length === 0) {
      dead.push(manifestDigest);
    }
  }
  return dead;
}
