/**
 * Keys of payments whose outcome nobody has read yet, kept so that a payment which is repeated after a closed tab is made once.
 *
 * @module
 */
import type { EvmAddress, WalletPub } from '@pool/core';
import type { SealedRecords } from './store/sealed-records.ts';

export type Withdrawal = {
  /** Symbol. */
  readonly token: string;
  /** Base units. */
  readonly amount: bigint;
  /** Undefined: the account's own address. */
  readonly to?: EvmAddress | undefined;
};

export type Transfer = {
  readonly token: string;
  readonly recipients: readonly { readonly walletPub: WalletPub; readonly amount: bigint }[];
};

type PaymentKey = { readonly payment: string; readonly key: string; readonly chosenAtMs: number };

/** An equal payment of the next day is another one. */
const lifetimeMs = 24 * 3_600_000;
/** All keys are one record. */
const all = 'all';

export function createPaymentKeys(
  records: SealedRecords<readonly PaymentKey[]>,
  nowMs: () => number,
) {
  return {
    /** The key of an equal payment, or a new one. */
    async choose(given: Withdrawal | Transfer): Promise<string> {
      const payment = describePayment(given);
      let key: string = crypto.randomUUID();
      await records.change([all], ([stored = []]) => {
        const chosenAtMs = nowMs();
        const kept = stored.filter((one) => chosenAtMs - one.chosenAtMs < lifetimeMs);
        const equal = kept.find((one) => one.payment === payment);
        key = equal?.key ?? key;
        return [equal === undefined ? [...kept, { payment, key, chosenAtMs }] : kept];
      });
      return key;
    },
    /** The outcome of its payment was read. */
    forget: (key: string): Promise<void> =>
      records.change([all], ([stored]) => [stored?.filter((one) => one.key !== key)]),
  };
}

function describePayment(payment: Withdrawal | Transfer): string {
  if ('recipients' in payment) {
    const payees = payment.recipients.map(({ walletPub, amount }) => [walletPub, `${amount}`]);
    return JSON.stringify(['transfer', payment.token, payees]);
  }
  const { token, amount, to } = payment;
  return JSON.stringify(['send', token, `${amount}`, to?.toLowerCase()]);
}
