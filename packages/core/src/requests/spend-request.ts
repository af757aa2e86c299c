/**
 * The bodies of `POST /api/transfer` and `POST /api/send`, and the receipt that both answer.
 *
 * The schemas check the form alone. Token, amounts, wallets and destination have codes of their own and are checked afterwards, in
 * the order of docs/decisions/0011.
 *
 * @module
 */
import * as v from 'valibot';
import { hex32Schema } from './schema.ts';

/** What a holder does with its notes. `transfer` pays other holders in the pool, `send` withdraws to an address. */
export const spendOperations = ['transfer', 'send'] as const;
export type SpendOperationName = (typeof spendOperations)[number];

const tokenSchema = v.pipe(
  v.string(),
  v.description('Symbol of a pool token, for example `USDC`. Never an address.'),
);

const dryRunSchema = v.optional(
  v.pipe(
    v.boolean(),
    v.description(
      'true: checks and proves the whole spend and stops before it is sent. Default: false.',
    ),
  ),
);

/** Body of `POST /api/transfer`. Confidential. */
export const transferRequestSchema = v.pipe(
  v.strictObject({
    token: tokenSchema,
    recipients: v.pipe(
      v.array(
        v.strictObject({
          walletPub: v.pipe(
            v.string(),
            v.description(
              'W, the wallet public key of the payee: 33 bytes of lower-case 0x hex, not an address. The wallet must be enrolled ' +
                'and eligible.',
            ),
          ),
          amount: v.pipe(
            v.string(),
            v.description(
              'Whole number of the token’s base units in decimal, 1 to 2^128-1, without sign, point or leading zero.',
            ),
          ),
        }),
      ),
      v.minLength(1),
      v.description('One entry per payee. No wallet appears twice.'),
    ),
    dryRun: dryRunSchema,
  }),
  v.description('A payment to other holders in the pool. Confidential.'),
);
export type TransferRequest = v.InferOutput<typeof transferRequestSchema>;

/** Body of `POST /api/send`. */
export const sendRequestSchema = v.pipe(
  v.strictObject({
    token: tokenSchema,
    amount: v.pipe(
      v.string(),
      v.description(
        'Base units to withdraw, in decimal, 1 to 2^128-1, without sign, point or leading zero.',
      ),
    ),
    to: v.optional(
      v.pipe(
        v.string(),
        v.description(
          'Label of a pinned destination, never an address. Absent: the holder’s own wallet.',
        ),
      ),
    ),
    dryRun: dryRunSchema,
  }),
  v.description('A withdrawal from the pool to a chain address.'),
);
export type SendRequest = v.InferOutput<typeof sendRequestSchema>;

/** What became of a spend. */
export const spendReceiptSchema = v.pipe(
  v.strictObject({
    operation: v.pipe(
      v.picklist(spendOperations),
      v.description('`transfer`: value moved inside the pool. `send`: value left the pool.'),
    ),
    status: v.pipe(
      v.picklist(['success', 'reverted', 'dry-run']),
      v.description(
        '`success`: a final block has the spend. `reverted`: its transaction reverted and it can no longer land, so nothing ' +
          'moved. `dry-run`: everything was checked and proved, and nothing was sent.',
      ),
    ),
    txHash: v.optional(
      v.pipe(
        hex32Schema,
        v.description('Transaction hash: 32 bytes of 0x hex. Absent for a dry run.'),
      ),
    ),
    nullifiers: v.pipe(
      v.array(hex32Schema),
      v.description(
        'Nullifiers of the notes that the spend uses up: field elements as 32 bytes of 0x hex.',
      ),
    ),
    changeAmount: v.pipe(
      v.string(),
      v.description('Base units that return to the holder, in decimal; `0` if there are none.'),
    ),
    revertReason: v.optional(
      v.pipe(
        v.strictObject({
          code: v.pipe(
            v.string(),
            v.description('Stable code: the name of the contract’s error in kebab-case.'),
          ),
          message: v.pipe(
            v.string(),
            v.description('Explanation for people. Its wording may change.'),
          ),
        }),
        v.description('Why the transaction reverted. Present only if `status` is `reverted`.'),
      ),
    ),
  }),
  v.description('What became of a transfer or a withdrawal.'),
);
export type SpendReceipt = v.InferOutput<typeof spendReceiptSchema>;
