/**
 * From a stored transaction of the relayer to the intent that it belongs to, and to the rows of intents of that kind.
 *
 * @module
 */
import type { Intent, IntentRows, RelayerTransaction } from './intent-rows.ts';
import { settlementIntents } from './settlement-intents.ts';
import { spendIntents } from './spend-intents.ts';

const rowsByKind: Readonly<Record<Intent['kind'], IntentRows>> = {
  settlement: settlementIntents,
  spend: spendIntents,
};

export function rowsOf({ kind }: Pick<Intent, 'kind'>): IntentRows {
  return rowsByKind[kind];
}

/** What a stored transaction is for. */
export function intentOf({ settlement_id, spend_id }: RelayerTransaction): Intent {
  // The table requires one of the two.
  return settlement_id === null
    ? { kind: 'spend', id: spend_id ?? 0 }
    : { kind: 'settlement', id: settlement_id };
}

/** True for the transaction that carries the intent out; false for a withdrawal or a freed nonce. */
export function isCall({ purpose }: RelayerTransaction): boolean {
  return purpose === 'fund' || purpose === 'spend';
}
