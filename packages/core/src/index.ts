export {
  type AccountAddress,
  type Ed25519Address,
  findAccountFamily,
  parseAccountAddress,
  parseEd25519Address,
} from './account-address.ts';
export {
  type Amount,
  assertAmount,
  formatTokenUnits,
  isAmountString,
  maxAmount,
  parseAmount,
  parseTokenUnits,
} from './amount.ts';
export {
  type AmountReading,
  type AmountUnit,
  describeAmountOf,
  describeTokenAmount,
  findTokenUnit,
  formatTokenAmount,
  type NumberFormat,
  numberFormatExamples,
  numberFormats,
  readAmount,
  type TokenUnit,
} from './amount-text.ts';
export type { Brand, Mark } from './brand.ts';
export { canonicalDigest, canonicalJson } from './canonical-json.ts';
export type { ChainFamily, Curve } from './chain-families/chain-family.ts';
export {
  type ChainFamilyName,
  chainFamilies,
  type Ed25519FamilyName,
  findChainFamily,
} from './chain-families/families.ts';
export {
  type ChainsFile,
  chainsFileSchema,
  type EvmChainSettings,
  evmChainSettingsSchema,
  type FinalityRule,
  finalityRuleSchema,
  type TokenSettings,
  tokenSettingsSchema,
  type VendedChain,
  vendedChainSchema,
} from './chain-settings.ts';
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
  type SpendShape,
  spendCircuits,
  spendShapes,
} from './circuit-sizes.ts';
export { cleanMessage } from './clean-message.ts';
export {
  type ConsolidateRequest,
  type Consolidation,
  consolidateRequestSchema,
  consolidationSchema,
} from './consolidation-request.ts';
export { describeIssues } from './describe-issues.ts';
export {
  type AssetId,
  type BatchNonceParts,
  computeAssetId,
  computeBatchId,
  computeBatchNonce,
} from './digests.ts';
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
  type MalformedRecipient,
  type ReadRecipient,
  type ReadRequest,
  type RequestedRecipient,
  type SkippedRecipient,
  stepRequest,
  submittedJobSchema,
} from './disbursement.ts';
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
} from './disclosure.ts';
export {
  computeEd25519BatchId,
  type Ed25519FundAuthorization,
  type Ed25519Pool,
  encodeEd25519FundAuthorization,
} from './ed25519-funding.ts';
export {
  computeEd25519SignInBytes,
  createEd25519SignInMessage,
  type Ed25519SignIn,
  findEd25519Family,
  parseEd25519SignIn,
  readSignInKey,
  type VerifiedEd25519Evidence,
  verifyEd25519Evidence,
  verifyEd25519SignIn,
} from './ed25519-sign-in.ts';
export {
  computeFundAuthorizationData,
  computePermitData,
  computePoolDomain,
  computeTypedDataDigest,
  computeVoidBatchData,
  type FundAuthorization,
  fundAuthorizationTypes,
  type PermitRequest,
  permitTypes,
  type TypedData,
  voidBatchTypes,
} from './eip712.ts';
export {
  type EligibilityPathWire,
  eligibilityDepth,
  eligibilityPathSchema,
  walletIdSchema,
} from './eligibility-path.ts';
export {
  describeCause,
  type EnvFile,
  type EnvFileProblem,
  parseEnvFile,
} from './env-file.ts';
export {
  type ErrorCode,
  errorCatalogue,
  errorGroups,
  findErrorEntry,
} from './errors/error-catalogue.ts';
export type { ErrorEntry } from './errors/error-entry.ts';
export {
  createConfigurationError,
  type ErrorBody,
  type ErrorDetails,
  errorCodeOf,
  isPoolError,
  type PeerCode,
  PoolError,
  type PoolErrorOptions,
  peerCode,
} from './errors/pool-error.ts';
export {
  type EvmAddress,
  isEvmAddress,
  parseEvmAddress,
  tryParseEvmAddress,
} from './evm-address.ts';
export { assertNoFieldLeft } from './exhaustive.ts';
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
} from './field.ts';
export {
  bigintToBytes,
  bigintToHex,
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
} from './hex.ts';
export { formatIdempotencyKey, isIdempotencyKey, parseIdempotencyKey } from './idempotency-key.ts';
export { labelPattern } from './label.ts';
export { isLoopbackHost } from './loopback-host.ts';
export {
  computeManifestDigest,
  type FundManifest,
  type FundRecipient,
  fundManifestSchema,
  type ReleaseRecord,
  releaseRecordSchema,
} from './manifest.ts';
export {
  type FundFile,
  fundFileSchema,
  isFundFile,
  type ManifestFile,
  manifestFileSchema,
  type SpendFile,
  spendFileSchema,
} from './manifest-file.ts';
export { findMemoProblem, maxMemoBytes } from './memo.ts';
export {
  edgeTokenRefused,
  explainPlatformFailure,
  platformInvalidResponse,
} from './platform-failure.ts';
export { quote } from './quote.ts';
export {
  accountAddressSchema,
  addressTextSchema,
  amountSchema,
  chainKeySchema,
  configuredAddressSchema,
  encryptionPublicKeySchema,
  evidenceSchema,
  evmAddressSchema,
  hex32Schema,
  hexSchema,
  isoTimeSchema,
  parseWire,
  tokenSymbolSchema,
  unixSecondsSchema,
  urlSchema,
  walletPubSchema,
} from './schema.ts';
export { Secret } from './secret.ts';
export { joinUrl, parseServiceUrl } from './service-url.ts';
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
} from './sign-in.ts';
export {
  type SpendManifest,
  type SpendOutput,
  spendManifestSchema,
} from './spend-manifest.ts';
export {
  type SendRequest,
  type SpendOperationName,
  type SpendReceipt,
  sendRequestSchema,
  spendOperations,
  spendReceiptSchema,
  type TransferRequest,
  transferRequestSchema,
} from './spend-request.ts';
export { parseStrictJson, stepStrictJson } from './strict-json.ts';
export { deriveTraceId } from './trace-id.ts';
export {
  computeWalletAddress,
  decodeWalletPub,
  encodeWalletPub,
  parseWalletPub,
  type WalletPoint,
  type WalletPub,
} from './wallet-pub.ts';
