/**
 * Typed clients of the platform's agent edge and session routes, and of pool-gate.
 *
 * @module
 */

export { parseServiceUrl } from '@pool/core';
export type { Fetch } from '@pool/http-client';
export { createRouteCaller, type RouteCaller, type RouteCallerOptions } from './call-route.ts';
export {
  createEdgeClient,
  createEdgeGate,
  type EdgeClient,
  type EdgeClientOptions,
  type EligibilityPaths,
  type NotesQuery,
} from './edge-client.ts';
export {
  createGateClient,
  type GateCapacity,
  type GateClient,
  type GateClientOptions,
  type GatePaths,
  type GateRoot,
} from './gate-client.ts';
export type { GateCredentials } from './gate-token.ts';
export { createKeyGate, hashOf, type KeyGate } from './key-gate.ts';
export {
  createKeyVerifier,
  type KeyVerifier,
  type KeyVerifierOptions,
} from './key-verifier.ts';
export {
  type CreatedInvitationLinks,
  createSessionClient,
  type EdgeTokenList,
  type Enrollment,
  type InvitationLinkList,
  type InvitationList,
  type InvitationQuota,
  type KeyList,
  type MintedEdgeToken,
  type MintedKey,
  type Onboarding,
  type OpenedInvitation,
  type Registration,
  type Session,
  type SessionClient,
  type SessionClientOptions,
  type SignInOptions,
} from './session-client.ts';
