/**
 * The windows of scheduled payments, as the jobs of an agent read them before they sign: one whose schedule or occurrence cannot be read
 * holds its job, until the store is restored. Its end by time then counts as well.
 *
 * @module
 */
import type { JobStore } from '@pool/idempotency';
import { createPaymentWindows, type PaymentWindows } from '@pool/operations';
import { createScheduleStore } from './schedule-store.ts';

export function createScheduledWindows(store: JobStore): Pick<PaymentWindows, 'find'> {
  const windows = createPaymentWindows(store);
  // Only reads.
  const schedules = createScheduleStore(store, Date.now);
  return {
    /** @throws PoolError `store_damaged` */
    async find(key) {
      const found = await windows.find(key);
      if (found !== undefined && !found.isWithdrawn) {
        const [schedule = '', period = ''] = found.owner.split(' ');
        await schedules.findOccurrence(schedule, period);
        await schedules.find(schedule);
      }
      return found;
    },
  };
}
