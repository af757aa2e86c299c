/**
 * Where the owners of a contract wallet find what they are asked for: the release log, opened when it is first needed.
 *
 * @module
 */
import type { JobStorePlace } from '@pool/idempotency';
import {
  type OwnersChain,
  type OwnersPlace,
  openReleaseLog,
  type ReleaseLog,
} from '@pool/operations';

/** Opened when it is first needed. */
export function createLogOpener(place: { readonly home: string; readonly jobs: JobStorePlace }) {
  let opened: Promise<ReleaseLog> | undefined;
  return {
    open(): Promise<ReleaseLog> {
      // An outage of the database is not kept.
      opened ??= openReleaseLog(place).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    async close(): Promise<void> {
      const log = opened;
      opened = undefined;
      await (await log?.catch(() => undefined))?.close();
    },
  };
}

export function openDesk(
  place: { readonly home: string; readonly jobs: JobStorePlace },
  chains: ReadonlyMap<string, OwnersChain>,
): { readonly place: OwnersPlace; close(): Promise<void> } {
  const log = createLogOpener(place);
  return { place: { openLog: log.open, chains, nowMs: Date.now }, close: log.close };
}
