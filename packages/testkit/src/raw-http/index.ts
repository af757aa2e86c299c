/** @pool/testkit/raw-http: what reaches a server below the level of its routes. */
export { findRawProblems } from './judge-exchange.ts';
export { createRawCases, type RawCase, type RawTarget, rawCanary } from './raw-cases.ts';
export { exchangeRaw, parseAnswers, type RawAnswer, type RawExchange } from './raw-client.ts';
