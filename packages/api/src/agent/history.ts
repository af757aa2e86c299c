/**
 * Wire schemas of a holder's history.
 *
 * @module
 */
import {
  chainKeySchema,
  evmAddressSchema,
  hex32Schema,
  tokenSymbolSchema,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { lockedFields } from './balance.ts';

const baseUnitsSchema = v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]*)$/));

const instantSchema = v.pipe(
  v.string(),
  v.regex(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/),
);

const placeEntries = {
  id: v.pipe(
    v.string(),
    v.regex(/^\d{1,15}(?:\.\d{1,5})?$/),
    v.description('Names the entry for good. Send the last one as `after` to read the next page.'),
  ),
  time: v.pipe(instantSchema, v.description('Time of the block, ISO 8601 in UTC with seconds.')),
  index: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.description('Index of the transaction’s batch or spend in the note tree.'),
  ),
  txHash: v.pipe(hex32Schema, v.description('Hash of the transaction: 32 bytes of 0x hex.')),
  balance: v.pipe(baseUnitsSchema, v.description('Base units of the holder after the entry.')),
};

const receivedSchema = v.strictObject({
  kind: v.pipe(v.literal('received'), v.description('The holder received a note.')),
  ...placeEntries,
  amount: v.pipe(baseUnitsSchema, v.description('Base units that the holder received.')),
  memo: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'The payer’s text. It can contain any character: escape it before it is shown.',
      ),
    ),
  ),
  slot: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.description('Position of the note among the commitments of the batch or spend.'),
  ),
  commitment: v.pipe(hex32Schema, v.description('Hash of the note, as the chain has it.')),
  isChange: v.pipe(
    v.boolean(),
    v.description(
      'True: change of a spend whose notes this agent does not have, for example of an earlier viewing key.',
    ),
  ),
});

const spentEntries = {
  ...placeEntries,
  spent: v.pipe(
    baseUnitsSchema,
    v.description('Base units of the notes that were used up, of those that this agent has.'),
  ),
  change: v.pipe(baseUnitsSchema, v.description('Base units that returned as change.')),
  fee: v.pipe(
    v.literal('0'),
    v.description('Base units of the token that the holder paid as a fee: none.'),
  ),
  gasWei: v.optional(
    v.pipe(
      baseUnitsSchema,
      v.description(
        'Wei of the chain’s own coin that a gas key of this agent directory paid for the transaction (`send --self-submit`). Absent: somebody else paid the gas, normally the relayer.',
      ),
    ),
  ),
};

const payeeSchema = v.strictObject({
  walletPub: v.pipe(walletPubSchema, v.description('W of the payee, its wallet public key.')),
  amount: v.pipe(baseUnitsSchema, v.description('Base units that the payee received.')),
  memo: v.optional(v.pipe(v.string(), v.description('The text that was sealed for the payee.'))),
});

const transferSchema = v.strictObject({
  kind: v.pipe(v.literal('transfer'), v.description('The holder paid other holders.')),
  ...spentEntries,
  amount: v.optional(
    v.pipe(
      baseUnitsSchema,
      v.description(
        'Base units that were paid. Absent: unknown, because a note that was used up is missing here; `disburse-agent notes import` takes it.',
      ),
    ),
  ),
  payees: v.optional(
    v.pipe(
      v.array(payeeSchema),
      v.description(
        'From the agent’s own archive. Absent: it does not have the spend, or has erased its payees.',
      ),
    ),
  ),
});

const sendSchema = v.strictObject({
  kind: v.pipe(v.literal('send'), v.description('The holder withdrew from the pool.')),
  ...spentEntries,
  amount: v.pipe(baseUnitsSchema, v.description('Base units that left the pool.')),
  address: v.pipe(evmAddressSchema, v.description('EVM address that received them.')),
});

const mergeSchema = v.strictObject({
  kind: v.pipe(
    v.literal('merge'),
    v.description('The holder merged notes: everything returned as change.'),
  ),
  ...spentEntries,
});

export const historyEntrySchema = v.variant('kind', [
  receivedSchema,
  transferSchema,
  sendSchema,
  mergeSchema,
]);
export type HistoryEntry = v.InferOutput<typeof historyEntrySchema>;

export const historySchema = v.pipe(
  v.strictObject({
    chain: v.pipe(chainKeySchema, v.description('Key of the chain of holder operations.')),
    symbol: v.pipe(tokenSymbolSchema, v.description('Symbol of the token, as asked for.')),
    decimals: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(255),
      v.description('Decimals of the token: 10 to their power base units are one token.'),
    ),
    walletPub: v.pipe(walletPubSchema, v.description('W of the holder, its wallet public key.')),
    entries: v.pipe(
      v.array(historyEntrySchema),
      v.description('Received notes and spends, in the order of the chain.'),
    ),
    more: v.pipe(v.boolean(), v.description('True: there are later entries; ask again.')),
    ...lockedFields,
  }),
  v.description('What happened to the notes of this agent’s holder in one token.'),
);
export type History = v.InferOutput<typeof historySchema>;

/** The most entries of one answer. */
export const historyPageSize = 500;

export const historyQuery = {
  token: v.pipe(
    v.string(),
    v.minLength(1),
    v.description(
      'Symbol of a token configured for the chain, for example `USDC`. Never an address.',
    ),
  ),
  from: v.optional(
    v.pipe(instantSchema, v.description('The earliest time, for example `2026-01-01T00:00:00Z`.')),
  ),
  to: v.optional(
    v.pipe(
      instantSchema,
      v.description('Entries before this time, for example `2027-01-01T00:00:00Z`.'),
    ),
  ),
  after: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,15}(?:\.\d{1,5})?$/),
      v.description('Entries after the one with this id.'),
    ),
  ),
};
