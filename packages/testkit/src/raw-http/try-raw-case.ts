/**
 * One case of the raw suite against one server.
 *
 * @module
 */
import { findRawProblems } from './judge-exchange.ts';
import { createRawCases, type RawTarget } from './raw-cases.ts';
import { exchangeRaw } from './raw-client.ts';

/** A limit of the server under test must be shorter than this. */
const waitMs = 5_000;

/** Names of the cases, which do not depend on the server. */
export function listRawCases(post: RawTarget['post']): readonly string[] {
  return createRawCases({ port: 80, alivePath: '/', post }).map(({ name }) => name);
}

/**
 * Sends what the case says, and judges what comes.
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
