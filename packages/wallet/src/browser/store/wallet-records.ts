/**
 * What an account remembers in a browser beside notes and spends: which spend an Idempotency-Key stands for, the transactions that it
 * signed, and the newest encryption key of each wallet that it paid.
 *
 * @module
 */
import { type Hex32, PoolError, type WalletPub } from '@pool/core';
import { comparePin, type PinnedKey } from '../../evidence-verifier.ts';
import type { SentTransaction, SentTransactions } from '../../evm/sent-transactions.ts';
import type { EvidencePins } from '../../ports.ts';
import type { SpendJournal } from '../../spend/spend-journal.ts';
import { openSealedRecords } from './sealed-records.ts';

type Place = Parameters<typeof openSealedRecords>[0];

/** Durable: after a closed tab, the same key reaches the same spend. */
export function openSpendJournal(place: Place): SpendJournal {
  const records = openSealedRecords<{
    readonly fingerprint: string;
    /** outRoots by attempt. */
    readonly spends: Readonly<Record<string, Hex32>>;
  }>(place, 'spend-key');
  return {
    findFingerprint: async (key) => (await records.find(key))?.fingerprint,
    async claim(key, fingerprint) {
      let claimed = fingerprint;
      await records.change([key], ([known]) => {
        claimed = known?.fingerprint ?? fingerprint;
        return [known === undefined ? { fingerprint, spends: {} } : undefined];
      });
      return claimed;
    },
    findSpend: async (key, attempt) => (await records.find(key))?.spends[attempt],
    async bindSpend(key, attempt, outRoot) {
      let bound = outRoot;
      await records.change([key], ([known]) => {
        if (known === undefined) {
          throw new PoolError(
            'spend_unreadable',
            'this browser does not know the payment any more; read the chain before you pay again',
          );
        }
        bound = known.spends[attempt] ?? outRoot;
        return [{ ...known, spends: { ...known.spends, [attempt]: bound } }];
      });
      return bound;
    },
  };
}

/** Transactions that this browser signed. After a closed tab, the same bytes are sent again. */
export function openSentTransactions(place: Place): SentTransactions {
  const records = openSealedRecords<readonly SentTransaction[]>(place, 'sent-transaction');
  return {
    list: async (outRoot) => (await records.find(outRoot)) ?? [],
    add: (transaction) =>
      records.change([transaction.outRoot], ([known = []]) => [
        // Two tabs that continue one spend may sign the same bytes.
        known.some(({ txHash }) => txHash === transaction.txHash) ? known : [transaction, ...known],
      ]),
  };
}

/** Durable: a rotation that was seen is not forgotten when the page is closed. */
export function openEvidencePins(place: Place): EvidencePins {
  const records = openSealedRecords<PinnedKey>(place, 'pin');
  return {
    async pinAll(evidence) {
      const wallets = [...new Set(evidence.map(({ walletPub }) => walletPub))];
      let accepted: readonly boolean[] = [];
      await records.change(wallets, (stored) => {
        const pinned = new Map<WalletPub, PinnedKey | undefined>(
          wallets.map((wallet, place) => [wallet, stored[place]]),
        );
        accepted = evidence.map((one) => {
          const { walletPub, encryptionPublicKey, issuedAtMs } = one;
          const found = comparePin(pinned.get(walletPub), one);
          if (found === 'newer') {
            pinned.set(walletPub, { encryptionPublicKey, issuedAtMs });
          }
          return found !== 'outdated';
        });
        return wallets.map((wallet) => pinned.get(wallet));
      });
      return accepted;
    },
  };
}
