/**
 * The JSON of a request, read in one way only. Bytes that are not UTF-8 and duplicate keys are refused: another reader
 * of the same body, such as an approver, could see another payment.
 *
 * @module
 */
import { isPoolError, PoolError, stepStrictJson } from '@pool/core';
import type { Context } from 'hono';

/** Awaited between two pieces of work, so that other requests get their turn. */
type Pace = () => Promise<void>;

/**
 * @param pace - for large bodies; absent, the body is checked in one go
 * @throws PoolError `invalid_request`, which never repeats the body
 */
export async function readJsonBody(c: Context, pace?: Pace): Promise<unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw refuse('content-type must be application/json');
  }
  const steps = stepStrictJson(decodeText(await c.req.arrayBuffer()), 'request body');
  for (;;) {
    const step = takeStep(steps);
    if (step.done === true) {
      return step.value;
    }
    await pace?.();
  }
}

/** The error of a body is the caller's mistake. */
function takeStep(steps: ReturnType<typeof stepStrictJson>): IteratorResult<undefined, unknown> {
  try {
    return steps.next();
  } catch (error) {
    throw isPoolError(error) ? refuse(error.message) : error;
  }
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}

function decodeText(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('request body is not UTF-8');
  }
}
