/**
 * The cheap checks of a settlement or a spend (protocol §8): addresses, sizes, suites. They run before the long ones, which are in
 * check-inputs.ts.
 *
 * @module
 */
import type { Delivery, SpendRequest } from '@pool/api';
import {
  type EvmChainSettings,
  maxAmount,
  parseEvmAddress,
  spendCircuits,
  spendShapes,
} from '@pool/core';
import { computeSealedNotesHash } from '@pool/notes';
import type { SpendJob } from './check-inputs.ts';
import { settlementRefusals, spendRefusals } from './refuse-settlement.ts';

/** @throws PoolError `invalid_settlement` (400) naming the first field that does not fit */
export function assertDelivery(
  { batch, sealedNotes }: Delivery,
  settings: Pick<EvmChainSettings, 'tokens'>,
): void {
  const { attempt, assertNotes, parseToken } = settlementRefusals;
  parseToken(batch.token, settings);
  attempt('batch.funder', () => parseEvmAddress(batch.funder));
  assertNotes(sealedNotes, batch.commitments);
}

/** What the cheap checks of a spend find. */
export type SpendForm = Pick<SpendJob, 'circuit' | 'sealedNotesHash'>;

/** @throws PoolError `invalid_spend` (400) naming the first field that does not fit */
export function assertSpendForm(
  { spend, sealedNotes }: SpendRequest,
  settings: Pick<EvmChainSettings, 'tokens' | 'pool'>,
): SpendForm {
  const { refuse, attempt, assertThat, assertNotes, parseToken } = spendRefusals;
  const token = parseToken(spend.token, settings);
  assertThat(BigInt(spend.withdrawAmount) <= maxAmount, 'spend.withdrawAmount is 2^128 or more');
  assertThat(
    (spend.withdrawAmount === '0') === (spend.recipient === undefined),
    'spend.recipient is required for a withdrawal, and absent from a transfer',
  );
  if (spend.recipient !== undefined) {
    const recipient = attempt('spend.recipient', () => parseEvmAddress(spend.recipient));
    const isRefused = [settings.pool, token].some(
      (address) => address.toLowerCase() === recipient.toLowerCase(),
    );
    assertThat(!isRefused, 'spend.recipient is the pool or the token');
  }
  const circuit = spendCircuits.find(
    (name) =>
      spendShapes[name].inputs === spend.nullifiers.length &&
      spendShapes[name].outputs === spend.commitments.length,
  );
  if (circuit === undefined) {
    throw refuse('spend.nullifiers and spend.commitments fit no circuit: 2 and 4, or 16 and 8');
  }
  assertThat(
    new Set(spend.nullifiers).size === spend.nullifiers.length,
    'spend.nullifiers lists one twice',
  );
  assertNotes(sealedNotes, spend.commitments);
  return {
    circuit,
    sealedNotesHash: computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed)),
  };
}
