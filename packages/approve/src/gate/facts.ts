/**
 * Reads from the gate's own node what a decision depends on. A question that the node does not answer is left out, and the decision
 * waits.
 *
 * @module
 */
import {
  assertChainId,
  createEvmProvider,
  createPoolReader,
  type PoolReader,
} from '@pool/contracts';
import type { ChainsFile, EvmAddress, EvmChainSettings, Hex32 } from '@pool/core';
import type { BatchQuestion, FactQuestions, Facts } from '@pool/policy';

/** The part of a pool reader that facts need. */
export type FactReader = Pick<
  PoolReader,
  'fetchFinalBlock' | 'fetchBatchRootOf' | 'fetchIsVoided' | 'fetchOutRootOf'
>;

export type FactSource = {
  /** What the node does not answer is left out. */
  read(questions: FactQuestions): Promise<Facts>;
};

type FindReader = (chainId: number, pool: EvmAddress) => Promise<FactReader>;

/** @param openReader - makes the reader of a chain; tests pass their own */
export function createFactSource(
  chains: ChainsFile,
  openReader: (settings: EvmChainSettings) => Promise<FactReader> = openPoolReader,
): FactSource {
  const readers = new Map<string, Promise<FactReader>>();

  async function findReader(chainId: number, pool: EvmAddress): Promise<FactReader> {
    const settings = Object.values(chains.chains).find(
      (chain) => chain.chainId === chainId && chain.pool === pool,
    );
    if (settings === undefined) {
      throw new Error('the chain settings of the gate do not have this pool');
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
        batch: await answer(batch, (question) => readBatch(findReader, question)),
        previousAttempt: await answer(previousAttempt, (question) =>
          readPreviousAttempt(findReader, question),
        ),
        usedNullifiers: await answer(nullifiers, async ({ chainId, pool, values }) =>
          readUsed(await findReader(chainId, pool), values, 'latest'),
        ),
        deadSpends: await answer(nullifiers, async ({ chainId, pool }) =>
          earlierSpends.length === 0
            ? []
            : await readDeadSpends(await findReader(chainId, pool), earlierSpends),
        ),
      };
    },
  };
}

async function openPoolReader(settings: EvmChainSettings): Promise<FactReader> {
  const provider = createEvmProvider(settings);
  await assertChainId(provider, settings);
  return createPoolReader(provider, settings);
}

/** Undefined for no question, and for one that the node does not answer. */
async function answer<TQuestion, TAnswer>(
  question: TQuestion | undefined,
  read: (question: TQuestion) => Promise<TAnswer>,
): Promise<TAnswer | undefined> {
  if (question === undefined) {
    return undefined;
  }
  try {
    return await read(question);
  } catch {
    // Whatever went wrong, the question is open, and a decision that depends on it waits.
    return undefined;
  }
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
