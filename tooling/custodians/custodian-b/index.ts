/**
 * A simulator of custodian B: a custodian whose co-signer asks a callback handler before it signs.
 *
 * @module
 */
export type { CustodianBConfig } from './config.ts';
export type { Control } from './control.ts';
export { type CustodianB, type CustodianBOptions, createCustodianB } from './custodian-b.ts';
export { createExample, type Example } from './example.ts';
export type { FaultInput } from './faults.ts';
export type { CallbackRecord, HandlerAnswer } from './handler-client.ts';
