/**
 * The terminal of a command, and its interruption.
 *
 * @module
 */
export { isConfirmed, type Output, withInterruption } from '@pool/pay-run';
