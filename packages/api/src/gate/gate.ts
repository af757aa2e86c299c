/**
 * Wire schemas of the pool-gate: paths, wallets, readers, root and capacity (ARCHITECTURE.md).
 *
 * @module
 */

import {
  described,
  eligibilityPathSchema,
  hex32Schema,
  hexSchema,
  isoTimeSchema,
  optional,
  walletIdSchema,
  walletPubSchema,
} from '@pool/core';
import * as v from 'valibot';
import { fieldElement, flag } from '../openapi/shared-schemas.ts';

const walletIdInListSchema = v.array(walletIdSchema);

const rootSchema = fieldElement('Root of the eligibility tree', 'Public: it is on chain.');

/** Pool-gate `POST /v1/paths` */
export const gatePathsRequestSchema = v.strictObject({
  walletIds: described(
    v.pipe(walletIdInListSchema, v.minLength(1), v.maxLength(256)),
    'Wallet ids (w) to find, 1 to 256: field elements as 32 bytes of 0x hex.',
  ),
  root: optional(
    hex32Schema,
    'Root that the paths must lead to: a field element as 32 bytes of 0x hex. A spend takes `registry.current()` of a ' +
      'final block, so that its root tells nobody apart. Absent: the last root that is final for the gate.',
  ),
});
export const gatePathsResponseSchema = v.strictObject({
  root: rootSchema,
  paths: described(
    v.array(eligibilityPathSchema),
    'One path per wallet that is on the list, all to the same `root`.',
  ),
  missing: described(walletIdInListSchema, 'Wallet ids of the request that are not on the list.'),
});

/** Pool-gate `PUT /v1/wallets/:w` and `DELETE`: answered once the new root is final on chain. */
export const gateWalletRequestSchema = v.strictObject({ walletPub: walletPubSchema });
export const gateWalletResponseSchema = v.strictObject({
  walletId: walletIdSchema,
  status: described(
    v.picklist(['whitelisted', 'removed', 'denied']),
    '`whitelisted`: the wallet is on the list. `removed`: it was taken off. `denied`: screening refused it.',
  ),
  root: rootSchema,
  whitelistedAt: optional(
    isoTimeSchema,
    'When the wallet was put on the list, ISO 8601 in UTC. Absent unless `whitelisted`.',
  ),
});
export type GateWallet = v.InferOutput<typeof gateWalletResponseSchema>;

/** Ids of employers' readers at the pool-gate. Their form differs from that of every configured client. */
export const gateReaderIdSchema = described(
  v.pipe(v.string(), v.regex(/^reader-[A-Za-z0-9]{16}$/)),
  'OAuth client id of an employer’s reader, drawn by the platform: `reader-` and 16 letters or digits.',
);
/** Pool-gate `PUT /v1/readers/:clientId`: makes an employer's reader, gives it another secret, or revokes it. */
export const gateReaderRequestSchema = v.strictObject({
  generation: described(
    v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    'Number of the reader’s secret, counted by the platform from 1. A lower one than the gate has is refused; a revoked ' +
      'reader stays revoked.',
  ),
  secretHash: described(
    v.nullable(hexSchema(32)),
    'SHA-256 of the reader’s secret: 32 bytes of 0x hex. null revokes the reader.',
  ),
});
export const gateReaderResponseSchema = v.strictObject({ clientId: gateReaderIdSchema });
export type GateReaderState = v.InferOutput<typeof gateReaderRequestSchema>;

/** Pool-gate `GET /v1/root` */
export const gateRootResponseSchema = v.strictObject({
  root: rootSchema,
  wallets: described(v.number(), 'Number of wallets that the tree of `root` contains.'),
  txHash: optional(
    hex32Schema,
    'Hash of the transaction that published `root`: 32 bytes of 0x hex. Absent while no root has been published.',
  ),
});

/** Pool-gate `GET /v1/capacity` */
export const gateCapacityResponseSchema = v.strictObject({
  capacity: described(v.number(), 'Leaves of the eligibility tree: 1,048,576 at depth 10.'),
  used: described(
    v.number(),
    'Leaves that a wallet takes: listed, about to be listed, or about to be removed.',
  ),
  nearlyFull: flag('True when 80 % or more of the leaves are used.'),
});
