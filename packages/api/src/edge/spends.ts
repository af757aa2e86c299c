/**
 * Wire schemas of spends at `/agent-edge`: a holder's transfer or withdrawal, and the platform's record of it (ARCHITECTURE.md).
 *
 * @module
 */

import { described, evmAddressSchema, hex32Schema, optional, unixSecondsSchema } from '@pool/core';
import * as v from 'valibot';
import { bytes32, chainKey, fieldElement, text } from '../openapi/shared-schemas.ts';
import {
  describeOutcome,
  groth16ProofSchema,
  settlementStates,
  slotNoteSchema,
} from './settlements.ts';

const wordsSchema = v.array(hex32Schema);

/** The argument of the contract's `spend`. All of it becomes public on chain. */
export const spendCallSchema = v.strictObject({
  token: described(evmAddressSchema, 'EVM address of the token contract of all notes.'),
  withdrawAmount: described(
    v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]{0,38})$/)),
    'Base units that leave the pool: decimal, 0 to 2^128-1. 0 is a transfer between notes. Public on chain.',
  ),
  recipient: optional(
    evmAddressSchema,
    'EVM address that receives `withdrawAmount`. Absent exactly when that is 0.',
  ),
  deadline: described(
    unixSecondsSchema,
    'Unix seconds after which the contract refuses the spend.',
  ),
  nullifiers: described(
    v.pipe(wordsSchema, v.minLength(2), v.maxLength(16)),
    'One nullifier per input, dummies included, the first of a real note: field elements as 32 bytes of 0x hex. 2 or 16.',
  ),
  commitments: described(
    v.pipe(wordsSchema, v.minLength(4), v.maxLength(8)),
    'One note commitment per output, the change first, dummies included: field elements as 32 bytes of 0x hex. 4 or 8.',
  ),
  outRoot: fieldElement('Root of the Poseidon tree over the commitments'),
  noteRoot: fieldElement(
    'Root of the note tree that the inputs were proved under',
    'A fresh proof may name another one.',
  ),
  eligibilityRoot: fieldElement(
    'Root of the eligibility tree that the payees were proved under',
    '0 when every output but the change is worth nothing.',
  ),
  digest: described(
    hex32Schema,
    'D of the proof (protocol §5): Poseidon digest of the public inputs, a field element as 32 bytes of 0x hex.',
  ),
  maskedX: described(
    hex32Schema,
    'x of W’ = W + b̂·G, the holder’s key behind a mask (protocol §7): 32 bytes of 0x hex, below secp256k1’s p.',
  ),
  maskedY: described(
    hex32Schema,
    'y of W’, the masked key of the holder: 32 bytes of 0x hex, below p.',
  ),
  slope: bytes32(
    'Slope of the line through W’ and G modulo p',
    'The contract computes W’ + G with it.',
  ),
  maskedDigest: described(
    hex32Schema,
    'm’ = m - rSig·b̂ modulo n, the digest that the signature signs under W’: 32 bytes of 0x hex, below n.',
  ),
  rSig: described(
    hex32Schema,
    'r of the holder’s ECDSA signature over the operation: 32 bytes of 0x hex, 1 to n-1. One per operation: two of them ' +
      'would reveal W.',
  ),
  s: described(hex32Schema, 's of the holder’s ECDSA signature: 32 bytes of 0x hex, 1 to n-1.'),
  parity: described(v.picklist([0, 1]), 'Recovery bit of the holder’s ECDSA signature: 0 or 1.'),
});
export type SpendCallWire = v.InferOutput<typeof spendCallSchema>;

/** `POST /agent-edge/spends`, header Idempotency-Key = the key of the transfer or withdrawal. */
export const spendRequestSchema = described(
  v.strictObject({
    chain: chainKey('that the notes are on'),
    spend: described(
      spendCallSchema,
      'The spend as the contract takes it. Proof and signature bind every value, so the relayer can change none.',
    ),
    proof: described(
      groth16ProofSchema,
      'Groth16 proof of the spend in the verifier contract’s order. The platform verifies it before it stores the spend.',
    ),
    sealedNotes: described(
      v.pipe(v.array(slotNoteSchema), v.minLength(4), v.maxLength(8)),
      'One sealed note per output, in slot order. They go into the transaction, and the proof binds their hash. The platform ' +
        'serves each to the holder of its P.',
    ),
  }),
  'A proved and signed spend for the relayer to put on chain.',
);
export type SpendRequest = v.InferOutput<typeof spendRequestSchema>;

export const spendRecordSchema = described(
  v.strictObject({
    key: text('Idempotency-Key of the transfer or withdrawal.'),
    state: described(
      v.picklist(settlementStates),
      '`accepted`: stored, nothing sent. `submitted`: a transaction is out. `settled`: a final block holds the spend. ' +
        '`reverted`: refused by simulation (no `txHash`) or on chain; until its deadline the same signature may be posted ' +
        'again with a fresh proof.',
    ),
    chain: chainKey('that the notes are on'),
    outRoot: fieldElement('Root of the outputs, which identifies the spend on chain'),
    deadline: described(
      unixSecondsSchema,
      'Unix seconds after which the contract refuses the spend.',
    ),
    ...describeOutcome('spend'),
  }),
  'The platform’s record of putting one spend on chain.',
);
export type SpendRecord = v.InferOutput<typeof spendRecordSchema>;
