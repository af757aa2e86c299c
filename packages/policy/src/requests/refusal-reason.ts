/**
 * Why a request is refused before any policy about amounts and people is asked. Each is final for that request.
 *
 * @module
 */

/** The reason for a refusal. Each is final for that request. */
export type RefusalReason =
  /** The signer does not sign this kind, or its configuration does not allow it. */
  | 'kind-not-allowed'
  /** `expectedSigner`, or the funder, owner or wallet in the payload, is not this signer's address. */
  | 'foreign-signer'
  /** `externalId` is not that of the content. */
  | 'external-id-mismatch'
  /** The payload is not a valid document of its kind. */
  | 'malformed-payload'
  /** Chain and pool are not in the signer's list. */
  | 'pool-not-listed'
  /** The token is not in the signer's list, or not the expected one. */
  | 'token-not-listed'
  | 'foreign-chain'
  | 'foreign-spender'
  /** Total, permit or approval of another amount than the manifest's. */
  | 'amount-mismatch'
  /** The transaction is not type 2, carries value or an access list, or calls anything but `approve`. */
  | 'not-an-approval'
  /** The transaction could spend more on gas than an approval needs. */
  | 'gas-too-high'
  /** The sign-in text is for another domain, URI or chain. */
  | 'foreign-sign-in'
  /** The sign-in text has another statement than the pinned one, a Request ID, a resource besides P, or another spelling. */
  | 'sign-in-text'
  /** The sign-in text lists an encryption key that is not the one in the signer's configuration. */
  | 'foreign-encryption-key'
  /** The sign-in text is dated more than 5 minutes before or after the signer's clock. */
  | 'stale-sign-in'
  /** The disclosure has expired, or is dated more than 5 minutes after the signer's clock. */
  | 'stale-disclosure'
  /** The viewing-key text was offered under another kind. */
  | 'viewing-key-text'
  /** Two signatures of one text differed: a viewing key derived from them would be lost. */
  | 'not-deterministic'
  /** A person or a policy voted no. */
  | 'denied';
