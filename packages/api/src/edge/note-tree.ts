/**
 * Wire schemas of the note tree at `/agent-edge`: what it contains, and the paths of notes (ARCHITECTURE.md).
 *
 * @module
 */

import { described, hex32Schema, optional } from '@pool/core';
import * as v from 'valibot';
import { bytes32, chainKey, count, fieldElement } from '../openapi/shared-schemas.ts';

const wordsSchema = v.array(hex32Schema);

/** `GET /agent-edge/batches?chain&from`, bearer = an edge token or a holder's key. */
export const batchesResponseSchema = v.strictObject({
  batches: described(
    v.array(
      v.strictObject({
        index: count('Position of the leaf in the pool, from 0, over all note trees.'),
        kind: described(
          v.picklist(['fund', 'spend']),
          '`fund`: a batch that a funder paid. `spend`: the outputs of a spend.',
        ),
        root: described(
          hex32Schema,
          'The leaf itself: root of the Poseidon tree over `commitments`, a field element as 32 bytes of 0x hex.',
        ),
        noteRoot: fieldElement(
          'Root of the note tree once it contains this leaf',
          'A reader computes it again and compares it with the chain.',
        ),
        commitments: described(
          v.pipe(wordsSchema, v.maxLength(256)),
          'One note commitment per slot, in slot order, dummies included: field elements as 32 bytes of 0x hex.',
        ),
        nullifiers: described(
          v.pipe(wordsSchema, v.maxLength(16)),
          'Nullifiers of the notes that the spend used up, dummies included: field elements as 32 bytes of 0x hex. Empty for a ' +
            'batch.',
        ),
        sealedNotesHash: bytes32('keccak256 of all sealed notes in slot order'),
        txHash: bytes32('Hash of the transaction that inserted the leaf'),
        blockNumber: count('Number of the block that holds the transaction. It is final.'),
      }),
    ),
    'Leaves of the note tree without a gap, oldest first. At most one page.',
  ),
  next: optional(
    v.pipe(v.number(), v.integer(), v.minValue(0)),
    'Pass it as `from` to read the next page. Absent: no further leaf is final now.',
  ),
});
export type BatchesResponse = v.InferOutput<typeof batchesResponseSchema>;

const batchIndexSchema = described(
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(999_999_999)),
  'Position of the note’s batch or spend in the pool, from 0.',
);
const slotSchema = described(
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)),
  'Position of the note in its batch or spend, from 0.',
);

/** `POST /agent-edge/note-paths`, bearer = a holder's key. Off unless the operator has switched it on. */
export const notePathsRequestSchema = v.strictObject({
  chain: chainKey('that the notes are on'),
  notes: described(
    v.pipe(
      v.array(v.strictObject({ batchIndex: batchIndexSchema, slot: slotSchema })),
      v.minLength(1),
      v.maxLength(16),
    ),
    'Places of the notes, 1 to 16, as the notes were served. The platform learns that the caller spends them.',
  ),
});
export type NotePathsRequest = v.InferOutput<typeof notePathsRequestSchema>;

export const notePathsResponseSchema = v.strictObject({
  noteRoot: fieldElement(
    'Newest final root of the note tree, to which all paths lead',
    'Compare it with the pool.',
  ),
  paths: described(
    v.array(
      v.strictObject({
        batchIndex: batchIndexSchema,
        slot: slotSchema,
        commitment: fieldElement('The note’s commitment'),
        index: described(
          v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 32 - 1)),
          'Bit i is set if the node is the right child at sibling i.',
        ),
        siblings: described(
          v.pipe(wordsSchema, v.minLength(1), v.maxLength(32)),
          'Sibling nodes from the commitment up to `noteRoot`: field elements as 32 bytes of 0x hex.',
        ),
      }),
    ),
    'One path per note of the request, in its order.',
  ),
});
export type NotePathsResponse = v.InferOutput<typeof notePathsResponseSchema>;
