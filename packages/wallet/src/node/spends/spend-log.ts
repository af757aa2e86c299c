/**
 * What the agent's log says of a spend.
 *
 * @module
 */
import type { SpendEvent } from '../../spend/spend-deps.ts';
import type { Log } from '../log.ts';

/** Stages and codes only: no key, payee or amount. */
export function logSpendEvent(log: Log, event: SpendEvent): void {
  switch (event.kind) {
    case 'stage':
      log.info({ stage: event.stage }, 'spend entered a stage');
      return;
    case 'retry':
      log.warn({ code: event.code }, 'spend tries again');
      return;
    case 'refused':
      log.warn({ code: event.code }, 'the spend was refused; it can still land');
      return;
    case 'withdrawn':
      log.info({}, 'the request of a spend that was given up does not wait for votes any more');
      return;
    case 'not-withdrawn':
      log.warn(
        { code: event.code },
        'the request of a spend that was given up may still wait for votes, which have no effect; deny it at the custodian',
      );
      return;
    case 'outcome':
      log.info({ state: event.state }, 'spend ended');
      return;
    case 'progress':
      return;
  }
}
