/**
 * A wallet's path in the eligibility tree (protocol §4), as the gate answers it and a fund proof takes it.
 *
 * @module
 */
import * as v from 'valibot';
import { described, hex32Schema } from './schema.ts';

/** Levels of the eligibility tree. Each node has four children. */
export const eligibilityDepth = 10;

/** w, as the leaf of the eligibility tree and as a field of every commitment (protocol §2). */
export const walletIdSchema = described(
  hex32Schema,
  'w, the wallet id: Poseidon hash of W, a field element as 32 bytes of lower-case 0x hex, big-endian. A leaf of the ' +
    'eligibility tree.',
);

export const eligibilityPathSchema = described(
  v.strictObject({
    walletId: walletIdSchema,
    index: described(
      v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4 ** eligibilityDepth - 1)),
      'Position of the leaf. Its base-4 digits, least significant first, are the positions among the children on the way up.',
    ),
    siblings: described(
      v.pipe(
        v.array(v.strictTuple([hex32Schema, hex32Schema, hex32Schema])),
        v.length(eligibilityDepth),
      ),
      'Three sibling nodes per level, from the leaf up, in child order without the node of the path itself. Field ' +
        'elements as 32 bytes of hex.',
    ),
  }),
  'Proof that a wallet is on the pool-gate’s list: the siblings from its leaf up to the root.',
);
export type EligibilityPathWire = v.InferOutput<typeof eligibilityPathSchema>;
