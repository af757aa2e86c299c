/**
 * Wire schemas of spends at `/agent-edge`: a holder's transfer or withdrawal, and the platform's record of it (ARCHITECTURE.md).
 *
 * @module
 */

import { chainKeySchema, evmAddressSchema, hex32Schema, unixSecondsSchema } from '@pool/core';
import * as v from 'valibot';
import {
  describeOutcome,
  groth16ProofSchema,
  settlementStates,
  slotNoteSchema,
} from './settlements.ts';

const wordsSchema = v.array(hex32Schema);

/** The argument of the contract's `spend`. All of it becomes public on chain. */
export const spendCallSchema = v.strictObject({
  token: v.pipe(evmAddressSchema, v.description('EVM address of the token contract of all notes.')),
  withdrawAmount: v.pipe(
    v.string(),
    v.regex(/^(?:0|[1-9][0-9]{0,38})$/),
    v.description(
      'Base units that leave the pool: decimal, 0 to 2^128-1. 0 is a transfer between notes. Public on chain.',
    ),
  ),
  recipient: v.optional(
    v.pipe(
      evmAddressSchema,
      v.description('EVM address that receives `withdrawAmount`. Absent exactly when that is 0.'),
    ),
  ),
  deadline: v.pipe(
    unixSecondsSchema,
    v.description('Unix seconds after which the contract refuses the spend.'),
  ),
  nullifiers: v.pipe(
    wordsSchema,
    v.minLength(2),
    v.maxLength(16),
    v.description(
      'One nullifier per input, dummies included, the first of a real note: field elements as 32 bytes of 0x hex. 2 or 16.',
    ),
  ),
  commitments: v.pipe(
    wordsSchema,
    v.minLength(4),
    v.maxLength(8),
    v.description(
      'One note commitment per output, the change first, dummies included: field elements as 32 bytes of 0x hex. 4 or 8.',
    ),
  ),
  outRoot: v.pipe(
    hex32Schema,
    v.description(
      'Root of the Poseidon tree over the commitments: a field element as 32 bytes of 0x hex.',
    ),
  ),
  noteRoot: v.pipe(
    hex32Schema,
    v.description(
      'Root of the note tree that the inputs were proved under: a field element as 32 bytes of 0x hex. A fresh proof may name ' +
        'another one.',
    ),
  ),
  eligibilityRoot: v.pipe(
    hex32Schema,
    v.description(
      'Root of the eligibility tree that the payees were proved under: a field element as 32 bytes of 0x hex. 0 when every ' +
        'output but the change is worth nothing.',
    ),
  ),
  digest: v.pipe(
    hex32Schema,
    v.description(
      'D of the proof (protocol §5): Poseidon digest of the public inputs, a field element as 32 bytes of 0x hex.',
    ),
  ),
  maskedX: v.pipe(
    hex32Schema,
    v.description(
      'x of W’ = W + b̂·G, the holder’s key behind a mask (protocol §7): 32 bytes of 0x hex, below secp256k1’s p.',
    ),
  ),
  maskedY: v.pipe(
    hex32Schema,
    v.description('y of W’, the masked key of the holder: 32 bytes of 0x hex, below p.'),
  ),
  slope: v.pipe(
    hex32Schema,
    v.description(
      'Slope of the line through W’ and G modulo p: 32 bytes of 0x hex. The contract computes W’ + G with it.',
    ),
  ),
  maskedDigest: v.pipe(
    hex32Schema,
    v.description(
      'm’ = m - rSig·b̂ modulo n, the digest that the signature signs under W’: 32 bytes of 0x hex, below n.',
    ),
  ),
  rSig: v.pipe(
    hex32Schema,
    v.description(
      'r of the holder’s ECDSA signature over the operation: 32 bytes of 0x hex, 1 to n-1. One per operation: two of them ' +
        'would reveal W.',
    ),
  ),
  s: v.pipe(
    hex32Schema,
    v.description('s of the holder’s ECDSA signature: 32 bytes of 0x hex, 1 to n-1.'),
  ),
  parity: v.pipe(
    v.picklist([0, 1]),
    v.description('Recovery bit of the holder’s ECDSA signature: 0 or 1.'),
  ),
});
export type SpendCallWire = v.InferOutput<typeof spendCallSchema>;

/** `POST /agent-edge/spends`, header Idempotency-Key = the key of the transfer or withdrawal. */
export const spendRequestSchema = v.pipe(
  v.strictObject({
    chain: v.pipe(
      chainKeySchema,
      v.description('Key of the chain that the notes are on, for example `base`.'),
    ),
    spend: v.pipe(
      spendCallSchema,
      v.description(
        'The spend as the contract takes it. Proof and signature bind every value, so the relayer can change none.',
      ),
    ),
    proof: v.pipe(
      groth16ProofSchema,
      v.description(
        'Groth16 proof of the spend in the verifier contract’s order. The platform verifies it before it stores the spend.',
      ),
    ),
    sealedNotes: v.pipe(
      v.array(slotNoteSchema),
      v.minLength(4),
      v.maxLength(8),
      v.description(
        'One sealed note per output, in slot order. They go into the transaction, and the proof binds their hash. The platform ' +
          'serves each to the holder of its P.',
      ),
    ),
  }),
  v.description('A proved and signed spend for the relayer to put on chain.'),
);
export type SpendRequest = v.InferOutput<typeof spendRequestSchema>;

export const spendRecordSchema = v.pipe(
  v.strictObject({
    key: v.pipe(v.string(), v.description('Idempotency-Key of the transfer or withdrawal.')),
    state: v.pipe(
      v.picklist(settlementStates),
      v.description(
        '`accepted`: stored, nothing sent. `submitted`: a transaction is out. `settled`: a final block holds the spend. ' +
          '`reverted`: refused by simulation (no `txHash`) or on chain; until its deadline the same signature may be posted ' +
          'again with a fresh proof.',
      ),
    ),
    chain: v.pipe(
      chainKeySchema,
      v.description('Key of the chain that the notes are on, for example `base`.'),
    ),
    outRoot: v.pipe(
      hex32Schema,
      v.description(
        'Root of the outputs, which identifies the spend on chain: a field element as 32 bytes of 0x hex.',
      ),
    ),
    deadline: v.pipe(
      unixSecondsSchema,
      v.description('Unix seconds after which the contract refuses the spend.'),
    ),
    ...describeOutcome('spend'),
  }),
  v.description('The platform’s record of putting one spend on chain.'),
);
export type SpendRecord = v.InferOutput<typeof spendRecordSchema>;
