/**
 * Wire schema of a holder's balance.
 *
 * @module
 */
import { described, optional, tokenSymbolSchema } from '@pool/core';
import * as v from 'valibot';
import { chainKey, count } from '../openapi/shared-schemas.ts';

/** What spends that are underway hold. Both absent: nothing. */
export const lockedFields = {
  locked: optional(
    v.pipe(v.string(), v.regex(/^[1-9][0-9]*$/)),
    'Base units of unspent notes that spends of this agent hold while they are underway. They count in the balance and cannot be spent now. Absent: none.',
  ),
  lockedUntil: optional(
    v.pipe(v.string(), v.isoTimestamp()),
    'The last of those notes is free, or spent, once a block after this time is final. Present with `locked`.',
  ),
} as const;

export const balanceSchema = described(
  v.strictObject({
    total: described(
      v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]*)$/)),
      'What the holder can spend, in base units: the sum of its notes that are final and unspent.',
    ),
    symbol: described(tokenSymbolSchema, 'Symbol of the token, as asked for.'),
    notes: count(
      'How many notes the total is spread across: the inputs of a spend of the whole balance.',
    ),
    largestNote: described(
      v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]*)$/)),
      'Base units of the largest note: the largest spend that needs no consolidation of notes. `0`: there is no note.',
    ),
    chain: chainKey('of holder operations'),
    ...lockedFields,
  }),
  'What the holder of this agent can spend of one token.',
);
export type Balance = v.InferOutput<typeof balanceSchema>;
