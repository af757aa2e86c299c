/**
 * Rosters that were given to the console and not paid yet. They are in memory: files with salaries are the payer's to keep.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { type AmountUnit, PoolError } from '@pool/core';
import type { PayRunView } from '@pool/pay-run';

/** What the person said about a roster before the console read it. */
export type Draft = {
  readonly id: string;
  /** The file. Confidential. */
  readonly text: string;
  readonly chain: string;
  readonly token: string;
  /** The label in its normal form. */
  readonly payRun: string;
  readonly unit: AmountUnit;
  readonly unregistered: 'fail' | 'skip';
  /** The control totals, as the person typed them. */
  readonly control: { readonly count: number; readonly sum: bigint };
};

/** The oldest is forgotten first. Each has at most the size of a form. */
const maxKept = 20;

export type Drafts = ReturnType<typeof createDrafts>;

export function createDrafts() {
  const kept = new Map<string, Draft>();
  return {
    add(draft: Omit<Draft, 'id'>): Draft {
      const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
      if (oldest !== undefined) {
        kept.delete(oldest);
      }
      const added = { id: randomBytes(12).toString('base64url'), ...draft };
      kept.set(added.id, added);
      return added;
    },
    /** @throws PoolError `not_found` */
    find(id: string): Draft {
      const draft = kept.get(id);
      if (draft === undefined) {
        throw new PoolError(
          'not_found',
          'the console has this roster no more: give it the file again, under the same label. What was sent is not paid again',
        );
      }
      return draft;
    },
    /** The newest of a pay run. */
    findOf({ chain, token, payRun }: Pick<PayRunView, 'chain' | 'token' | 'payRun'>) {
      return [...kept.values()].findLast(
        (one) => one.chain === chain && one.token === token && one.payRun === payRun,
      );
    },
    drop: (id: string) => void kept.delete(id),
    /** The newest first. */
    list: (): readonly Draft[] => [...kept.values()].toReversed(),
  };
}
