/**
 * The texts of errors, by code: what happened, then what to do.
 *
 * @module
 */

export const errorTexts: Readonly<Record<string, string>> = {
  account_not_opened:
    'That does not open this account. Use a passkey, the words or a file of this account.',
  insufficient_funds:
    'Your account cannot spend that much now. Enter a smaller amount, or wait until the payment that is underway has ended.',
  invalid_account_file:
    'What this browser stores of your account was changed or damaged. Restore the account from your words.',
  invalid_configuration:
    'The settings of this page do not fit your account: it belongs to another platform, or the settings are wrong. Tell whoever runs this page. Your account is not lost.',
  invalid_contact:
    'This name cannot be used: it is taken, or it looks like that of another contact. Choose another one.',
  invalid_recovery_words:
    'These are not the recovery words of an account. Compare each word with your copy, in order.',
  invalid_wallet_pub:
    'This is not a wallet key. It begins with 0x02 or 0x03 and has 68 characters. Copy all of it.',
  contact_changed:
    'The platform shows other keys for this contact than before. Do not pay. Ask the contact for their wallet key in another way.',
  gate_unreachable: 'The eligibility check does not answer. Try again. Nothing was sent.',
  eligibility_root_unknown:
    'The list of those who can be paid has just changed. Try again in a minute. Nothing was sent.',
  'duplicate-recipient': 'This is your own wallet. Choose somebody else.',
  'unregistered-recipient':
    'This wallet has no account that can be paid. Ask its owner to register first.',
  equal_withdrawal:
    'An equal withdrawal is under way, or was made in the last 24 hours. Look at your history before you repeat it.',
  no_gate:
    'This platform has no eligibility check, so nobody can be paid inside the pool. Withdraw instead.',
  spender_not_admitted:
    'Your account may not pay inside the pool here. Ask the person who invited you.',
  spend_unfinished:
    'It may have been sent, and the chain has not decided yet. That takes up to half an hour. Look at your history then, before you pay again.',
  settlement_expired:
    'It did not reach the chain in time. Nothing was paid. Try again. If your balance is too small now, wait half an hour.',
  note_already_spent:
    'Another payment of your account used the same money first, so this one was not made. Look at your history, then try again.',
  configuration_changed:
    'This payment began with another version of the pool. Look at your history before you pay again, and tell your employer.',
  disk_full:
    'This device has no room left, so nothing more was sent. Make room on it, look at your history, then try again.',
  store_damaged:
    'What this browser stores of your account cannot be read. Remove the data of this page in the browser’s settings, and restore the account from your words.',
  stopping:
    'The account was locked meanwhile. Open it again, and look at your history before you repeat a payment.',
  key_limit_reached:
    'Your account has too many keys at the platform. Tell the person who invited you: old ones must be revoked.',
  platform_unreachable:
    'The platform does not answer. Check your connection and try again. Nothing was sent.',
  platform_invalid_response: 'The platform gave a false answer. Tell your employer.',
  chain_unreachable:
    'The chain does not answer. Check your connection and try again. Nothing was sent.',
  nodes_disagree:
    'The two nodes of the chain that this page asks say different things, so no new balance is shown. Try again, and tell whoever runs this page.',
  rate_limited: 'Too many requests. Wait a minute and try again.',
  not_invited: 'An invitation is needed. Open the link that was sent to you.',
  invitation_ended: 'This invitation has ended. Ask the person who sent it for a new one.',
  gas_key_unfunded:
    'The account that pays the fee has too little coin, so nothing was sent. Send some coin to it, then continue within half an hour.',
  restore_refused: 'This is not a notes file of this pool. Nothing was added. Choose another file.',
  fee_cap_reached: 'The chain asks for an unusual fee now. Nothing was sent. Try again later.',
  transaction_rejected:
    'The node of the chain refuses the transaction. Look at your history, then try again.',
  passkey_failed: 'The passkey could not be used. Try again, or use another passkey or browser.',
};

/** Addresses of pools. */
export function otherPool(configured: string, own: string): string {
  return `This page is set up for the pool ${configured}, and your account here is of the pool ${own}, so it was not opened. Your money is where it was. Ask your employer which pool is right, and tell whoever runs this page.`;
}
