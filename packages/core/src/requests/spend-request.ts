/**
 * The bodies of `POST /api/transfer` and `POST /api/send`, and the receipt that both answer.
 *
 * The schemas check the form alone. Token, amounts, wallets and destination have codes of their own and are checked afterwards, in
 * the order of docs/decisions/0011.
 *
 * @module
 */
import * as v from 'valibot';
import { described, hex32Schema, optional } from './schema.ts';

/** What a holder does with its notes. `transfer` pays other holders in the pool, `send` withdraws to an address. */
const spendOperations = ['transfer', 'send'] as const;
export type SpendOperationName = (typeof spendOperations)[number];

const tokenSchema = described(
  v.string(),
  'Symbol of a pool token, for example `USDC`. Never an address.',
);

const dryRunSchema = optional(
  v.boolean(),
  'true: checks and proves the whole spend and stops before it is sent. Default: false.',
);

/** Body of `POST /api/transfer`. Confidential. */
export const transferRequestSchema = described(
  v.strictObject({
    token: tokenSchema,
    recipients: described(
      v.pipe(
        v.array(
          v.strictObject({
            walletPub: described(
              v.string(),
              'W, the wallet public key of the payee: 33 bytes of lower-case 0x hex, not an address. The wallet must be enrolled ' +
                'and eligible.',
            ),
            amount: described(
              v.string(),
              'Whole number of the token’s base units in decimal, 1 to 2^128-1, without sign, point or leading zero.',
            ),
          }),
        ),
        v.minLength(1),
      ),
      'One entry per payee. No wallet appears twice.',
    ),
    dryRun: dryRunSchema,
  }),
  'A payment to other holders in the pool. Confidential.',
);
export type TransferRequest = v.InferOutput<typeof transferRequestSchema>;

/** Body of `POST /api/send`. */
export const sendRequestSchema = described(
  v.strictObject({
    token: tokenSchema,
    amount: described(
      v.string(),
      'Base units to withdraw, in decimal, 1 to 2^128-1, without sign, point or leading zero.',
    ),
    to: optional(
      v.string(),
      'Label of a pinned destination, never an address. Absent: the holder’s own wallet.',
    ),
    dryRun: dryRunSchema,
  }),
  'A withdrawal from the pool to a chain address.',
);
export type SendRequest = v.InferOutput<typeof sendRequestSchema>;

/** What became of a spend. */
export const spendReceiptSchema = described(
  v.strictObject({
    operation: described(
      v.picklist(spendOperations),
      '`transfer`: value moved inside the pool. `send`: value left the pool.',
    ),
    status: described(
      v.picklist(['success', 'reverted', 'dry-run']),
      '`success`: a final block has the spend. `reverted`: its transaction reverted and it can no longer land, so nothing ' +
        'moved. `dry-run`: everything was checked and proved, and nothing was sent.',
    ),
    txHash: optional(hex32Schema, 'Transaction hash: 32 bytes of 0x hex. Absent for a dry run.'),
    nullifiers: described(
      v.array(hex32Schema),
      'Nullifiers of the notes that the spend uses up: field elements as 32 bytes of 0x hex.',
    ),
    changeAmount: described(
      v.string(),
      'Base units that return to the holder, in decimal; `0` if there are none.',
    ),
    revertReason: optional(
      v.strictObject({
        code: described(v.string(), 'Stable code: the name of the contract’s error in kebab-case.'),
        message: described(v.string(), 'Explanation for people. Its wording may change.'),
      }),
      'Why the transaction reverted. Present only if `status` is `reverted`.',
    ),
  }),
  'What became of a transfer or a withdrawal.',
);
export type SpendReceipt = v.InferOutput<typeof spendReceiptSchema>;
