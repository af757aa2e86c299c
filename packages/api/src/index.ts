/**
 * What agent, platform, edge and gate answer over HTTP: wire schemas, routes, OpenAPI documents and their pages.
 *
 * @module
 */

export {
  type Capability,
  capabilities,
  capabilitySchema,
  edgeTokenMetadataSchema,
  enrollmentResponseSchema,
  keyMetadataSchema,
  labelSchema,
  listEdgeTokensResponseSchema,
  listKeysResponseSchema,
  mintEdgeTokenRequestSchema,
  mintEdgeTokenResponseSchema,
  mintKeyRequestSchema,
  mintKeyResponseSchema,
  nonceResponseSchema,
  onboardRequestSchema,
  onboardResponseSchema,
  type Readiness,
  readinessSchema,
  readinessValues,
  registerRequestSchema,
  registerResponseSchema,
  rotateRequestSchema,
  rotateResponseSchema,
  successResponseSchema,
  type VerifiedKey,
  verifyKeyRequestSchema,
  verifyKeyResponseSchema,
  verifySessionRequestSchema,
  verifySessionResponseSchema,
} from './accounts.ts';
export { agentApi, agentRoutes } from './agent-api.ts';
export type { Balance } from './balance.ts';
export {
  type Bootstrap,
  bootstrapRequestSchema,
  bootstrapResponseSchema,
  type NotesResponse,
  notesResponseSchema,
  type RecipientRecord,
  type RelayerHealth,
  recipientLookupRequestSchema,
  recipientLookupResponseSchema,
} from './edge.ts';
export { edgeApi, edgeRoutes } from './edge-api.ts';
export {
  type GateReaderState,
  type GateWallet,
  gateCapacityResponseSchema,
  gatePathsRequestSchema,
  gatePathsResponseSchema,
  gateReaderIdSchema,
  gateReaderRequestSchema,
  gateReaderResponseSchema,
  gateRootResponseSchema,
  gateWalletRequestSchema,
  gateWalletResponseSchema,
} from './gate.ts';
export { gateApi, gateRoutes } from './gate-api.ts';
export { type History, type HistoryEntry, historyPageSize, historyQuery } from './history.ts';
export {
  type Invitation,
  invitationSchema,
  inviteRequestSchema,
  inviteResponseSchema,
  listInvitationsResponseSchema,
} from './invitations.ts';
export {
  type BatchesResponse,
  batchesResponseSchema,
  type NotePathsRequest,
  type NotePathsResponse,
  notePathsRequestSchema,
  notePathsResponseSchema,
} from './note-tree.ts';
export { createOpenApi, type OpenApiDocument } from './openapi.ts';
export { platformApi, platformRoutes } from './platform-api.ts';
export type { Api, Route, RouteAnswer, RouteInput } from './route.ts';
export { createApiPages, type ServedText } from './serve-api.ts';
export {
  type BodyFingerprint,
  type Delivery,
  deliverySchema,
  type FundBatchWire,
  type PermitWire,
  type SettlementRecord,
  type SettlementRequest,
  type SolidityProof,
  settlementRecordSchema,
  settlementRequestSchema,
  type VoidRequest,
  voidRequestSchema,
} from './settlements.ts';
export {
  type SpendCallWire,
  type SpendRecord,
  type SpendRequest,
  spendCallSchema,
  spendRecordSchema,
  spendRequestSchema,
} from './spends.ts';
