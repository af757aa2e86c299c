/**
 * The pool that the account was first read from in this browser. Settings with another one would show an empty account.
 *
 * @module
 */
import { type EvmAddress, PoolError } from '@pool/core';
import type { SealedRecords } from '@pool/wallet/browser';

const name = 'pool';

type Records = Pick<SealedRecords<string>, 'find' | 'change'>;

/** @throws PoolError `invalid-chain` with `configured` and `own`, addresses of pools */
export async function assertOwnPool(records: Records, configured: EvmAddress): Promise<void> {
  const own = await records.find(name);
  if (own !== undefined && own !== configured) {
    throw new PoolError(
      'invalid-chain',
      `chains.json names the pool ${configured}, and the account is of ${own}`,
      { details: { configured, own } },
    );
  }
}

/** Once the pool was read. The first one stays. */
export async function keepOwnPool(records: Records, pool: EvmAddress): Promise<void> {
  await records.change([name], ([own = pool]) => [own]);
}
