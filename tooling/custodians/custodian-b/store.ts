/**
 * Transactions and idempotent answers: in memory, and in a file when one is configured.
 *
 * @module
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Transaction } from './transaction.ts';

/** How long an idempotent answer is kept. */
const idempotencyMs = 24 * 60 * 60 * 1_000;

type IdempotentAnswer = {
  readonly status: number;
  readonly body: unknown;
  readonly storedAtMs: number;
};

export type Store = {
  add(transaction: Transaction): void;
  find(id: string): Transaction | undefined;
  findExternal(externalTxId: string): Transaction | undefined;
  /** Oldest first. */
  list(): readonly Transaction[];
  /** Changes a transaction and writes the file. */
  change(transaction: Transaction, patch: Partial<Transaction>): void;
  /** @param key user and header */
  findAnswer(key: string): IdempotentAnswer | undefined;
  keepAnswer(key: string, answer: { readonly status: number; readonly body: unknown }): void;
  clear(): void;
};

export function createStore(options: {
  readonly file: string | undefined;
  readonly nowMs: () => number;
}): Store {
  const { file, nowMs } = options;
  const transactions = new Map<string, Transaction>();
  const answers = new Map<string, IdempotentAnswer>();

  if (file !== undefined && existsSync(file)) {
    // The simulator wrote the file itself.
    const saved = JSON.parse(readFileSync(file, 'utf8')) as {
      transactions: Transaction[];
      answers: [string, IdempotentAnswer][];
    };
    for (const transaction of saved.transactions) {
      transactions.set(transaction.id, transaction);
    }
    for (const [key, answer] of saved.answers) {
      answers.set(key, answer);
    }
  }

  function save(): void {
    if (file !== undefined) {
      const state = { transactions: [...transactions.values()], answers: [...answers] };
      writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    }
  }

  return {
    add(transaction) {
      transactions.set(transaction.id, transaction);
      save();
    },
    find: (id) => transactions.get(id),
    findExternal: (externalTxId) =>
      [...transactions.values()].find((one) => one.externalTxId === externalTxId),
    list: () => [...transactions.values()],
    change(transaction, patch) {
      Object.assign(transaction, patch, { lastUpdated: nowMs() });
      save();
    },
    findAnswer(key) {
      const answer = answers.get(key);
      return answer !== undefined && nowMs() - answer.storedAtMs < idempotencyMs
        ? answer
        : undefined;
    },
    keepAnswer(key, { status, body }) {
      answers.set(key, { status, body, storedAtMs: nowMs() });
      save();
    },
    clear() {
      transactions.clear();
      answers.clear();
      save();
    },
  };
}
