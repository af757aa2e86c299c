/**
 * The body and the answer of `POST /api/consolidate`, which merges notes of the holder.
 *
 * @module
 */
import * as v from 'valibot';
import { spendReceiptSchema } from './spend-request.ts';

/** Body of `POST /api/consolidate`. */
export const consolidateRequestSchema = v.pipe(
  v.strictObject({
    token: v.pipe(
      v.string(),
      v.description('Symbol of a pool token, for example `USDC`. Never an address.'),
    ),
    until: v.optional(
      v.pipe(
        v.string(),
        v.description(
          'Base units that one spend must cover afterwards, in decimal, 1 to 2^128-1. Absent: everything that is free to spend.',
        ),
      ),
    ),
    dryRun: v.optional(
      v.pipe(
        v.boolean(),
        v.description('true: answers the steps, and neither proves nor sends. Default: false.'),
      ),
    ),
  }),
  v.description('A request to merge notes of the holder, by one step.'),
);
export type ConsolidateRequest = v.InferOutput<typeof consolidateRequestSchema>;

export const consolidationSchema = v.pipe(
  v.strictObject({
    chain: v.pipe(
      v.string(),
      v.description('Key of the chain on which the notes are, for example `base`.'),
    ),
    steps: v.pipe(
      v.array(
        v.strictObject({
          notes: v.pipe(
            v.number(),
            v.integer(),
            v.minValue(1),
            v.description('Notes that the step merges into one.'),
          ),
          amount: v.pipe(
            v.string(),
            v.description('Base units of the note that the step makes, in decimal.'),
          ),
        }),
      ),
      v.description(
        'Steps that were owed before this call, in their order. Empty: one spend covers the amount already.',
      ),
    ),
    seconds: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.description('What these steps take together, an estimate in seconds.'),
    ),
    receipt: v.optional(
      v.pipe(
        spendReceiptSchema,
        v.description(
          'Of the step that this call performed. Absent for a dry run, and if no step was owed. `changeAmount` is the new note.',
        ),
      ),
    ),
  }),
  v.description('What a consolidation still takes, and the step that was performed.'),
);
export type Consolidation = v.InferOutput<typeof consolidationSchema>;
