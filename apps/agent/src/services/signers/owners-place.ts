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

export function openDesk(
  place: { readonly home: string; readonly jobs: JobStorePlace },
  chains: ReadonlyMap<string, OwnersChain>,
): { readonly place: OwnersPlace; close(): Promise<void> } {
  let opened: Promise<ReleaseLog> | undefined;
  const openLog = (): Promise<ReleaseLog> => {
    // An outage of the database is not kept.
    opened ??= openReleaseLog(place).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    place: { openLog, chains, nowMs: Date.now },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
