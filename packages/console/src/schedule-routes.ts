/**
 * The page about schedules. It changes none.
 *
 * @module
 */
import { viewSchedules } from '@pool/pay-run';
import type { ConsoleApp, ConsoleDeps } from './access/ports.ts';
import { renderSchedules } from './pages/schedules.ts';

/** Payments that a page looks ahead. */
const ahead = 3;

export function addScheduleRoutes(
  app: ConsoleApp,
  { payer, nowMs = Date.now }: Pick<ConsoleDeps, 'payer' | 'nowMs'>,
): void {
  app.get('/:place/schedules', async (c) => {
    const found = await viewSchedules(payer.ledger.jobs, ahead, nowMs);
    return c.html(renderSchedules(c.get('session'), found));
  });
}
