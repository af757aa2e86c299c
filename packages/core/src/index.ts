export {
  type AccountAddress,
  type Ed25519Address,
  findAccountFamily,
  parseAccountAddress,
  parseEd25519Address,
} from './chain-families/account-address.ts';
export type { ChainFamily, Curve } from './chain-families/chain-family.ts';
export {
  chainFamilies,
  type Ed25519FamilyName,
  findChainFamily,
} from './chain-families/families.ts';
export type { Brand, Mark } from './errors/brand.ts';
export { asksForJson, formatData, formatFailure, openEnvelope } from './errors/envelope.ts';
export {
  edgeTokenRefused,
  explainPlatformFailure,
  platformInvalidResponse,
} from './errors/platform-failure.ts';
export {
  type CodeOf,
  createConfigurationError,
  type ErrorBody,
  type ErrorCode,
  type ErrorDetails,
  type ErrorEntry,
  type ErrorGroup,
  errorCodeOf,
  findErrorEntry,
  isPoolError,
  type PeerCode,
  PoolError,
  peerCode,
} from './errors/pool-error.ts';
export { errors as coreErrors } from './errors.ts';
export {
  type AmountUnit,
  describeAmountOf,
  findTokenUnit,
  formatTokenAmount,
  type NumberFormat,
  numberFormatExamples,
  numberFormats,
  readAmount,
  type TokenUnit,
} from './requests/amount-text.ts';
export {
  type ChainsFile,
  chainsFileSchema,
  type EvmChainSettings,
  evmChainSettingsSchema,
  type FinalityRule,
  finalityRuleSchema,
  listRpcUrls,
  type TokenSettings,
  tokenSettingsSchema,
  type VendedChain,
  vendedChainSchema,
} from './requests/chain-settings.ts';
export {
  type ConsolidateRequest,
  type Consolidation,
  consolidateRequestSchema,
  consolidationSchema,
} from './requests/consolidation-request.ts';
export { describeIssues } from './requests/describe-issues.ts';
export {
  type AllowanceState,
  allowanceStateSchema,
  type DisbursementErrorCode,
  type DisbursementJob,
  type DisbursementResult,
  type DisburseRequest,
  disbursementErrorCodes,
  disbursementJobSchema,
  disbursementResultSchema,
  disburseRequestSchema,
  type JobStage,
  type JobState,
  jobStages,
  type ReadRecipient,
  type ReadRequest,
  type RequestedRecipient,
  type SkippedRecipient,
  stepRequest,
  submittedJobSchema,
} from './requests/disbursement.ts';
export {
  type EligibilityPathWire,
  eligibilityDepth,
  eligibilityPathSchema,
  walletIdSchema,
} from './requests/eligibility-path.ts';
export {
  computeManifestDigest,
  type FundManifest,
  type FundRecipient,
  fundManifestSchema,
  type ReleaseRecord,
  releaseRecordSchema,
} from './requests/manifest.ts';
export {
  type FundFile,
  fundFileSchema,
  isFundFile,
  type ManifestFile,
  manifestFileSchema,
  type SpendFile,
  spendFileSchema,
} from './requests/manifest-file.ts';
export {
  accountAddressSchema,
  addressTextSchema,
  amountSchema,
  chainKeySchema,
  configuredAddressSchema,
  described,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  isoTimeSchema,
  optional,
  parseWire,
  tokenSymbolSchema,
  unixSecondsSchema,
  urlSchema,
  walletPubSchema,
} from './requests/schema.ts';
export {
  type SpendManifest,
  type SpendOutput,
  spendManifestSchema,
} from './requests/spend-manifest.ts';
export {
  type SendRequest,
  type SpendOperationName,
  type SpendReceipt,
  sendRequestSchema,
  spendReceiptSchema,
  type TransferRequest,
  transferRequestSchema,
} from './requests/spend-request.ts';
export {
  computeEd25519SignInBytes,
  createEd25519SignInMessage,
  type Ed25519SignIn,
  findEd25519Family,
  parseEd25519SignIn,
  readSignInKey,
  verifyEd25519Evidence,
  verifyEd25519SignIn,
} from './sign-in/ed25519-sign-in.ts';
export {
  createSignInMessage,
  type EncryptionPublicKey,
  type EvidenceDomain,
  encryptionKeyResourcePrefix,
  isPinnedSignIn,
  maxEvidenceSkewMs,
  parseEncryptionPublicKey,
  parseSignInMessage,
  recoverDigestSigner,
  recoverWalletPub,
  type SignInEvidence,
  type SignInFields,
  type SignInMessage,
  signInStatement,
  type VerifiedEvidence,
  verifyEvidence,
} from './sign-in/sign-in.ts';
export {
  type AssetId,
  computeAssetId,
  computeBatchId,
  computeBatchNonce,
} from './signing/digests.ts';
export {
  computeDisclosureData,
  computeDisclosureDigest,
  computeDisclosureSigningDigest,
  computeDisclosureStatementData,
  createDisclosureStatement,
  type DisclosedInsertion,
  type DisclosedPayment,
  type Disclosure,
  type DisclosureContent,
  type DisclosureStatement,
  disclosureContentSchema,
  disclosureSchema,
  disclosureStatementSchema,
  disclosureTypes,
} from './signing/disclosure.ts';
export {
  computeEd25519BatchId,
  type Ed25519FundAuthorization,
  type Ed25519Pool,
  encodeEd25519FundAuthorization,
} from './signing/ed25519-funding.ts';
export {
  computeFundAuthorizationData,
  computePermitData,
  computeTypedDataDigest,
  computeVoidBatchData,
  type FundAuthorization,
  fundAuthorizationTypes,
  type PermitRequest,
  permitTypes,
  type TypedData,
  voidBatchTypes,
} from './signing/eip712.ts';
export { canonicalDigest, canonicalJson } from './text/canonical-json.ts';
export { cleanMessage } from './text/clean-message.ts';
export { encodeCsvField } from './text/csv-field.ts';
export {
  describeCause,
  type EnvFile,
  parseEnvFile,
} from './text/env-file.ts';
export {
  formatIdempotencyKey,
  isIdempotencyKey,
  parseIdempotencyKey,
} from './text/idempotency-key.ts';
export { labelPattern } from './text/label.ts';
export { isLoopbackHost } from './text/loopback-host.ts';
export { findMemoProblem, maxMemoBytes } from './text/memo.ts';
export { quote } from './text/quote.ts';
export { joinUrl, parseServiceUrl } from './text/service-url.ts';
export { parseStrictJson, stepStrictJson } from './text/strict-json.ts';
export { deriveTraceId } from './text/trace-id.ts';
export {
  type Amount,
  assertAmount,
  formatTokenUnits,
  isAmountString,
  maxAmount,
  parseAmount,
  parseTokenUnits,
} from './values/amount.ts';
export {
  type BatchSize,
  batchSizes,
  batchSizesText,
  type CircuitName,
  chooseBatchSize,
  circuitNames,
  circuitShapes,
  type FundCircuit,
  fundCircuits,
  largestBatch,
  maxSpendInputs,
  maxSpendPayees,
  type SpendCircuit,
  spendCircuits,
  spendShapes,
} from './values/circuit-sizes.ts';
export {
  type EvmAddress,
  isEvmAddress,
  parseEvmAddress,
  tryParseEvmAddress,
} from './values/evm-address.ts';
export { assertNoFieldLeft } from './values/exhaustive.ts';
export {
  assertField,
  computeTag,
  type Field,
  fieldModulus,
  fieldToHex,
  isField,
  parseField,
  reduceToField,
  splitHalves,
  zeroField,
  zeroWord,
} from './values/field.ts';
export {
  bigintToBytes,
  bigintToHex32,
  bytesToBigint,
  bytesToHex,
  bytesToHex32,
  type Hex,
  type Hex32,
  hexToBigint,
  hexToBytes,
  parseHex,
  parseHex32,
} from './values/hex.ts';
export { Secret } from './values/secret.ts';
export {
  computeWalletAddress,
  decodeWalletPub,
  encodeWalletPub,
  parseWalletPub,
  type WalletPoint,
  type WalletPub,
} from './values/wallet-pub.ts';
