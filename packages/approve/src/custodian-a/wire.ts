/**
 * What custodian A answers. The body of a signature request, which is what is signed, is read strictly: one with an unknown field is
 * denied. Fields around it that a vote does not depend on are skipped.
 *
 * @module
 */
import { parseHex32 } from '@pool/core';
import { tooLarge } from '@pool/http-client';
import * as v from 'valibot';
import { foreign, type Reading, readHexText, readTransaction } from '../preimage/preimage.ts';
import { readTypedData } from '../preimage/typed-data.ts';

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(128));

const decisionSchema = v.object({
  userId: id,
  value: v.picklist(['Approved', 'Denied']),
  date: v.nullish(v.pipe(v.string(), v.maxLength(64))),
});

/** The frame of an approval. Its activity is read apart, so that one that we do not understand can still be denied. */
export const approvalSchema = v.object({
  id,
  status: v.picklist(['Pending', 'Approved', 'Denied', 'AutoRejected', 'Expired']),
  initiatorId: v.optional(id),
  activity: v.optional(v.unknown()),
  dateCreated: v.nullish(v.pipe(v.string(), v.maxLength(64))),
  decisions: v.optional(v.array(decisionSchema), []),
});
export type Approval = v.InferOutput<typeof approvalSchema>;

/** Each item is read apart: one that cannot be read is one foreign item. */
export const approvalPageSchema = v.object({
  items: v.pipe(v.array(v.unknown()), v.maxLength(1_000)),
  nextPageToken: v.nullish(v.pipe(v.string(), v.maxLength(4_096))),
});

/** An approval of which no more can be read than its id, and that our user did not approve, as far as it shows. */
const unreadableSchema = v.object({
  id,
  decisions: v.optional(
    v.array(v.object({ userId: v.optional(v.string()), value: v.optional(v.string()) })),
  ),
});

/** What is read of an item of a list. */
export type ListedApproval =
  | { readonly kind: 'approval'; readonly approval: Approval }
  /** `voters`: who approved it. Undefined: unknown too. `id` undefined: it cannot even be named. */
  | {
      readonly kind: 'unreadable';
      readonly id: string | undefined;
      readonly voters: readonly string[] | undefined;
    };

/** Never throws. */
export function readApproval(item: unknown): ListedApproval {
  const whole = v.safeParse(approvalSchema, item);
  if (whole.success) {
    return { kind: 'approval', approval: whole.output };
  }
  const named = v.safeParse(unreadableSchema, item);
  if (named.success) {
    const { id: found, decisions } = named.output;
    const voters = decisions?.flatMap(({ userId, value }) =>
      value === 'Denied' || userId === undefined ? [] : [userId],
    );
    const isKnown = decisions?.every(({ userId }) => userId !== undefined) === true;
    return { kind: 'unreadable', id: found, voters: isKnown ? voters : undefined };
  }
  const alone = v.safeParse(v.object({ id }), item);
  return {
    kind: 'unreadable',
    id: alone.success ? alone.output.id : undefined,
    voters: undefined,
  };
}

const signatureActivitySchema = v.object({
  kind: v.literal('Wallets:Sign'),
  signatureRequest: v.object({
    id,
    walletId: id,
    requestBody: v.unknown(),
  }),
});

/** What an approval asks for. Never throws. */
export function readActivity(activity: unknown): {
  readonly walletId: string;
  readonly reading: Reading;
} {
  const parsed = v.safeParse(signatureActivitySchema, activity);
  if (parsed.success) {
    const { walletId, requestBody } = parsed.output.signatureRequest;
    return { walletId, reading: readRequestBody(requestBody) };
  }
  const isOther = typeof activity === 'object' && activity !== null && 'kind' in activity;
  const message = isOther
    ? 'the approval is not for a signature: this gate approves signatures only, and never a change of policies, permissions or wallets'
    : 'the approval has no activity that this gate understands';
  const isLarge = activity === tooLarge;
  return {
    walletId: '',
    reading: foreign(isLarge ? 'the request is larger than the gate reads' : message),
  };
}

const externalId = v.optional(v.pipe(v.string(), v.maxLength(128)));
const blockchainKind = v.optional(v.literal('Evm'));

const bodySchema = v.variant('kind', [
  v.strictObject({
    kind: v.literal('Eip712'),
    blockchainKind,
    types: v.unknown(),
    domain: v.unknown(),
    message: v.unknown(),
    externalId,
  }),
  v.strictObject({
    kind: v.picklist(['Eip191', 'Message']),
    blockchainKind,
    message: v.unknown(),
    externalId,
  }),
  v.strictObject({
    kind: v.literal('Transaction'),
    blockchainKind,
    transaction: v.unknown(),
    externalId,
  }),
  v.strictObject({ kind: v.literal('Hash'), blockchainKind, hash: v.unknown(), externalId }),
]);

/** @param body - the whole preimage, as the custodian stores it */
function readRequestBody(body: unknown): Reading {
  const parsed = v.safeParse(bodySchema, body);
  if (!parsed.success) {
    return foreign('the request is of an unknown kind, or has an unknown field');
  }
  const request = parsed.output;
  switch (request.kind) {
    case 'Eip712':
      return readTypedData(request);
    case 'Eip191':
    case 'Message':
      return readHexText(request.message);
    case 'Transaction':
      return readTransaction(request.transaction);
    case 'Hash':
      return readHash(request.hash);
  }
}

function readHash(hash: unknown): Reading {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(typeof hash === 'string' ? hash : '') ?? [];
  return digits === undefined
    ? foreign('the hash is not 32 bytes of hex')
    : { kind: 'hash', digest: parseHex32(`0x${digits.toLowerCase()}`) };
}
