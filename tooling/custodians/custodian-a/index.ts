/**
 * A simulator of custodian A: a custodian whose approval policies decide whether a wallet signs.
 *
 * @module
 */
export type { CustodianAConfig } from './config.ts';
export type { CustodianAControl, ReceivedRequest } from './control.ts';
export { type CustodianA, createCustodianA } from './custodian.ts';
export {
  createSampleOrganisation,
  type SampleAccount,
  type SampleOrganisation,
  sampleOrigin,
} from './sample.ts';
export { type ServedCustodianA, serveCustodianA } from './serve.ts';
