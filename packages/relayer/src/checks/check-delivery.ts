/**
 * The cheap checks of a settlement request (protocol §8): addresses, sizes and suites. They run before the long ones, which are in check-batch.ts.
 *
 * @module
 */
import type { Delivery } from '@pool/api';
import { type EvmChainSettings, parseEvmAddress } from '@pool/core';
import { attempt, refuse } from './refuse-settlement.ts';

/** Suite byte of a note sealed to a Baby Jubjub key, the only suite of an EVM pool. */
const evmSuite = '0x01';

/** @throws PoolError `invalid_settlement` naming the first field that does not fit */
export function assertDelivery(
  { batch, sealedNotes }: Delivery,
  settings: Pick<EvmChainSettings, 'tokens'>,
): void {
  const token = attempt('batch.token', () => parseEvmAddress(batch.token));
  attempt('batch.funder', () => parseEvmAddress(batch.funder));
  const tokens = Object.values(settings.tokens).map(({ address }) => address.toLowerCase());
  assertThat(tokens.includes(token.toLowerCase()), 'batch.token is not a token of this chain');
  assertThat(
    sealedNotes.length === batch.commitments.length,
    'sealedNotes and batch.commitments differ in number',
  );
  for (const [slot, { sealed }] of sealedNotes.entries()) {
    assertThat(sealed.startsWith(evmSuite), `sealedNotes.${slot}.sealed is of another suite`);
  }
}

function assertThat(holds: boolean, message: string): void {
  if (!holds) {
    throw refuse(message);
  }
}
