/**
 * What becomes of the archive of spends: the change of a spend that settled is kept among the holder's notes, and manifests and seeds are
 * erased some days later (docs/decisions/0012). Nothing is erased of a spend whose change is not kept.
 *
 * @module
 */
import { errorCodeOf, type Hex32 } from '@pool/core';
import { eraseExpiredSpends } from '../../archive/erase-spends.ts';
import type { KeptOpenings } from '../../archive/kept-openings.ts';
import type { ArchivedSpend, SpendArchive } from '../../archive/spend-archive.ts';
import type { HolderChain } from '../../holder/holder.ts';
import type { HolderNotes } from '../../holder/wallet-notes.ts';
import type { SpendDeps } from '../../spend/spend-deps.ts';
import type { Log } from '../log.ts';

/** Pause between two looks for spends that settled, in milliseconds. */
const lookPauseMs = 15_000;

/** Time between two passes of retention, in milliseconds. A change that was not found is looked for again then. */
const erasePauseMs = 3_600_000;

const dayMs = 86_400_000;

export type SpendKeepingDeps = {
  readonly archive: SpendArchive;
  readonly notes: Pick<HolderNotes, 'keepChange'>;
  readonly chains: ReadonlyMap<string, HolderChain>;
  readonly retentionDays: number;
  readonly keepOpenings: (openings: KeptOpenings) => Promise<void>;
  readonly log: Log;
  readonly clock: SpendDeps['clock'];
  readonly signal: AbortSignal;
};

/** Until the agent stops. Never throws. */
export async function keepSpends(deps: SpendKeepingDeps): Promise<void> {
  const { clock, signal, log } = deps;
  const keeper = createKeeper(deps);
  let erasedAtMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      if (clock.nowMs() - erasedAtMs < erasePauseMs) {
        await keeper.keepSettled();
      } else {
        erasedAtMs = clock.nowMs();
        await keeper.erase();
      }
    } catch (error) {
      log.warn({ code: errorCodeOf(error) ?? 'unknown' }, 'spends were not kept or erased');
    }
    await clock.sleep(lookPauseMs, signal).catch(() => undefined);
  }
}

function createKeeper(deps: SpendKeepingDeps) {
  const { archive, notes, chains, log } = deps;
  /** Settled spends that were looked for in this hour, so that a change that is not found is not sought every few seconds. */
  let sought: ReadonlySet<Hex32> = new Set();
  const reported = new Set<Hex32>();

  /** Once for each spend: every pass finds it again. */
  function report(outRoot: Hex32, code: string, message: string): void {
    if (!reported.has(outRoot)) {
      reported.add(outRoot);
      log.error({ outRoot, code }, message);
    }
  }

  async function listSettled(): Promise<readonly ArchivedSpend[]> {
    return (await archive.listUnkept()).filter(
      ({ state, changeAmount }) => state.kind === 'settled' && changeAmount !== '0',
    );
  }

  /** @returns keys of the chains that were read up to a final block */
  async function readChains(spends: readonly ArchivedSpend[]): Promise<ReadonlySet<string>> {
    const read = new Set<string>();
    for (const key of new Set(spends.map(({ chain }) => chain))) {
      const chain = chains.get(key);
      try {
        if (chain !== undefined) {
          await notes.keepChange(chain);
          read.add(key);
        }
      } catch (error) {
        log.warn(
          { chain: key, code: errorCodeOf(error) ?? 'unknown' },
          'the change of spends was not looked for, next attempt within an hour',
        );
      }
    }
    return read;
  }

  return {
    async keepSettled(): Promise<void> {
      const settled = await listSettled();
      if (settled.every(({ outRoot }) => sought.has(outRoot))) {
        return;
      }
      sought = new Set(settled.map(({ outRoot }) => outRoot));
      await readChains(settled);
    },
    async erase(): Promise<void> {
      const expiredMs = deps.clock.nowMs() - deps.retentionDays * dayMs;
      const read = await readChains(
        (await archive.listUnkept()).filter(
          ({ state, changeAmount, createdAtMs }) =>
            changeAmount !== '0' && (state.kind === 'settled' || createdAtMs < expiredMs),
        ),
      );
      const isRead = ({ chain, chainId, pool }: ArchivedSpend): boolean => {
        const settings = chains.get(chain)?.settings;
        return read.has(chain) && settings?.chainId === chainId && settings.pool === pool;
      };
      const settled = await listSettled();
      sought = new Set(settled.map(({ outRoot }) => outRoot));
      for (const spend of settled.filter(isRead)) {
        report(
          spend.outRoot,
          'change_not_found',
          'a spend settled, and no note of this agent is its change: its manifest and seed are not erased; configure the viewing key and wallet that it began with, or restore spends.sqlite from a backup',
        );
      }
      await eraseExpiredSpends(
        archive,
        deps.retentionDays,
        deps.clock.nowMs(),
        isRead,
        deps.keepOpenings,
        (outRoot, error) =>
          report(
            outRoot,
            errorCodeOf(error) ?? 'unknown',
            'a spend in the archive cannot be opened, so what proves it later cannot be kept: its payees and seed are not erased; restore spends.sqlite from a backup',
          ),
      );
    },
  };
}
