/**
 * The operator's console: pages of a disbursement agent on loopback (docs/decisions/0023).
 *
 * @module
 */

export type { ConsoleDeps } from './access/ports.ts';
export { loginSeconds } from './access/sessions.ts';
export { type Console, createConsole } from './console.ts';
