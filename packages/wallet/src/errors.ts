/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      file_not_written:
        "A file could not be written or copied; a payment is not affected. Check the named file, the directory's space and its permissions.",
      interrupted:
        'A signal ended the command. An accepted payment continues; ask for it by its key.',
    },
  },
  {
    exit: 2,
    meanings: {
      restore_refused:
        'The backup or export is unreadable, changed, or of another holder, or the directory is not empty. Do what the message says.',
      invalid_contact:
        'The label of a contact is malformed, unknown, in use, or looks like that of another wallet. Choose another one.',
      contact_changed:
        "The contact's evidence is not of its wallet. Ask the owner for W by another way before you pay.",
      invalid_account_file:
        'The account file is malformed, changed, or of a newer version. Use another copy, or recover the account from its words.',
      account_not_opened:
        'The passkey, the password or the recovery words are not those of the account. Use another way to open it.',
      invalid_recovery_words:
        'The recovery words are not 24 of the list in their order. Compare the named word, or all of them, with your copy.',
      last_way_to_open:
        'Nothing else would open the account. Type the recovery words once before you remove the passkey.',
      passkey_failed:
        'The browser could not make or use a passkey. Try another passkey or browser.',
      equal_withdrawal:
        'An equal withdrawal is open, or was paid in the last 24 hours. Wait, or pay a second time with `--again`.',
    },
  },
  {
    status: 404,
    exit: 8,
    meanings: {
      spend_unknown:
        'The agent has no spend under that key. Read the chain or the balance before you pay again.',
    },
  },
  {
    status: 409,
    meanings: {
      viewing_key_mismatch:
        'The viewing key does not give the expected P. Restore it, or correct DISBURSE_HOLDER_ENCRYPTION_PUBKEY, and restart.',
    },
  },
  {
    status: 500,
    meanings: {
      store_damaged:
        'A store of the agent cannot be opened or read. Check its permissions, or restore the named file from a backup.',
    },
  },
  {
    status: 502,
    meanings: {
      nodes_disagree:
        'Two RPCs answer different things about a final block. Find out which one lies or is broken, and use another.',
    },
  },
  {
    status: 503,
    meanings: {
      gas_key_unfunded:
        'The account that pays gas has too little coin. Send some to the named address.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      restored_recently:
        'A payment made after the restored backup can still land. Wait until the named time, and compare the balance.',
    },
  },
] as const satisfies readonly ErrorGroup[];
