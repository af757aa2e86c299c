/**
 * The body and the answer of `POST /api/consolidate`, which merges notes of the holder.
 *
 * @module
 */
import * as v from 'valibot';
import { described, optional } from './schema.ts';
import { spendReceiptSchema } from './spend-request.ts';

/** Body of `POST /api/consolidate`. */
export const consolidateRequestSchema = described(
  v.strictObject({
    token: described(v.string(), 'Symbol of a pool token, for example `USDC`. Never an address.'),
    until: optional(
      v.string(),
      'Base units that one spend must cover afterwards, in decimal, 1 to 2^128-1. Absent: everything that is free to spend.',
    ),
    dryRun: optional(
      v.boolean(),
      'true: answers the steps, and neither proves nor sends. Default: false.',
    ),
  }),
  'A request to merge notes of the holder, by one step.',
);
export type ConsolidateRequest = v.InferOutput<typeof consolidateRequestSchema>;

export const consolidationSchema = described(
  v.strictObject({
    chain: described(v.string(), 'Key of the chain on which the notes are, for example `base`.'),
    steps: described(
      v.array(
        v.strictObject({
          notes: described(
            v.pipe(v.number(), v.integer(), v.minValue(1)),
            'Notes that the step merges into one.',
          ),
          amount: described(v.string(), 'Base units of the note that the step makes, in decimal.'),
        }),
      ),
      'Steps that were owed before this call, in their order. Empty: one spend covers the amount already.',
    ),
    seconds: described(
      v.pipe(v.number(), v.integer(), v.minValue(0)),
      'What these steps take together, an estimate in seconds.',
    ),
    receipt: optional(
      spendReceiptSchema,
      'Of the step that this call performed. Absent for a dry run, and if no step was owed. `changeAmount` is the new note.',
    ),
  }),
  'What a consolidation still takes, and the step that was performed.',
);
export type Consolidation = v.InferOutput<typeof consolidationSchema>;
