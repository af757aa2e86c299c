/**
 * Wire schemas of a holder's history.
 *
 * @module
 */
import {
  chainKeySchema,
  described,
  evmAddressSchema,
  hex32Schema,
  optional,
  tokenSymbolSchema,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { bytes32, count, flag } from '../openapi/shared-schemas.ts';
import { lockedFields } from './balance.ts';

const baseUnitsSchema = v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]*)$/));

const instantSchema = v.pipe(
  v.string(),
  v.regex(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/),
);

const placeEntries = {
  id: described(
    v.pipe(v.string(), v.regex(/^\d{1,15}(?:\.\d{1,5})?$/)),
    'Names the entry for good. Send the last one as `after` to read the next page.',
  ),
  time: described(instantSchema, 'Time of the block, ISO 8601 in UTC with seconds.'),
  index: count('Index of the transaction’s batch or spend in the note tree.'),
  txHash: bytes32('Hash of the transaction'),
  balance: described(baseUnitsSchema, 'Base units of the holder after the entry.'),
};

const receivedSchema = v.strictObject({
  kind: described(v.literal('received'), 'The holder received a note.'),
  ...placeEntries,
  amount: described(baseUnitsSchema, 'Base units that the holder received.'),
  memo: optional(
    v.string(),
    'The payer’s text. It can contain any character: escape it before it is shown.',
  ),
  slot: count('Position of the note among the commitments of the batch or spend.'),
  commitment: described(hex32Schema, 'Hash of the note, as the chain has it.'),
  isChange: flag(
    'True: change of a spend whose notes this agent does not have, for example of an earlier viewing key.',
  ),
});

const spentEntries = {
  ...placeEntries,
  spent: described(
    baseUnitsSchema,
    'Base units of the notes that were used up, of those that this agent has.',
  ),
  change: described(baseUnitsSchema, 'Base units that returned as change.'),
  fee: described(v.literal('0'), 'Base units of the token that the holder paid as a fee: none.'),
  gasWei: optional(
    baseUnitsSchema,
    'Wei of the chain’s own coin that a gas key of this agent directory paid for the transaction (`send --self-submit`). Absent: somebody else paid the gas, normally the relayer.',
  ),
};

const payeeSchema = v.strictObject({
  walletPub: described(walletPubSchema, 'W of the payee, its wallet public key.'),
  amount: described(baseUnitsSchema, 'Base units that the payee received.'),
  memo: optional(v.string(), 'The text that was sealed for the payee.'),
});

const transferSchema = v.strictObject({
  kind: described(v.literal('transfer'), 'The holder paid other holders.'),
  ...spentEntries,
  amount: optional(
    baseUnitsSchema,
    'Base units that were paid. Absent: unknown, because a note that was used up is missing here; `disburse-agent notes import` takes it.',
  ),
  payees: optional(
    v.array(payeeSchema),
    'From the agent’s own archive. Absent: it does not have the spend, or has erased its payees.',
  ),
});

const sendSchema = v.strictObject({
  kind: described(v.literal('send'), 'The holder withdrew from the pool.'),
  ...spentEntries,
  amount: described(baseUnitsSchema, 'Base units that left the pool.'),
  address: described(evmAddressSchema, 'EVM address that received them.'),
});

const mergeSchema = v.strictObject({
  kind: described(v.literal('merge'), 'The holder merged notes: everything returned as change.'),
  ...spentEntries,
});

export const historyEntrySchema = v.variant('kind', [
  receivedSchema,
  transferSchema,
  sendSchema,
  mergeSchema,
]);
export type HistoryEntry = v.InferOutput<typeof historyEntrySchema>;

export const historySchema = described(
  v.strictObject({
    chain: described(chainKeySchema, 'Key of the chain of holder operations.'),
    symbol: described(tokenSymbolSchema, 'Symbol of the token, as asked for.'),
    decimals: described(
      v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)),
      'Decimals of the token: 10 to their power base units are one token.',
    ),
    walletPub: described(walletPubSchema, 'W of the holder, its wallet public key.'),
    entries: described(
      v.array(historyEntrySchema),
      'Received notes and spends, in the order of the chain.',
    ),
    more: flag('True: there are later entries; ask again.'),
    ...lockedFields,
  }),
  'What happened to the notes of this agent’s holder in one token.',
);
export type History = v.InferOutput<typeof historySchema>;

/** The most entries of one answer. */
export const historyPageSize = 500;

export const historyQuery = {
  token: described(
    v.pipe(v.string(), v.minLength(1)),
    'Symbol of a token configured for the chain, for example `USDC`. Never an address.',
  ),
  from: optional(instantSchema, 'The earliest time, for example `2026-01-01T00:00:00Z`.'),
  to: optional(instantSchema, 'Entries before this time, for example `2027-01-01T00:00:00Z`.'),
  after: optional(
    v.pipe(v.string(), v.regex(/^\d{1,15}(?:\.\d{1,5})?$/)),
    'Entries after the one with this id.',
  ),
};
