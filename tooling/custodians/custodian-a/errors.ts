/**
 * Refusals of the API, in the provider's form `{error: {id, status, message, details?}}`.
 *
 * @module
 */
import { randomInt } from 'node:crypto';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    status: ContentfulStatusCode,
    message: string,
    details?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.details = details;
  }
}

export function createErrorBody(status: number, message: string, details?: unknown): unknown {
  const id = String(randomInt(2 ** 47));
  return { error: { id, status, message, ...(details === undefined ? {} : { details }) } };
}
