/**
 * The operator's console: pages of a disbursement agent on loopback (docs/decisions/0023).
 *
 * @module
 */

export { loginSeconds } from './access/sessions.ts';
export { type Console, createConsole } from './console.ts';
export type { ConsoleDeps } from './ports.ts';
