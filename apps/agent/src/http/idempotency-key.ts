/**
 * The Idempotency-Key header as this agent's routes read it: the project's one parser, so that agent and
 * platform cannot read one header as two keys.
 *
 * @module
 */
export { parseIdempotencyKey } from '@pool/core';
