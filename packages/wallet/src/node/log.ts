/**
 * The log of the holder's side.
 *
 * @module
 */
import type { ShellLog } from '@pool/http-server';

/** Callers pass codes, counts and public identifiers only. */
export type Log = Omit<ShellLog, 'child'>;
