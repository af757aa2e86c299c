/**
 * A wallet's path in the eligibility tree (protocol §4), as the gate answers it and a fund proof takes it.
 *
 * @module
 */
import * as v from 'valibot';
import { hex32Schema } from './schema.ts';

/** Levels of the eligibility tree. Each node has four children. */
export const eligibilityDepth = 10;

export const eligibilityPathSchema = v.strictObject({
  walletId: hex32Schema,
  /** Leaf position; its base-4 digits, least significant first, are the child positions going up. */
  index: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4 ** eligibilityDepth - 1)),
  /** Three siblings per level, from the leaf up, in child order without the node of the path itself. */
  siblings: v.pipe(
    v.array(v.tuple([hex32Schema, hex32Schema, hex32Schema])),
    v.length(eligibilityDepth),
  ),
});
export type EligibilityPathWire = v.InferOutput<typeof eligibilityPathSchema>;
