/**
 * The calls that `backup-worker.ts` answers. It is started for one of them, and ended after it, with the secrets that it holds.
 *
 * @module
 */
import { type Call, type Caller, createCaller } from '../calls/call-protocol.ts';

/** `seed` is secret; the other side wipes its copy. */
export type BackupCalls = {
  readonly create: Call<
    { readonly seed: Uint8Array<ArrayBuffer>; readonly domain: string; readonly password: string },
    Uint8Array
  >;
  /** Answers the seed. */
  readonly open: Call<
    { readonly backup: Uint8Array; readonly password: string; readonly domain: string },
    Uint8Array<ArrayBuffer>
  >;
};

/**
 * @param work - makes one call
 * @throws PoolError as `createBackupFile` and `openBackupFile` do
 */
export async function withBackupWorker<T>(
  work: (caller: Caller<BackupCalls>) => Promise<T>,
): Promise<T> {
  const caller = createCaller<BackupCalls>(
    () => new Worker(new URL('./backup-worker.ts', import.meta.url), { type: 'module' }),
  );
  try {
    return await work(caller);
  } finally {
    caller.end();
  }
}
