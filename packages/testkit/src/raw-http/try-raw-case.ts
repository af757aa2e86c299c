/**
 * One case of the raw suite against one server.
 *
 * @module
 */
import { findRawProblems } from './judge-exchange.ts';
import { createRawCases, type RawTarget } from './raw-cases.ts';
import { exchangeRaw } from './raw-client.ts';

/** Longer than any of the limits below. */
const waitMs = 30_000;

/**
 * Limits for a server under test: short, because some cases wait for them, and not so short that a busy machine
 * is late with an honest request.
 */
export const rawLimits = {
  headersMs: 2_500,
  requestMs: 3_000,
  keepAliveMs: 1_000,
  checkMs: 50,
  graceMs: 500,
  unreadMs: 700,
};

/** Names of the cases, which do not depend on the server. */
export function listRawCases(post: RawTarget['post']): readonly string[] {
  return createRawCases({ port: 80, alivePath: '/', post }).map(({ name }) => name);
}

/**
 * Sends the request of the case, and judges the answer.
 *
 * @returns what is wrong, in words; nothing: all is well
 * @throws Error where no case has the name
 */
export async function tryRawCase(target: RawTarget, name: string): Promise<readonly string[]> {
  const rawCase = createRawCases(target).find((one) => one.name === name);
  if (rawCase === undefined) {
    throw new Error(`no raw case is called ${name}`);
  }
  const exchange = await exchangeRaw(target.port, rawCase.parts, {
    ...rawCase,
    waitMs,
    ...(rawCase.isKept === true ? { enough: rawCase.expected.length } : {}),
  });
  return findRawProblems(rawCase, exchange);
}
