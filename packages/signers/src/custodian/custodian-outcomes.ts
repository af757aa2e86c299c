/**
 * How a request at a custodian ends without a signature, in the words that both custodians' adapters use.
 *
 * @module
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  cleanMessage,
  isPoolError,
  PoolError,
  parseHex,
  parseWalletPub,
  type Secret,
  type WalletPub,
} from '@pool/core';
import { type HttpAnswer, isSuccess } from '@pool/http-client';
import * as v from 'valibot';
import type { Outcome, Progress } from '../signer.ts';

export type Step = Progress | Outcome;

/** @throws the error itself unless it is about the custodian or the gate */
export function describeFailure(error: unknown, providerId: string | undefined): Outcome {
  if (!isPoolError(error)) {
    throw error;
  }
  const { code, retryable, message } = error;
  if (code === 'custodian_misconfigured') {
    return { state: 'refused', reason: 'foreign-signer', message };
  }
  const known = providerId === undefined ? {} : { providerId };
  return { state: 'failed', ...known, retryable, code, message };
}

export function failUnknown(): Outcome {
  return {
    state: 'failed',
    retryable: true,
    code: 'custodian_outcome_unknown',
    message:
      'the answer of the custodian was lost, and it does not show the request yet; it is looked up again',
  };
}

/** What the custodian shows under an id is not the document of the request. */
export function failForeign(providerId: string): Outcome {
  return {
    state: 'failed',
    providerId,
    retryable: false,
    code: 'custodian_invalid_response',
    message:
      'the request that the custodian shows under this id signs another document than this one; nothing of it is used',
  };
}

/** @param what - what the custodian could not do */
export function createFailure(
  providerId: string,
  what: 'sign' | 'complete',
  reason: string | null | undefined,
): Outcome {
  return {
    state: 'failed',
    providerId,
    retryable: false,
    code: 'custodian_failed',
    message: `the custodian could not ${what} the request: ${describeReason(reason)}`,
  };
}

/** @param how - what became of the request */
export function createDenial(
  providerId: string,
  how: string,
  reason: string | null | undefined,
): Outcome {
  return {
    state: 'refused',
    providerId,
    reason: 'denied',
    message: `the request was ${how} at the custodian: ${describeReason(reason)}`,
  };
}

/** A reason that the custodian gave, for a message. */
function describeReason(reason: string | null | undefined): string {
  const cleaned = cleanMessage(reason ?? '');
  return cleaned === '' ? 'it gave no reason' : cleaned;
}

/** The error of an answer that is not a success. @param reason - without credentials */
export function createAnswerError({ status }: HttpAnswer, what: string, reason: string): PoolError {
  const isDown = status >= 500 || status === 408 || status === 429;
  return new PoolError(
    isDown ? 'custodian_unreachable' : 'custodian_refused',
    `the custodian did not accept ${what}: ${reason}`,
    // An operator can correct a key, a token, a clock or a permission while a job waits.
    { retryable: isDown || status === 401 || status === 403 },
  );
}

/**
 * The content of a success.
 * @throws the client's refusal; PoolError `custodian_unreachable` (retryable) if it is not JSON: a proxy answered, or the answer was cut
 *   off; `custodian_invalid_response` for JSON of another form. Both without a value of the answer
 */
export function parseSuccess<TSchema extends v.GenericSchema>(
  client: { readonly createRefusal: (answer: HttpAnswer, what: string) => PoolError },
  schema: TSchema,
  answer: HttpAnswer,
  what: string,
): v.InferOutput<TSchema> {
  const { body } = answer;
  if (!isSuccess(answer)) {
    throw client.createRefusal(answer, what);
  }
  if (body === undefined) {
    throw new PoolError(
      'custodian_unreachable',
      `the answer about ${what} is not JSON, so it is not the custodian's: something in between answered`,
    );
  }
  const result = v.safeParse(schema, body);
  if (!result.success) {
    throw new PoolError(
      'custodian_invalid_response',
      `the custodian's answer about ${what} does not have the documented form`,
    );
  }
  return result.output;
}

/** A private key as PKCS#8 PEM. Undefined: it is unreadable. */
export function tryParseKey(pem: Secret): KeyObject | undefined {
  try {
    return createPrivateKey(pem.reveal());
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    return undefined;
  }
}

/** W as both custodians show it. @param publicKey - compressed, hex with or without 0x */
export function parsePublicKey(publicKey: string): WalletPub {
  return parseWalletPub(parseHex(`0x${publicKey.replace(/^0x/, '').toLowerCase()}`));
}
