/**
 * The proving keys that one engine keeps in memory, within a budget. The key that was not used for the longest time is removed
 * first.
 *
 * @module
 */
import { ProverError } from '../base/errors.ts';
import type { IdentifiedFile } from '../base/file-input.ts';
import type { KeyStore } from '../base/key-store.ts';
import { readZkey } from '../zkey/open-zkey.ts';
import type { ZkeyHeader } from '../zkey/zkey.ts';
import type { Engine, EngineOptions, ResidentKey } from './engine.ts';
import { openPreparedKey, writePreparedKey } from './prepared-key.ts';

/** A key, and the other data of its file that a proof needs. */
export type HeldKey = {
  readonly resident: ResidentKey;
  readonly header: ZkeyHeader;
  /** The points for the public signals, in the encoding of the file. */
  readonly ic: Uint8Array;
  /** Memory counted towards the budget, in bytes. */
  readonly charge: number;
};

export type KeyCache = {
  /**
   * Returns the key in a file, and loads it if necessary. One call at a time.
   * @throws ProverError `zkey_malformed`, `memory_budget_exceeded`, `artifact_unreadable`; the engine's errors
   */
  readonly take: (file: IdentifiedFile, options: EngineOptions) => Promise<HeldKey>;
  readonly count: () => number;
  /** Memory of all keys, in bytes. */
  readonly bytes: () => number;
  /** Number of keys loaded, and of keys removed to free memory, since the start. */
  readonly loads: () => number;
  readonly evictions: () => number;
  /** Resolves when no prepared key is being written. */
  readonly written: () => Promise<void>;
  /** A key that is being written is not kept. */
  readonly release: () => void;
};

/** The estimate for an engine without its own: twice the size of each point and each coefficient. */
function estimateBytes(header: ZkeyHeader): number {
  return 2 * (header.wires * 320 + header.domainSize * 64 + header.coefficients * 16);
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MB`;
}

/** A key that is fetched counts as half loaded when it has arrived. */
function divideLoading(report: EngineOptions['onProgress']) {
  let fetched = 0;
  return {
    onBytes: (received: number, expected: number): void => {
      fetched = 0.5;
      report?.('load', Math.min(fetched, (fetched * received) / expected));
    },
    onProgress: ((phase, fraction) => {
      report?.(phase, phase === 'load' ? fetched + (1 - fetched) * fraction : fraction);
    }) satisfies EngineOptions['onProgress'],
  };
}

/** @param store - keeps prepared keys for later processes */
export function createKeyCache(engine: Engine, budgetBytes: number, store?: KeyStore): KeyCache {
  /** In the order of their last use. */
  const held = new Map<string, HeldKey>();
  const writes = new Set<Promise<void>>();
  let loads = 0;
  let evictions = 0;

  const sum = (): number => [...held.values()].reduce((total, { charge }) => total + charge, 0);

  const makeRoom = (needed: number): void => {
    if (needed > budgetBytes) {
      throw new ProverError(
        'memory_budget_exceeded',
        `A proof with this key needs about ${inMegabytes(needed)}; the prover may use ${inMegabytes(budgetBytes)}. Raise memoryBudgetBytes.`,
      );
    }
    for (const [name, key] of held) {
      if (sum() + needed <= budgetBytes) {
        return;
      }
      held.delete(name);
      key.resident.release();
      evictions += 1;
    }
  };

  const releaseAll = (): void => {
    for (const { resident } of held.values()) {
      resident.release();
    }
    held.clear();
  };

  /** Estimates are not exact, and free memory is fragmented. A key that does not fit beside others may fit alone. */
  const alone = async (load: () => Promise<ResidentKey>): Promise<ResidentKey> => {
    try {
      return await load();
    } catch (error) {
      const isFull = error instanceof ProverError && error.code === 'memory_budget_exceeded';
      if (!isFull || held.size === 0) {
        throw error;
      }
      evictions += held.size;
      releaseAll();
      return await load();
    }
  };

  const estimate = (header: ZkeyHeader) => engine.estimateBytes?.(header) ?? estimateBytes(header);

  /** The prepared key of an earlier process. Undefined if there is none that can be used. */
  const restore = async (
    { lastingName }: IdentifiedFile,
    identity: string | undefined,
    options: EngineOptions,
  ): Promise<HeldKey | undefined> => {
    const { restore: restoreKey, describeImageFormat } = engine;
    if (identity === undefined || restoreKey === undefined) return undefined;
    if (store === undefined || lastingName === undefined) return undefined;
    const source = await store.open(lastingName);
    try {
      const format = await describeImageFormat?.();
      if (source === undefined || format === undefined) return undefined;
      const prepared = await openPreparedKey(source, { identity, format });
      if (prepared === undefined) return undefined;
      const { header, ic } = prepared;
      makeRoom(estimate(header));
      const resident = await alone(() => restoreKey(prepared, options));
      loads += 1;
      return { resident, header, ic, charge: Math.max(estimate(header), resident.bytes) };
    } catch (error) {
      const code = error instanceof ProverError ? error.code : undefined;
      if (options.signal?.aborted || code === 'memory_budget_exceeded') throw error;
      // It is damaged or cannot be read, and is written again.
      return undefined;
    } finally {
      await source?.close();
    }
  };

  /** Best effort: without it, the next process prepares the key again. */
  const keep = async (
    { lastingName, describeVersion }: IdentifiedFile,
    identity: string | undefined,
    key: HeldKey,
  ): Promise<void> => {
    const { describeImageFormat } = engine;
    if (store === undefined || lastingName === undefined || identity === undefined) return;
    try {
      const images = key.resident.createImages?.();
      // It may have changed while it was read.
      if (images === undefined || (await describeVersion()) !== identity) return;
      const format = (await describeImageFormat?.()) ?? '';
      await store.write(lastingName, writePreparedKey({ identity, format }, key, images));
    } catch {
      // No space, no permission, or the key was released.
    }
  };

  const load = async (
    file: IdentifiedFile,
    version: string | undefined,
    options: EngineOptions,
  ): Promise<HeldKey> => {
    const { signal } = options;
    const { onBytes, onProgress } = divideLoading(options.onProgress);
    const zkey = await readZkey(await file.open({ signal, maximumBytes: budgetBytes, onBytes }));
    try {
      const { header } = zkey;
      const needed = estimate(header);
      makeRoom(needed);
      loads += 1;
      const count = zkey.countPoints('ic');
      const ic = new Uint8Array(64 * count);
      await zkey.readPoints('ic', 0, count, ic);
      const resident = await alone(() => engine.load(zkey, { signal, onProgress }));
      if (!(await file.isUnchanged())) {
        resident.release();
        throw new ProverError(
          'zkey_malformed',
          'The proving key changed while it was read. Write the new key to another path and move it into place.',
          { retryable: true },
        );
      }
      const key = { resident, header, ic, charge: Math.max(needed, resident.bytes) };
      // The proof does not wait for it.
      const write = keep(file, version, key).finally(() => writes.delete(write));
      writes.add(write);
      return key;
    } finally {
      await zkey.close();
    }
  };

  return {
    take: async (file, options) => {
      const { identity } = file;
      let key = held.get(identity);
      if (key === undefined) {
        const version = store && file.lastingName && (await file.describeVersion(options.signal));
        key = (await restore(file, version, options)) ?? (await load(file, version, options));
      }
      held.delete(identity);
      held.set(identity, key);
      return key;
    },
    count: () => held.size,
    bytes: () => [...held.values()].reduce((total, { resident }) => total + resident.bytes, 0),
    loads: () => loads,
    evictions: () => evictions,
    written: async () => {
      await Promise.all(writes);
    },
    release: releaseAll,
  };
}
