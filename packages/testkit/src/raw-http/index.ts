/** @pool/testkit/raw-http: what reaches a server below the level of its routes. */
export type { RawTarget } from './raw-cases.ts';
export { exchangeRaw, parseAnswers, type RawAnswer, type RawExchange } from './raw-client.ts';
export { listRawCases, rawLimits, tryRawCase } from './try-raw-case.ts';
