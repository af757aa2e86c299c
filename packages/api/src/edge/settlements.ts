/**
 * Wire schemas of settlements at `/agent-edge`: batch, proof, permit, sealed notes, record, withdrawal (ARCHITECTURE.md).
 *
 * @module
 */

import {
  amountSchema,
  batchSizesText,
  described,
  encryptionPublicKeySchema,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  optional,
  unixSecondsSchema,
} from '@pool/core';
import * as v from 'valibot';
import { bytes32, chainKey, fieldElement, text } from '../openapi/shared-schemas.ts';

/** A field element or digest as 32 bytes of hex, big-endian. */
const wordSchema = hex32Schema;

export const groth16ProofSchema = v.strictObject({
  a: described(
    v.strictTuple([wordSchema, wordSchema]),
    'Point A of G1 on BN254: x and y, base-field elements as 32 bytes of 0x hex, big-endian.',
  ),
  b: described(
    v.strictTuple([
      v.strictTuple([wordSchema, wordSchema]),
      v.strictTuple([wordSchema, wordSchema]),
    ]),
    'Point B of G2 on BN254: x and y, each as two base-field elements of 32 bytes of 0x hex, the imaginary part first.',
  ),
  c: described(
    v.strictTuple([wordSchema, wordSchema]),
    'Point C of G1 on BN254: x and y, base-field elements as 32 bytes of 0x hex, big-endian.',
  ),
});
/** A Groth16 proof in the order the Solidity verifier takes it (G2 coordinates imaginary part first). */
export type SolidityProof = v.InferOutput<typeof groth16ProofSchema>;

export const fundBatchSchema = v.strictObject({
  funder: described(
    evmAddressSchema,
    'EVM address of the wallet whose tokens the pool takes. It signs the FundAuthorization.',
  ),
  token: described(evmAddressSchema, 'EVM address of the token contract.'),
  total: described(
    amountSchema,
    'Sum of all amounts in the batch: base units in decimal, 1 to 2^128-1. Public on chain.',
  ),
  batchNonce: fieldElement(
    'Nonce of the batch, derived by the agent from employer, chain, pool, funder, job key and attempt',
    'The contract accepts it once per funder.',
  ),
  eligibilityRoot: fieldElement(
    'Root of the eligibility tree that the proof refers to',
    'The one field that the funder does not sign.',
  ),
  batchRoot: fieldElement('Root of the Poseidon tree over the commitments'),
  commitments: described(
    v.pipe(v.array(wordSchema), v.minLength(1), v.maxLength(256)),
    `One note commitment per slot, in slot order, dummies included: field elements as 32 bytes of 0x hex. ${batchSizesText}.`,
  ),
  sealedNotesHash: bytes32('keccak256 of all sealed notes, concatenated in slot order'),
  digest: described(
    wordSchema,
    'D of the proof (protocol §5): Poseidon digest of the public inputs, a field element as 32 bytes of 0x hex. The ' +
      'verifier needs it; no signature covers it.',
  ),
  deadline: described(
    unixSecondsSchema,
    'Unix seconds after which the contract refuses the batch.',
  ),
});
export type FundBatchWire = v.InferOutput<typeof fundBatchSchema>;

export const permitSchema = v.strictObject({
  value: described(
    amountSchema,
    'Allowance that the permit grants the pool: base units in decimal, exactly the batch’s total.',
  ),
  deadline: described(unixSecondsSchema, 'Unix seconds after which the token refuses the permit.'),
  v: described(
    v.picklist([27, 28]),
    'Recovery value of the funder’s ECDSA signature over the EIP-2612 permit: 27 or 28.',
  ),
  r: bytes32('First half of the funder’s ECDSA signature over the permit'),
  s: bytes32('Second half of the funder’s ECDSA signature over the permit'),
});
export type PermitWire = v.InferOutput<typeof permitSchema>;

export const slotNoteSchema = v.strictObject({
  encryptionPublicKey: described(
    encryptionPublicKeySchema,
    'P that the note is sealed to: 32 bytes of lower-case 0x hex. In an unused slot the P of a dummy note.',
  ),
  sealed: described(
    hexSchema(209),
    'The encrypted note, made by the agent: suite, ephemeral key, ciphertext and tag (protocol §3), 209 bytes of 0x hex. ' +
      'Only the private half of P opens it.',
  ),
});

/** One per slot, in slot order: the sealed note and the key it is sealed to. */
const sealedNotesSchema = described(
  v.pipe(v.array(slotNoteSchema), v.minLength(1), v.maxLength(256)),
  'One sealed note per slot, in slot order. `sealedNotesHash` of the batch covers them.',
);

/**
 * Shows to the holder of the HMAC key whether two requests under one Idempotency-Key are the same. `keyId` names the HMAC key.
 */
const bodyFingerprintSchema = v.strictObject({
  keyId: described(
    hexSchema(8),
    'Id of the HMAC key that made `value`: 8 bytes of 0x hex. Not secret.',
  ),
  value: bytes32(
    'HMAC-SHA-256 over the Idempotency-Key and the digest of the request’s canonical JSON',
  ),
});
export type BodyFingerprint = v.InferOutput<typeof bodyFingerprintSchema>;

const bodyFingerprintMeaning =
  'HMAC of the request that the batch pays, under a key that only the employer’s agents have. A second agent compares it to ' +
  'learn whether this key was paid for the same request.';

const settlementBatchSchema = described(
  fundBatchSchema,
  'The batch as the contract takes it. The funder’s FundAuthorization covers funder, token, total, batchRoot, batchNonce, ' +
    'sealedNotesHash and deadline.',
);

/** `POST /agent-edge/settlements`, header Idempotency-Key = the job's key. */
export const settlementRequestSchema = described(
  v.strictObject({
    chain: chainKey('to settle on'),
    batch: settlementBatchSchema,
    proof: described(
      groth16ProofSchema,
      'Groth16 proof of the batch in the verifier contract’s order. The platform verifies it before it stores the settlement, ' +
        'and the contract verifies it again.',
    ),
    funderSignature: described(
      v.pipe(v.string(), v.regex(/^0x(?:[0-9a-f]{2}){65,1024}$/)),
      'The funder’s signature over the EIP-712 FundAuthorization of the batch (protocol §8), not over `digest`: lower-case 0x ' +
        'hex, 65 bytes r ‖ s ‖ v, or up to 1024 bytes of a contract wallet (ERC-1271).',
    ),
    permit: optional(
      permitSchema,
      'The funder’s EIP-2612 permit for exactly the total. Present where the allowance does not cover it and the token ' +
        'supports permits.',
    ),
    bodyFingerprint: optional(bodyFingerprintSchema, bodyFingerprintMeaning),
    sealedNotes: sealedNotesSchema,
  }),
  'A proved and signed batch for the relayer to put on chain.',
);
export type SettlementRequest = v.InferOutput<typeof settlementRequestSchema>;

/**
 * `POST /agent-edge/settlements/:key/notes`: the sealed notes of a settled batch once more, for a platform that lost them.
 * The same document is what a funder keeps and what a holder imports. It names P for each slot and no amount but the total.
 */
export const deliverySchema = described(
  v.strictObject({
    chain: chainKey('that the batch is on'),
    batch: described(fundBatchSchema, 'The batch as it settled. A final block must hold it.'),
    sealedNotes: sealedNotesSchema,
  }),
  'A settled batch with its sealed notes. It contains no amount but the total.',
);
export type Delivery = v.InferOutput<typeof deliverySchema>;

/**
 * `accepted`: notes and intent stored, nothing sent. `submitted`: a transaction is out. `settled`: final
 * and successful. `reverted`: the last transaction is final and reverted, or the relayer's simulation
 * refused it (then without txHash); the same authorisation may be sent again with a fresh proof.
 */
export const settlementStates = ['accepted', 'submitted', 'settled', 'reverted'] as const;

/** How a settlement or a spend ended: the same fields for both. */
export function describeOutcome(what: 'settlement' | 'spend') {
  const subject = what === 'settlement' ? 'batch' : what;
  return {
    txHash: optional(
      hex32Schema,
      `Hash of the transaction that settled the ${subject}, or of the one that reverted: 32 bytes of 0x hex. Absent while ` +
        'none is mined.',
    ),
    blockNumber: optional(
      v.number(),
      'Number of the block that holds the transaction of `txHash`.',
    ),
    gasUsed: optional(v.string(), 'Gas that the transaction of `txHash` used, in decimal.'),
    error: optional(
      v.strictObject({
        code: described(
          v.pipe(v.string(), v.maxLength(64), v.regex(/^[a-z0-9_-]+$/)),
          'Stable code for programs; a revert of the contract has the name of its error in kebab-case.',
        ),
        message: described(
          v.pipe(v.string(), v.maxLength(500)),
          'Explanation for people. Its wording may change.',
        ),
      }),
      `Why the ${what} is \`reverted\`. Absent in every other state.`,
    ),
  };
}

export const settlementRecordSchema = described(
  v.strictObject({
    key: text('Idempotency-Key of the job that the batch pays.'),
    state: described(
      v.picklist(settlementStates),
      '`accepted`: stored, nothing sent. `submitted`: a transaction is out. `settled`: a final block holds the batch. ' +
        '`reverted`: refused by simulation (no `txHash`) or on chain; the same authorisation may be posted again with a ' +
        'fresh proof.',
    ),
    chain: chainKey('that the batch settles on'),
    batch: described(
      fundBatchSchema,
      'The batch as it was posted, and with the eligibility root of the newest proof.',
    ),
    bodyFingerprint: optional(
      bodyFingerprintSchema,
      `${bodyFingerprintMeaning} As the first post of the batch sent it; absent when that had none.`,
    ),
    sealedNotes: described(
      v.array(slotNoteSchema),
      'One sealed note per slot, in slot order. Empty: the batch never landed and never can, and the platform has erased ' +
        'them.',
    ),
    ...describeOutcome('settlement'),
  }),
  'The platform’s record of putting one batch on chain.',
);
export type SettlementRecord = v.InferOutput<typeof settlementRecordSchema>;

/**
 * `POST /agent-edge/settlements/:key/void`: withdraw the batch of a settlement. `signature` is the funder's
 * EIP-712 `VoidBatch` (protocol §8). Answered with the settlement record; 404 `not_found` when the employer has no
 * settlement under that key and the request has no batch. The answer does not mean that the batch is void: only a final block says so.
 */
export const voidRequestSchema = described(
  v.strictObject({
    chain: chainKey('that the batch would settle on'),
    funder: described(
      evmAddressSchema,
      'EVM address of the batch’s funder, who signs the withdrawal.',
    ),
    batchNonce: fieldElement('Nonce of the batch to withdraw'),
    signature: described(
      settlementRequestSchema.entries.funderSignature,
      'The funder’s signature over the EIP-712 VoidBatch (protocol §8): lower-case 0x hex, 65 bytes r ‖ s ‖ v, or up to ' +
        '1024 bytes of a contract wallet (ERC-1271).',
    ),
    batch: optional(
      fundBatchSchema,
      'The batch, if its settlement was never posted: a custodian has signed it, and the agent gave it up. Without it, the ' +
        'settlement must be stored.',
    ),
  }),
  'The funder’s withdrawal of a batch. It takes effect when `voidBatch` is on chain.',
);
export type VoidRequest = v.InferOutput<typeof voidRequestSchema>;
