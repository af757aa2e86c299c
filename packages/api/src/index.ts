/**
 * What agent, platform, edge and gate answer over HTTP: wire schemas, routes, OpenAPI documents and their pages.
 *
 * @module
 */

export { agentApi, agentRoutes } from './agent/agent-api.ts';
export type { Balance } from './agent/balance.ts';
export { type History, type HistoryEntry, historyPageSize, historyQuery } from './agent/history.ts';
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
} from './edge/edge.ts';
export { edgeApi, edgeRoutes } from './edge/edge-api.ts';
export {
  type BatchesResponse,
  batchesResponseSchema,
  type NotePathsRequest,
  type NotePathsResponse,
  notePathsRequestSchema,
  notePathsResponseSchema,
} from './edge/note-tree.ts';
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
} from './edge/settlements.ts';
export {
  type SpendCallWire,
  type SpendRecord,
  type SpendRequest,
  spendCallSchema,
  spendRecordSchema,
  spendRequestSchema,
} from './edge/spends.ts';
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
} from './gate/gate.ts';
export { gateApi, gateRoutes } from './gate/gate-api.ts';
export { createOpenApi, type OpenApiDocument } from './openapi/openapi.ts';
export type { Api, Route, RouteAnswer, RouteInput } from './openapi/route.ts';
export { createApiPages, type ServedText } from './openapi/serve-api.ts';
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
} from './platform/accounts.ts';
export {
  type Invitation,
  invitationSchema,
  inviteRequestSchema,
  inviteResponseSchema,
  listInvitationsResponseSchema,
} from './platform/invitations.ts';
export { platformApi, platformRoutes } from './platform/platform-api.ts';
