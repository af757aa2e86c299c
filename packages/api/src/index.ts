/**
 * What agent, platform, edge and gate answer over HTTP: wire schemas, routes, OpenAPI documents and their pages.
 *
 * @module
 */

export { agentApi, agentRoutes } from './agent/agent-api.ts';
export type { Balance } from './agent/balance.ts';
export { type History, type HistoryEntry, historyPageSize, historyQuery } from './agent/history.ts';
export type {
  Bootstrap,
  EligibilityPathsRequest,
  NotesResponse,
  RecipientRecord,
  RelayerHealth,
} from './edge/edge.ts';
export { edgeApi, edgeRoutes } from './edge/edge-api.ts';
export type {
  BatchesResponse,
  NotePathsRequest,
  NotePathsResponse,
} from './edge/note-tree.ts';
export type {
  BodyFingerprint,
  Delivery,
  FundBatchWire,
  PermitWire,
  SettlementRecord,
  SettlementRequest,
  SolidityProof,
  VoidRequest,
} from './edge/settlements.ts';
export type {
  SpendCallWire,
  SpendRecord,
  SpendRequest,
} from './edge/spends.ts';
export type {
  GateReaderState,
  GateWallet,
} from './gate/gate.ts';
export { gateApi, gateRoutes } from './gate/gate-api.ts';
export { createOpenApi, type OpenApiDocument } from './openapi/openapi.ts';
export type { Api, Route, RouteAnswer, RouteInput } from './openapi/route.ts';
export { type ApiPages, createApiPages } from './openapi/serve-api.ts';
export {
  type Capability,
  capabilities,
  keyMetadataSchema,
  labelSchema,
  type Readiness,
  readinessValues,
  type VerifiedKey,
} from './platform/accounts.ts';
export type { InvitationLink, OpenedInvitation } from './platform/invitation-links.ts';
export type { Invitation } from './platform/invitations.ts';
export { platformApi, platformRoutes } from './platform/platform-api.ts';
