/**
 * Every reason for which a request is refused or has to wait: a stable code and a sentence for the people who read the log.
 *
 * @module
 */

/** Of the request itself, before any policy about amounts and people is asked. Each is final for that request. */
const refusalReasons = {
  'kind-not-allowed': 'The policy does not allow this kind of request.',
  'foreign-signer': 'The request is for another wallet than the one that must sign.',
  'external-id-mismatch': 'The id of the request is not that of its content.',
  'malformed-payload': 'The request is not a valid document of its kind.',
  'pool-not-listed': 'The policy does not list this pool on this chain.',
  'token-not-listed': 'The policy does not list this token in this pool.',
  'foreign-chain': 'The request is for another chain than its batch.',
  'foreign-spender': 'The permit or approval is for another spender than the pool.',
  'amount-mismatch': 'The amount is not the total of the stored batch.',
  'not-an-approval': 'The transaction does something else than approve the pool.',
  'gas-too-high': 'The transaction could spend more on fees than an approval needs.',
  'foreign-sign-in': 'The sign-in text is for another platform or chain than the policy names.',
  'foreign-encryption-key':
    'The sign-in text lists an encryption key that the policy does not list for this wallet.',
  'sign-in-text':
    'The sign-in text has a statement, a Request ID, a resource or a spelling that texts of the platform do not have.',
  'stale-sign-in': 'The sign-in text is dated more than 5 minutes before or after this clock.',
  'stale-disclosure': 'The disclosure has expired, or is dated ahead of this clock.',
  'viewing-key-text': 'The text derives a viewing key and was offered as something else.',
  'not-deterministic':
    'This signer does not give the same signature twice, so it derives no viewing key.',
  denied: 'A person or a policy voted no.',
} as const;

/** Reasons that only a policy and a ledger can give. */
const policyReasons = {
  // Who asks, and for which wallet.
  'ledger-restored':
    'The ledger was restored from a backup. Nothing is approved before it is re-baselined.',
  'ledger-full':
    'The ledger holds 10,000 manifests that may still be signed. It makes room as their deadlines pass; `approve ledger erase` makes room at once. Look at who sends them.',
  'wallet-not-listed': 'The policy does not list the custodian’s wallet id for this address.',
  'initiator-not-listed': 'The policy does not list the user who asks.',
  'funder-not-listed': 'The policy does not list this funder.',
  'holder-not-listed': 'The policy does not list this wallet as a holder.',
  'employer-not-listed': 'The policy does not list the employer of this batch.',

  // The manifest and its job.
  'manifest-missing': 'No manifest is stored for this request.',
  'manifest-mismatch': 'The request does not follow from the stored manifest.',
  'manifest-invalid': 'The manifest file cannot be rebuilt.',
  'manifest-too-large': 'The manifest file is larger than the limit.',
  'job-has-other-manifest': 'Another manifest is stored for this job and attempt.',
  'previous-attempt-alive':
    'The attempt before this one can still be paid, as far as a final block says.',
  'previous-attempt-settled': 'The attempt before this one was paid.',
  'attempt-superseded': 'A later attempt of this job is stored.',
  'facts-unavailable':
    'The chain, or the time of the secure module, could not be read, so it is unknown whether this may be signed.',
  'clock-differs':
    'The clock of this host and the newest block of the chain, or the clock of the secure module, differ by minutes. Set the clock, or look at the node; nothing is voted meanwhile.',
  'clock-behind-ledger':
    'The clock of this host lies behind the newest approval of the ledger. Set the clock; nothing is voted meanwhile.',
  'batch-used': 'The batch is on chain already.',
  'batch-voided': 'The batch was voided.',

  // People and amounts of a batch.
  'evidence-invalid': 'A recipient’s sign-in evidence does not prove that the keys are its own.',
  'evidence-other-key': 'Newer sign-in evidence of a recipient names another encryption key.',
  'evidence-from-future': 'A recipient’s sign-in evidence is dated more than 5 minutes ahead.',
  'recipient-not-listed': 'The policy does not list a recipient.',
  'recipient-denied': 'The policy denies a recipient.',
  'recipient-limit': 'A recipient would get more than the policy allows.',
  'batch-limit': 'The total of the batch is larger than the policy allows.',
  'day-limit': 'The totals of this day would be larger than the policy allows.',
  'rolling-limit':
    'The totals of 24 hours would be larger than the policy allows. It waits until earlier ones are older than that.',
  'recipient-day-limit':
    'A recipient would get more on this day, in all batches together, than the policy allows.',
  'outside-working-hours': 'The batch waits for the working hours of the policy.',
  'deadline-too-near': 'The deadline is nearer than the policy allows.',
  'deadline-too-far': 'The deadline is further away than the policy allows.',
  'batch-too-old': 'The manifest arrived longer ago than the policy allows.',
  'duplicate-roster':
    'The same people were paid the same amounts a short time ago, under the same pay-run label.',
  'hold-amount':
    'The total, with what was approved in the 24 hours before, is above the policy’s threshold, so people must release the batch.',
  'hold-new-payee': 'The batch pays a new recipient, so people must release it.',
  'hold-duplicate-roster':
    'The same people were paid the same amounts a short time ago, so people must release the batch.',
  'unknown-roster':
    'After a backup was restored, a batch of this total and of unknown people is known to be approved a short time ago. It may be the same one.',
  'hold-unknown-roster':
    'After a backup was restored, a batch of this total and of unknown people is known to be approved a short time ago. People must see whether it is the same one.',
  'denied-by-person': 'A person of the policy denied the batch.',
  'denied-roster':
    'A person denied a batch that pays the same people the same amounts, and the policy lists nobody who could release it.',
  'hold-denied-roster':
    'A person denied a batch that pays the same people the same amounts. Who denied it, or two people, must release this one.',
  'permit-not-listed': 'The policy does not list this permit domain for the token.',

  // The signing guard.
  'guard-other-digest': 'Something else was approved for the same authorisation.',
  'guard-conflicted':
    'Two ledgers approved different contents for this authorisation, so both are refused.',
  'too-many-approvals':
    'More token approvals were signed for this batch than a payment needs. Each costs the funder gas, so no further one is signed.',
  'approval-day-limit':
    'As many token approvals were signed for this funder today, or in the last 24 hours, as the policy allows. The next one waits.',
  'approval-fee-limit':
    'The token approvals of this funder could cost more today, or in the last 24 hours, than the policy allows. The next one waits.',
  'approvals-not-allowed':
    'The policy allows no token approvals of this token: it has permits, or maxApprovalsPerDay is 0.',
  'request-changed':
    'The custodian shows another content under the id of a request that was decided before.',
  'spend-signed-before':
    'This spend was signed once, and a second signature would reveal the wallet.',

  // Holders.
  'spend-not-allowed': 'The policy does not allow this wallet to spend this token.',
  'change-not-own': 'The change of the spend does not go to the holder’s own keys.',
  'destination-not-listed': 'The policy does not list the address that the withdrawal goes to.',
  'payee-not-listed': 'The policy does not list a wallet that the transfer pays.',
  'call-limit': 'The spend sends more than the policy allows for one call.',
  'holder-day-limit': 'The spends of this day would send more than the policy allows.',
  'nullifier-used': 'A note of the spend was spent before.',
  'nullifier-in-other-spend': 'Another approved spend of the same note may still land.',
  'spend-unknown':
    'After a backup was restored, another approved spend of this wallet is known by its digest only. It may still land, and counts for 24 hours.',
  'sign-in-not-allowed': 'The policy allows no sign-in for this wallet.',
  'sign-in-validity': 'The sign-in text is valid for longer than the policy allows.',
  'viewing-key-not-allowed': 'The policy does not allow to derive this viewing key.',
  'disclosure-not-allowed': 'The policy does not allow disclosures of this wallet.',
} as const;

export type RefusalReason = keyof typeof refusalReasons;

export function isRefusalReason(reason: string): reason is RefusalReason {
  return Object.hasOwn(refusalReasons, reason);
}

export type DecisionReason = RefusalReason | keyof typeof policyReasons;

/** One sentence for each reason. */
export const decisionReasons: Readonly<Record<DecisionReason, string>> = {
  ...refusalReasons,
  ...policyReasons,
};
