/**
 * The cheap checks of a settlement request (protocol §8): addresses, sizes and suites. They run before the long ones, which are in check-batch.ts.
 *
 * @module
 */
import type { Delivery } from '@pool/api';
import { type EvmChainSettings, parseEvmAddress } from '@pool/core';
import { assertNotes, assertToken, attempt } from './refuse-settlement.ts';

/** @throws PoolError `invalid_settlement` naming the first field that does not fit */
export function assertDelivery(
  { batch, sealedNotes }: Delivery,
  settings: Pick<EvmChainSettings, 'tokens'>,
): void {
  const token = attempt('batch.token', () => parseEvmAddress(batch.token));
  attempt('batch.funder', () => parseEvmAddress(batch.funder));
  assertToken(token, settings, 'batch.token');
  assertNotes(sealedNotes, batch.commitments.length, 'batch.commitments');
}
