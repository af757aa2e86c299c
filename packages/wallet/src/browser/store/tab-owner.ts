/**
 * Which tab performs a spend, and whether it still runs. Each tab holds a Web Lock under a random name, which the browser releases when the
 * tab ends, however it ends.
 *
 * @module
 */
import { bytesToHex } from '@pool/core';
import type { ArchivedSpend, SpendOwner } from '../../archive/spend-archive.ts';

/** `navigator.locks`, as far as it is used here. */
export type TabLocks = {
  request<T>(name: string, hold: () => Promise<T>): Promise<T>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
};

const prefix = 'pool-wallet-tab-';

/**
 * Resolves once the lock is held.
 * @param locks - undefined: this browser has none. Then a spend of a closed tab keeps its notes until its deadline
 */
export async function openTabOwner(locks: TabLocks | undefined) {
  const own: SpendOwner = bytesToHex(crypto.getRandomValues(new Uint8Array(16))).slice(2);
  const held = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  if (locks === undefined) {
    held.resolve();
  } else {
    locks
      .request(`${prefix}${own}`, () => {
        held.resolve();
        return closed.promise;
      })
      .catch(held.reject);
  }
  await held.promise;
  return {
    /** This tab. */
    own,
    /** Of the tabs that began these spends, those that have ended. A tab that begins one later is not among them. */
    async findEnded(spends: readonly ArchivedSpend[]): Promise<ReadonlySet<SpendOwner>> {
      const owners = spends.flatMap(({ owner }) => owner ?? []);
      const { held: running = [] } = (await locks?.query()) ?? {};
      const names = new Set(running.map(({ name }) => name));
      return new Set(
        locks === undefined ? [] : owners.filter((owner) => !names.has(`${prefix}${owner}`)),
      );
    },
    close: () => closed.resolve(),
  };
}
