/**
 * The payees of `disburse-agent transfer`: `--to <W>` with a shared `--amount`, or `--to <W>:<amount>`. A contact's `@label` stands for its W.
 *
 * @module
 */
import { PoolError, parseWalletPub } from '@pool/core';
import type { TypedAmount } from '@pool/pay-run';

/** A payee whose amount is not read yet. */
export type TypedPayee = { readonly walletPub: string; readonly amount: TypedAmount };

/**
 * @param tos - the texts after `--to`, in their order
 * @param amount - the text after `--amount`; an amount of a payee's own has precedence
 * @param findContact - asked for each `@label`; the label goes no further
 * @throws PoolError `invalid_request` for what is no W, `invalid-amount` if one is missing; those of `findContact`
 */
export function resolveRecipients(
  tos: readonly string[],
  amount: string | undefined,
  findContact: FindContact = refuseContact,
): readonly TypedPayee[] {
  return tos.map((text, index) =>
    resolveRecipient(text, amount, nameOption(index, tos.length), findContact),
  );
}

/** W of a contact. @throws PoolError `invalid_contact` and the other errors of contacts */
export type FindContact = (label: string) => string;

function refuseContact(label: string): never {
  throw new PoolError('invalid_contact', `there is no contact ${label}`);
}

/** One payee: a W, or a contact as `@label`. */
function resolveRecipient(
  text: string,
  shared: string | undefined,
  option: string,
  findContact: FindContact,
): TypedPayee {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const walletPub = name.startsWith('@') ? findContact(name) : readWallet(name, option);
  if (colon >= 0) {
    return { walletPub, amount: { option, text: text.slice(colon + 1) } };
  }
  if (shared === undefined) {
    throw new PoolError(
      'invalid-amount',
      `${option}: the amount is missing; give --amount <amount>, or ${option} <W>:<amount>`,
    );
  }
  return { walletPub, amount: { option: '--amount', text: shared } };
}

function readWallet(text: string, option: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    throw new PoolError(
      'invalid_request',
      `${option} is an address, and a transfer pays a wallet public key; ask the payee for W, which "disburse-agent identity" prints as walletPub`,
    );
  }
  try {
    return parseWalletPub(text);
  } catch (cause) {
    throw new PoolError(
      'invalid_request',
      `${option} must be W, the payee's wallet public key: 33 bytes of lower-case hex with 0x, which "disburse-agent identity" prints as walletPub`,
      { cause },
    );
  }
}

function nameOption(index: number, count: number): string {
  return count === 1 ? '--to' : `--to number ${index + 1}`;
}

/** A withdrawal goes to a label, and never to an address, not even a pinned one. @throws PoolError `unpinned_destination` */
export function refuseAddress(
  to: string | undefined,
  destinations: ReadonlyMap<string, string>,
): void {
  // The agent checks labels. No label begins with a digit, so this can only be an address or a part of one.
  if (to === undefined || !/^0x/i.test(to)) {
    return;
  }
  const labels = [...destinations.keys()].sort().join(', ');
  throw new PoolError(
    'unpinned_destination',
    labels === ''
      ? '--to is an address, and a withdrawal goes to a label of DISBURSE_SEND_DESTINATIONS; none is configured, so omit --to to withdraw to your own wallet'
      : `--to is an address, and a withdrawal goes to a label of DISBURSE_SEND_DESTINATIONS: ${labels}`,
  );
}
