/**
 * Payments that this console has begun. The agent makes them; what is here only sends the parts of a roster one after the other.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import {
  cancelPayment,
  computePayRunDigest,
  findPaidSameRoster,
  payPlan,
  type SplitPlan,
} from '@pool/pay-run';
import type { ConsoleDeps } from '../access/ports.ts';

/** What the person has seen and confirmed. */
export type Confirmed = {
  /** Number of people who are skipped. */
  readonly skipped: number;
  /** Attempts that have failed, whose parts are sent again. */
  readonly failed: string;
  /** The same roster was paid shortly before, and is to be paid again. */
  readonly isAgain: boolean;
};

type Name = Pick<SplitPlan, 'chain' | 'token' | 'payRun'>;

export type Payments = ReturnType<typeof createPayments>;

export function createPayments({ payer, pollMs }: Pick<ConsoleDeps, 'payer' | 'pollMs'>) {
  const stopping = new AbortController();
  /** By pay run, roster and failed attempts. `sent` ends when the agent has the first part. */
  const running = new Map<string, Readonly<Record<'work' | 'sent', Promise<unknown>>>>();
  const stops = new Map<string, string>();
  const idOf = ({ chain, token, payRun }: Name): string => JSON.stringify([chain, token, payRun]);

  function note(id: string, error: unknown): void {
    stops.set(id, isPoolError(error) ? error.message : 'an unexpected error');
  }

  async function pay(plan: SplitPlan, confirmed: Confirmed, onSent: () => void): Promise<void> {
    const { stop } = await payPlan(plan, payer, {
      terminal: { isTty: false, write: () => undefined },
      signal: stopping.signal,
      pollMs,
      onSent,
      createApproval:
        (claim) =>
        async (whole, { skipped }) => {
          if (skipped.length !== confirmed.skipped) {
            throw declined('other people would be skipped now than those that you have seen');
          }
          if (!confirmed.isAgain && (await findPaidSameRoster(whole, claim)).length > 0) {
            throw declined(
              'the same roster was paid shortly before, and you have not confirmed it',
            );
          }
        },
    });
    if (stop !== undefined) {
      throw new PoolError('payment_blocked', stop.message);
    }
  }

  return {
    /**
     * Resolves when the agent has the first part, or has had all of them before. Twice at once is one payment.
     * @throws PoolError why nothing was sent
     */
    async begin(plan: SplitPlan, confirmed: Confirmed): Promise<void> {
      const id = idOf(plan);
      // Another roster under the label is refused by its own payment.
      const one = `${id} ${computePayRunDigest(plan)} ${confirmed.failed}`;
      const before = running.get(one);
      if (before !== undefined) {
        await before.sent;
        return;
      }
      stops.delete(id);
      const sent = Promise.withResolvers<void>();
      let isSent = false;
      const onSent = (): void => {
        isSent = true;
        sent.resolve();
      };
      const work = pay(plan, confirmed, onSent)
        .then(sent.resolve, (error: unknown) => {
          if (isSent) {
            note(id, error);
          }
          sent.reject(error);
        })
        .finally(() => running.delete(one));
      running.set(one, { work, sent: sent.promise });
      await sent.promise;
    },
    /** Cancels what has not ended. Its page shows the outcome, which may take until the deadline of the batch. */
    cancel(name: Name): void {
      const id = idOf(name);
      const silent = { out: () => undefined, terminal: { isTty: false, write: () => undefined } };
      cancelPayment(name.payRun, payer, name, silent).catch((error: unknown) => note(id, error));
    },
    /** Why the last one has stopped before all parts were sent. */
    findStop: (name: Name): string | undefined => stops.get(idOf(name)),
    /** The agent continues what it has. */
    async close(): Promise<void> {
      stopping.abort();
      await Promise.all([...running.values()].map(({ work }) => work));
    },
  };
}

function declined(what: string): PoolError {
  return new PoolError('payment_declined', `nothing was sent: ${what}. Look at the roster again`);
}
