/**
 * The clients that a page uses. Nothing here needs Node.
 *
 * @module
 */

export {
  createEdgeClient,
  createEdgeGate,
  type EdgeClient,
  type EdgeClientOptions,
  type EligibilityPaths,
  type NotesQuery,
} from './edge-client.ts';
export { enrolWallet } from './enrol-wallet.ts';
export {
  createSessionClient,
  type Enrollment,
  type Onboarding,
  type OpenedInvitation,
  type Registration,
  type Session,
  type SessionClient,
  type SessionClientOptions,
  type SignInOptions,
} from './session-client.ts';
