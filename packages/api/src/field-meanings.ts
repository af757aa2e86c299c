/**
 * What each field of a body means, for the documents: by its name, or by the name of what it stands in and its own where one
 * name has several meanings. A test refuses a field without a meaning.
 *
 * @module
 */
import type { JsonObject } from './route.ts';

const meanings: Readonly<Record<string, string>> = {
  // Disbursements
  token: 'Symbol of a token configured for the chain, never an address.',
  chain: 'Key of a chain, for example `base`.',
  'DisburseRequest.chain': 'Key of a chain; default: the chain the agent is configured for.',
  recipients: 'One entry a recipient; no address twice.',
  recipientAddress: 'Address in the form of the chain’s family.',
  amount:
    'Whole number of base units in decimal, 1 to 2^128-1, without sign, point or leading zero.',
  memo: 'At most 111 bytes of UTF-8 on one line, without control characters and characters that change the direction of text; sealed into the note: only the recipient reads it.',
  unregistered:
    'What a recipient who cannot be paid does: `fail` refuses the whole call (default), `skip` leaves the recipient out.',
  key: 'The Idempotency-Key.',
  state:
    '`accepted`: queued. `submitted`: under way. `done`: an attempt was made on chain, see `result`. `failed`: nothing happened on ' +
    'chain, see `error`. The last two are final.',
  statusUrl: 'Path to read the job at.',
  stage: 'The step under way, while `submitted`.',
  result: 'Present when `done`.',
  error: 'Present when `failed`: what to mend before paying under a new key.',
  'DisbursementResult.status':
    '`completed`: paid. `partial`: the transaction failed on chain and nobody was paid.',
  batches: 'Exactly one entry.',
  index: 'Always 0.',
  'EligibilityPath.index':
    'Position of the leaf; its base-4 digits, lowest first, are the positions of the children on the way up.',
  txHash: 'Hash of the transaction.',
  recipientCount: 'How many were paid, the skipped left out.',
  'batches.status': 'Whether the transaction succeeded.',
  'batches.error': 'Why it did not; present on `partial`.',
  notes: 'One entry a note.',
  requestIndex: 'Position in `recipients` of the request.',
  'issues.requestIndex': 'Position in `recipients` of the request; -1: the request as a whole.',
  commitment: 'What stands on chain for this note.',
  'notes.status': 'Whether this note exists on chain.',
  skipped: 'Who was left out under `unregistered: skip`, and why.',
  allowance: 'What the agent saw before proving. It grants what is missing.',
  'allowance.state': 'Whether the pool might take the total then; `unknown`: no read told.',
  failedBatchIndex: 'Not in use.',
  'ValidationReport.ok': 'Nothing is wrong, and nothing else would stop the batch.',
  allowanceState:
    'Whether the pool may take the total now; `insufficient` stops nothing, the agent grants what is missing.',
  issues: 'Everything wrong with the request, in the order of the checks.',
  severity: '`error`: the batch would be refused.',
  'preflight.severity':
    '`warning`: look at it before you pay; it stops nothing. Absent: it would stop the batch now.',
  preflight:
    'What else would stop the batch now (money, services), and warnings; absent when there is nothing to say.',
  code: 'For programs: stays the same.',
  message: 'For people: may change.',
  // Is it alive, is it ready
  ok: 'Whether all is well.',
  version: 'Version of the software.',
  uptimeSeconds: 'Seconds since the process began.',
  checks: 'One check for each thing that a payment needs.',
  accelerator: 'What proves.',
  signer: 'What signs for the funder.',
  poolGate: 'The eligibility service.',
  platform: 'The platform and this agent’s credential there.',
  detail: 'What was found.',
  kind: 'For programs.',
  latencyMs: 'Milliseconds the check took.',
  // Accounts
  success: 'Always true; a refusal is another status.',
  nonce: 'For the Nonce line of one sign-in text.',
  expiresAt: 'Until when it is good, ISO 8601.',
  address: 'Address of the wallet.',
  'verifyKey.address': 'Address of the wallet the key was minted by.',
  'RecipientRecord.address': 'The address as it was asked for.',
  walletPub: 'W, the wallet’s public key: 33 bytes of hex, compressed. Not an address.',
  encryptionPublicKey: 'P, the public key that notes are sealed to: 32 bytes of hex.',
  'rotateEncryptionKey.encryptionPublicKey': 'P from now on.',
  currentEncryptionPublicKey: 'P as registered until now.',
  'verifySession.message': 'The EIP-4361 text, exactly as signed.',
  'evidence.message': 'The EIP-4361 text, exactly as signed.',
  signature: 'Signature over the text (EIP-191), in hex.',
  created: 'False: it was there before.',
  rotated: 'False: this key was registered already, and nothing changed.',
  employerId: 'Id of the employer account.',
  readiness:
    '`ready`: can be paid. `eligibility_pending`: the gate has not confirmed yet. `eligibility_failed`: the gate could not be ' +
    'written; enrol again. `eligibility_disabled`: no gate here. `not_enrolled`: no enrolment.',
  eligibilityWhitelistedAt: 'When the gate confirmed the wallet, ISO 8601.',
  name: 'A label of yours.',
  capability: 'The one thing the key is good for.',
  id: 'What `DELETE /api/employers/keys/{id}` takes.',
  apiKey: 'The key. A secret.',
  'mintKey.apiKey': 'The key. A secret, told this once.',
  keyPrefix: 'The part of the key that is no secret, to tell keys apart.',
  keyId: 'Id of the key.',
  keys: 'Every key ever issued, oldest first.',
  createdAt: 'When it was minted, ISO 8601.',
  revokedAt: 'When it was revoked; absent while it lives.',
  valid: 'False for a key that is unknown or revoked.',
  // Edge
  employerAddress: 'Wallet of the employer.',
  'Bootstrap.chain': 'Default chain of the deployment.',
  chains: 'What the platform knows of each chain, by key; the agent compares it with its own.',
  chainId: 'EIP-155 id.',
  pool: 'Contract that holds the money.',
  registry: 'Contract that holds the eligibility roots.',
  tokens: 'Token contracts by symbol.',
  maxRecipients: 'Most recipients of one call, by chain.',
  generation:
    'Counts the secrets of a reader. A lower one than the gate has is refused; a revoked one stays revoked.',
  secretHash: 'SHA-256 of the secret, hex; null revokes the reader.',
  gate: 'Where the pool-gate is; absent: the deployment has none.',
  url: 'Base URL.',
  oauth: 'Read access to it.',
  tokenUrl: 'Where access tokens are granted.',
  clientId: 'Client id.',
  clientSecret: 'A secret.',
  scope: 'Scopes, parted by spaces.',
  relayer: 'Whether the relayer can send, by chain; a chain that is not there: not known.',
  addresses: 'Addresses to look up.',
  'lookupRecipients.recipients': 'One record an address, in the order asked.',
  evidence: 'The holder’s sign-in, which binds P to W; absent: not enrolled.',
  batch: 'What the funder signed, but for `eligibilityRoot`.',
  funder: 'Wallet whose tokens are taken.',
  'batch.token': 'Token contract.',
  total: 'Sum of the batch in base units.',
  batchNonce: 'Taken once by the pool for each funder, ever.',
  eligibilityRoot: 'Root that the proof refers to.',
  batchRoot: 'Root over the commitments.',
  commitments: 'One for each slot, in slot order.',
  sealedNotesHash: 'Hash over the sealed notes.',
  digest: 'What the funder’s signature is over.',
  deadline: 'Unix seconds after which it is void.',
  proof: 'Groth16, in the order the verifier contract takes it.',
  a: 'Point of the first group.',
  b: 'Point of the second group, imaginary parts first.',
  c: 'Point of the first group.',
  funderSignature: 'Of the funder over `digest`.',
  permit: 'EIP-2612 permission for exactly the total, where the allowance does not cover it.',
  value: 'Base units it permits.',
  v: 'Of the signature.',
  r: 'Of the signature.',
  s: 'Of the signature.',
  bodyFingerprint:
    'HMAC of the request that the batch pays, under a key of the employer’s agents that the platform never sees; `keyId` names that key. ' +
    'It lets a second agent tell whether a key was paid for the same request.',
  'bodyFingerprint.keyId': 'Names the key that the fingerprint was made with.',
  'bodyFingerprint.value': 'HMAC-SHA-256.',
  sealedNotes: 'One for each slot, in slot order.',
  sealed: 'The note, readable with the private half of P alone: 209 bytes of hex.',
  'SettlementRecord.key': 'The job’s key.',
  'SettlementRecord.state':
    '`accepted`: stored, nothing sent. `submitted`: a transaction is out. `settled`: final. `reverted`: refused by simulation (no ' +
    '`txHash`) or on chain; a fresh proof may be posted under the same authorisation.',
  'SettlementRecord.txHash':
    'The settling transaction, or the one that failed; absent while none is mined.',
  'SettlementRecord.error': 'Why it was reverted.',
  blockNumber: 'Block of that transaction.',
  gasUsed: 'Gas that transaction used, decimal.',
  batchIndex: 'Position of the batch in the pool.',
  slot: 'Position of the note in the batch.',
  cursor: 'Pass it on to read on; absent: nothing more now.',
  // Gate
  grant_type: 'Always `client_credentials`.',
  client_id: 'Client id, unless sent as HTTP Basic.',
  client_secret: 'A secret; unless sent as HTTP Basic.',
  access_token: 'The token. A secret.',
  token_type: 'Always `Bearer`.',
  expires_in: 'Seconds until it ends.',
  'grantToken.error': 'As RFC 6749 names it.',
  error_description: 'For people.',
  walletId: 'Hash of W: 32 bytes of hex.',
  walletIds: 'Wallets to find.',
  root: 'Root of the eligibility tree.',
  paths: 'One a wallet that is on the list.',
  missing: 'Wallets that are not on the list.',
  siblings: 'Three a level, from the leaf up, in child order without the own position.',
  status: 'Where the wallet stands now.',
  whitelistedAt: 'Since when it is on the list, ISO 8601.',
  wallets: 'How many are on the list.',
  capacity: 'Places of the eligibility tree.',
  used: 'Places that a wallet has: listed, about to be listed, or about to be removed.',
  'invite.addresses': 'Addresses of wallets; 500 at most.',
  walletLimit:
    'Wallets that the employer may have invited and enrolled at once; 0: it may not invite.',
  walletsTaken: 'Open invitations, and wallets that enrolled by one.',
  invitations: 'One entry a wallet, by address.',
  'Invitation.expiresAt': 'When it ends unless it is used; absent once it is.',
  enrolledAt: 'When the wallet enrolled by it; absent until then.',
  nearlyFull: 'Whether 80 % of the places are used.',
};

/** The schema with the meaning of each field that has no description of its own. @param scope - component or operation */
export function describeFields(schema: JsonObject, scope: string): JsonObject {
  return describe(schema, scope) as JsonObject;
}

function describe(node: unknown, scope: string): unknown {
  if (Array.isArray(node)) {
    return node.map((item) => describe(item, scope));
  }
  if (typeof node !== 'object' || node === null) {
    return node;
  }
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) =>
      keyword === 'properties'
        ? [keyword, describeProperties(value as JsonObject, scope)]
        : [keyword, describe(value, scope)],
    ),
  );
}

function describeProperties(properties: JsonObject, scope: string): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const described = describe(schema, name) as JsonObject;
      const description = meanings[`${scope}.${name}`] ?? meanings[name];
      return [name, description === undefined ? described : { description, ...described }];
    }),
  );
}
