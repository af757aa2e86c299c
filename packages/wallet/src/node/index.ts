/**
 * A holder's files and services in Node: caches, archives, backup, the notes and spends of one agent directory.
 *
 * @module
 */
export type { Holder, HolderKey } from './holder/holder.ts';
export type { Log } from './log.ts';
export { systemClock } from './system-clock.ts';
