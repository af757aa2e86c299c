/**
 * Wire schemas of settlements at `/agent-edge`: batch, proof, permit, sealed notes, record, withdrawal (ARCHITECTURE.md).
 *
 * @module
 */

import {
  amountSchema,
  batchSizesText,
  chainKeySchema,
  encryptionPublicKeySchema,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  unixSecondsSchema,
} from '@pool/core';
import * as v from 'valibot';

/** A field element or digest as 32 bytes of hex, big-endian. */
const wordSchema = hex32Schema;

export const groth16ProofSchema = v.strictObject({
  a: v.pipe(
    v.strictTuple([wordSchema, wordSchema]),
    v.description(
      'Point A of G1 on BN254: x and y, base-field elements as 32 bytes of 0x hex, big-endian.',
    ),
  ),
  b: v.pipe(
    v.strictTuple([
      v.strictTuple([wordSchema, wordSchema]),
      v.strictTuple([wordSchema, wordSchema]),
    ]),
    v.description(
      'Point B of G2 on BN254: x and y, each as two base-field elements of 32 bytes of 0x hex, the imaginary part first.',
    ),
  ),
  c: v.pipe(
    v.strictTuple([wordSchema, wordSchema]),
    v.description(
      'Point C of G1 on BN254: x and y, base-field elements as 32 bytes of 0x hex, big-endian.',
    ),
  ),
});
/** A Groth16 proof in the order the Solidity verifier takes it (G2 coordinates imaginary part first). */
export type SolidityProof = v.InferOutput<typeof groth16ProofSchema>;

export const fundBatchSchema = v.strictObject({
  funder: v.pipe(
    evmAddressSchema,
    v.description(
      'EVM address of the wallet whose tokens the pool takes. It signs the FundAuthorization.',
    ),
  ),
  token: v.pipe(evmAddressSchema, v.description('EVM address of the token contract.')),
  total: v.pipe(
    amountSchema,
    v.description(
      'Sum of all amounts in the batch: base units in decimal, 1 to 2^128-1. Public on chain.',
    ),
  ),
  batchNonce: v.pipe(
    wordSchema,
    v.description(
      'Nonce of the batch, derived by the agent from employer, chain, pool, funder, job key and attempt: a field element as ' +
        '32 bytes of 0x hex. The contract accepts it once per funder.',
    ),
  ),
  eligibilityRoot: v.pipe(
    wordSchema,
    v.description(
      'Root of the eligibility tree that the proof refers to: a field element as 32 bytes of 0x hex. The one field that ' +
        'the funder does not sign.',
    ),
  ),
  batchRoot: v.pipe(
    wordSchema,
    v.description(
      'Root of the Poseidon tree over the commitments: a field element as 32 bytes of 0x hex.',
    ),
  ),
  commitments: v.pipe(
    v.array(wordSchema),
    v.minLength(1),
    v.maxLength(256),
    v.description(
      `One note commitment per slot, in slot order, dummies included: field elements as 32 bytes of 0x hex. ${batchSizesText}.`,
    ),
  ),
  sealedNotesHash: v.pipe(
    wordSchema,
    v.description('keccak256 of all sealed notes, concatenated in slot order: 32 bytes of 0x hex.'),
  ),
  digest: v.pipe(
    wordSchema,
    v.description(
      'D of the proof (protocol §5): Poseidon digest of the public inputs, a field element as 32 bytes of 0x hex. The ' +
        'verifier needs it; no signature covers it.',
    ),
  ),
  deadline: v.pipe(
    unixSecondsSchema,
    v.description('Unix seconds after which the contract refuses the batch.'),
  ),
});
export type FundBatchWire = v.InferOutput<typeof fundBatchSchema>;

export const permitSchema = v.strictObject({
  value: v.pipe(
    amountSchema,
    v.description(
      'Allowance that the permit grants the pool: base units in decimal, exactly the batch’s total.',
    ),
  ),
  deadline: v.pipe(
    unixSecondsSchema,
    v.description('Unix seconds after which the token refuses the permit.'),
  ),
  v: v.pipe(
    v.picklist([27, 28]),
    v.description(
      'Recovery value of the funder’s ECDSA signature over the EIP-2612 permit: 27 or 28.',
    ),
  ),
  r: v.pipe(
    wordSchema,
    v.description(
      'First half of the funder’s ECDSA signature over the permit: 32 bytes of 0x hex.',
    ),
  ),
  s: v.pipe(
    wordSchema,
    v.description(
      'Second half of the funder’s ECDSA signature over the permit: 32 bytes of 0x hex.',
    ),
  ),
});
export type PermitWire = v.InferOutput<typeof permitSchema>;

export const slotNoteSchema = v.strictObject({
  encryptionPublicKey: v.pipe(
    encryptionPublicKeySchema,
    v.description(
      'P that the note is sealed to: 32 bytes of lower-case 0x hex. In an unused slot the P of a dummy note.',
    ),
  ),
  sealed: v.pipe(
    hexSchema(209),
    v.description(
      'The encrypted note, made by the agent: suite, ephemeral key, ciphertext and tag (protocol §3), 209 bytes of 0x hex. ' +
        'Only the private half of P opens it.',
    ),
  ),
});

/** One per slot, in slot order: the sealed note and the key it is sealed to. */
const sealedNotesSchema = v.pipe(
  v.array(slotNoteSchema),
  v.minLength(1),
  v.maxLength(256),
  v.description(
    'One sealed note per slot, in slot order. `sealedNotesHash` of the batch covers them.',
  ),
);

/**
 * Shows to the holder of the HMAC key whether two requests under one Idempotency-Key are the same. `keyId` names the HMAC key.
 */
const bodyFingerprintSchema = v.strictObject({
  keyId: v.pipe(
    hexSchema(8),
    v.description('Id of the HMAC key that made `value`: 8 bytes of 0x hex. Not secret.'),
  ),
  value: v.pipe(
    hex32Schema,
    v.description(
      'HMAC-SHA-256 over the Idempotency-Key and the digest of the request’s canonical JSON: 32 bytes of 0x hex.',
    ),
  ),
});
export type BodyFingerprint = v.InferOutput<typeof bodyFingerprintSchema>;

const bodyFingerprintMeaning =
  'HMAC of the request that the batch pays, under a key that only the employer’s agents have. A second agent compares it to ' +
  'learn whether this key was paid for the same request.';

const settlementBatchSchema = v.pipe(
  fundBatchSchema,
  v.description(
    'The batch as the contract takes it. The funder’s FundAuthorization covers funder, token, total, batchRoot, batchNonce, ' +
      'sealedNotesHash and deadline.',
  ),
);

/** `POST /agent-edge/settlements`, header Idempotency-Key = the job's key. */
export const settlementRequestSchema = v.pipe(
  v.strictObject({
    chain: v.pipe(
      chainKeySchema,
      v.description('Key of the chain to settle on, for example `base`.'),
    ),
    batch: settlementBatchSchema,
    proof: v.pipe(
      groth16ProofSchema,
      v.description(
        'Groth16 proof of the batch in the verifier contract’s order. The platform verifies it before it stores the settlement, ' +
          'and the contract verifies it again.',
      ),
    ),
    funderSignature: v.pipe(
      v.string(),
      v.regex(/^0x(?:[0-9a-f]{2}){65,1024}$/),
      v.description(
        'The funder’s signature over the EIP-712 FundAuthorization of the batch (protocol §8), not over `digest`: lower-case 0x ' +
          'hex, 65 bytes r ‖ s ‖ v, or up to 1024 bytes of a contract wallet (ERC-1271).',
      ),
    ),
    permit: v.optional(
      v.pipe(
        permitSchema,
        v.description(
          'The funder’s EIP-2612 permit for exactly the total. Present where the allowance does not cover it and the token ' +
            'supports permits.',
        ),
      ),
    ),
    bodyFingerprint: v.optional(
      v.pipe(bodyFingerprintSchema, v.description(bodyFingerprintMeaning)),
    ),
    sealedNotes: sealedNotesSchema,
  }),
  v.description('A proved and signed batch for the relayer to put on chain.'),
);
export type SettlementRequest = v.InferOutput<typeof settlementRequestSchema>;

/**
 * `POST /agent-edge/settlements/:key/notes`: the sealed notes of a settled batch once more, for a platform that lost them.
 * The same document is what a funder keeps and what a holder imports. It names P for each slot and no amount but the total.
 */
export const deliverySchema = v.pipe(
  v.strictObject({
    chain: v.pipe(
      chainKeySchema,
      v.description('Key of the chain that the batch is on, for example `base`.'),
    ),
    batch: v.pipe(
      fundBatchSchema,
      v.description('The batch as it settled. A final block must hold it.'),
    ),
    sealedNotes: sealedNotesSchema,
  }),
  v.description('A settled batch with its sealed notes. It contains no amount but the total.'),
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
    txHash: v.optional(
      v.pipe(
        hex32Schema,
        v.description(
          `Hash of the transaction that settled the ${subject}, or of the one that reverted: 32 bytes of 0x hex. Absent while ` +
            'none is mined.',
        ),
      ),
    ),
    blockNumber: v.optional(
      v.pipe(
        v.number(),
        v.description('Number of the block that holds the transaction of `txHash`.'),
      ),
    ),
    gasUsed: v.optional(
      v.pipe(v.string(), v.description('Gas that the transaction of `txHash` used, in decimal.')),
    ),
    error: v.optional(
      v.pipe(
        v.strictObject({
          code: v.pipe(
            v.string(),
            v.maxLength(64),
            v.regex(/^[a-z0-9_-]+$/),
            v.description(
              'Stable code for programs; a revert of the contract has the name of its error in kebab-case.',
            ),
          ),
          message: v.pipe(
            v.string(),
            v.maxLength(500),
            v.description('Explanation for people. Its wording may change.'),
          ),
        }),
        v.description(`Why the ${what} is \`reverted\`. Absent in every other state.`),
      ),
    ),
  };
}

export const settlementRecordSchema = v.pipe(
  v.strictObject({
    key: v.pipe(v.string(), v.description('Idempotency-Key of the job that the batch pays.')),
    state: v.pipe(
      v.picklist(settlementStates),
      v.description(
        '`accepted`: stored, nothing sent. `submitted`: a transaction is out. `settled`: a final block holds the batch. ' +
          '`reverted`: refused by simulation (no `txHash`) or on chain; the same authorisation may be posted again with a ' +
          'fresh proof.',
      ),
    ),
    chain: v.pipe(
      chainKeySchema,
      v.description('Key of the chain that the batch settles on, for example `base`.'),
    ),
    batch: v.pipe(
      fundBatchSchema,
      v.description(
        'The batch as it was posted, and with the eligibility root of the newest proof.',
      ),
    ),
    bodyFingerprint: v.optional(
      v.pipe(
        bodyFingerprintSchema,
        v.description(
          `${bodyFingerprintMeaning} As the first post of the batch sent it; absent when that had none.`,
        ),
      ),
    ),
    sealedNotes: v.pipe(
      v.array(slotNoteSchema),
      v.description(
        'One sealed note per slot, in slot order. Empty: the batch never landed and never can, and the platform has erased ' +
          'them.',
      ),
    ),
    ...describeOutcome('settlement'),
  }),
  v.description('The platform’s record of putting one batch on chain.'),
);
export type SettlementRecord = v.InferOutput<typeof settlementRecordSchema>;

/**
 * `POST /agent-edge/settlements/:key/void`: withdraw the batch of a settlement. `signature` is the funder's
 * EIP-712 `VoidBatch` (protocol §8). Answered with the settlement record; 404 `not_found` when the employer has no
 * settlement under that key and the request has no batch. The answer does not mean that the batch is void: only a final block says so.
 */
export const voidRequestSchema = v.pipe(
  v.strictObject({
    chain: v.pipe(
      chainKeySchema,
      v.description('Key of the chain that the batch would settle on, for example `base`.'),
    ),
    funder: v.pipe(
      evmAddressSchema,
      v.description('EVM address of the batch’s funder, who signs the withdrawal.'),
    ),
    batchNonce: v.pipe(
      wordSchema,
      v.description('Nonce of the batch to withdraw: a field element as 32 bytes of 0x hex.'),
    ),
    signature: v.pipe(
      settlementRequestSchema.entries.funderSignature,
      v.description(
        'The funder’s signature over the EIP-712 VoidBatch (protocol §8): lower-case 0x hex, 65 bytes r ‖ s ‖ v, or up to ' +
          '1024 bytes of a contract wallet (ERC-1271).',
      ),
    ),
    batch: v.optional(
      v.pipe(
        fundBatchSchema,
        v.description(
          'The batch, if its settlement was never posted: a custodian has signed it, and the agent gave it up. Without it, the ' +
            'settlement must be stored.',
        ),
      ),
    ),
  }),
  v.description(
    'The funder’s withdrawal of a batch. It takes effect when `voidBatch` is on chain.',
  ),
);
export type VoidRequest = v.InferOutput<typeof voidRequestSchema>;
