/**
 * Keys of the payments of the last day, kept so that a payment which is repeated after a closed tab is made once, and so that an equal
 * payment of the same day is not taken for its repetition.
 *
 * @module
 */
import type { EvmAddress, WalletPub } from '@pool/core';
import type { ArchivedSpend, SpendArchive } from '../archive/spend-archive.ts';
import { isOpen } from '../archive/spend-state.ts';
import type { SpendJournal } from '../spend/spend-journal.ts';
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

/** An equal payment of the last day: it was made, or it is underway and can still be made. */
export type EarlierPayment = {
  readonly state: 'settled' | 'underway';
  /** When it began. Unix time. */
  readonly atMs: number;
};

export type ChosenKey = {
  readonly key: string;
  /** `settled`: the key makes another payment. `underway`: the key continues this one. Undefined: none is known. */
  readonly earlier: EarlierPayment | undefined;
};

type PaymentKey = {
  readonly payment: string;
  readonly key: string;
  readonly chosenAtMs: number;
  /** Of the equal payment that was made before under another key. */
  readonly settledAtMs?: number | undefined;
};

/** An equal payment of the next day is another one. */
const lifetimeMs = 24 * 3_600_000;
/** All keys are one record. */
const all = 'all';

export function createPaymentKeys({
  records,
  journal,
  archive,
  nowMs,
}: {
  readonly records: SealedRecords<readonly PaymentKey[]>;
  readonly journal: Pick<SpendJournal, 'findSpend'>;
  readonly archive: Pick<SpendArchive, 'get'>;
  readonly nowMs: () => number;
}) {
  const isKept = ({ chosenAtMs }: PaymentKey): boolean => nowMs() - chosenAtMs < lifetimeMs;

  /** The spend of the newest attempt. */
  async function findSpend(key: string): Promise<ArchivedSpend | undefined> {
    let spend: ArchivedSpend | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const outRoot = await journal.findSpend(key, attempt);
      if (outRoot === undefined) return spend;
      spend = await archive.get(outRoot);
    }
  }

  const findKey = (payment: string, keys: readonly PaymentKey[] = []): PaymentKey | undefined =>
    keys.find((one) => one.payment === payment && isKept(one));

  return {
    /** The spend of an equal payment that the chain has not decided. */
    async findOpen(payment: Withdrawal): Promise<ArchivedSpend | undefined> {
      const known = findKey(describePayment(payment), await records.find(all));
      const spend = known && (await findSpend(known.key));
      return spend !== undefined && isOpen(spend.state) ? spend : undefined;
    },
    /** The key of an equal payment that is not decided, or a new one. */
    async choose(given: Withdrawal | Transfer): Promise<ChosenKey> {
      const payment = describePayment(given);
      for (;;) {
        const known = findKey(payment, await records.find(all));
        const spend = known && (await findSpend(known.key));
        const next = chooseNext(known, spend);
        let isSame = false;
        await records.change([all], ([stored = []]) => {
          isSame = findKey(payment, stored)?.key === known?.key;
          const others = stored.filter((one) => one.payment !== payment && isKept(one));
          return [isSame ? [...others, { payment, chosenAtMs: nowMs(), ...next }] : undefined];
        });
        // Otherwise another tab chose meanwhile.
        if (isSame) return { key: next.key, earlier: describeEarlier(next, spend) };
      }
    },
    /** Its payment begins or is repeated. */
    renew: (key: string): Promise<void> =>
      records.change([all], ([stored]) => [
        stored?.map((one) => (one.key === key ? { ...one, chosenAtMs: nowMs() } : one)),
      ]),
  };
}

function chooseNext(known: PaymentKey | undefined, spend: ArchivedSpend | undefined) {
  const kind = spend?.state.kind;
  // Under the key of an abandoned spend, the next attempt begins.
  const isDecided = spend !== undefined && !isOpen(spend.state) && kind !== 'abandoned';
  return {
    key: known === undefined || isDecided ? crypto.randomUUID() : known.key,
    settledAtMs: kind === 'settled' ? spend?.createdAtMs : known?.settledAtMs,
  };
}

function describeEarlier(
  { settledAtMs }: Pick<PaymentKey, 'settledAtMs'>,
  spend: ArchivedSpend | undefined,
): EarlierPayment | undefined {
  if (spend !== undefined && isOpen(spend.state)) {
    return { state: 'underway', atMs: spend.createdAtMs };
  }
  return settledAtMs === undefined ? undefined : { state: 'settled', atMs: settledAtMs };
}

function describePayment(payment: Withdrawal | Transfer): string {
  if ('recipients' in payment) {
    const payees = payment.recipients.map(({ walletPub, amount }) => [walletPub, `${amount}`]);
    return JSON.stringify(['transfer', payment.token, payees]);
  }
  const { token, amount, to } = payment;
  return JSON.stringify(['send', token, `${amount}`, to?.toLowerCase()]);
}
