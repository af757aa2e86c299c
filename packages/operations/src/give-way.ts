/**
 * Lets requests, timers and lease renewals have their turn between two pieces of computing: one process serves
 * routes and drives jobs on one thread.
 *
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves in the next turn of the event loop. */
export async function giveWay(): Promise<void> {
  await nextTurn();
}
