/**
 * The commands of a holder: keys, notes, spends and records. Each loads its own code when it runs, as in cli-payer.ts.
 *
 * @module
 */
import type { Command } from 'commander';
import {
  type Commands,
  chain,
  collect,
  json,
  jsonOf,
  numberFormat,
  type OptionForm,
  type Options,
  once,
  required,
  several,
} from './cli-options.ts';

const token: Options = {
  '--token <symbol>': 'token symbol; default: DISBURSE_TOKEN_SYMBOL, else USDC',
};

/** How every amount can be typed. */
const amountForms = 'base units (as 1000500000), or tokens with their symbol (as 1000.50USDC)';

const amountOptions: Options = {
  '--decimal': 'amounts without a symbol are in tokens',
  ...numberFormat,
  ...token,
};

function yes(what: string): string {
  return `${what} without a question (where there is no terminal, there is none); takes less than one token only if it is written in tokens`;
}

const spendOptions: Options = {
  ...amountOptions,
  '--chain <key>': "one of the agent's chains with a pool; default: DISBURSE_CHAIN",
  '--dry-run': 'check and prove everything, and send nothing',
  '--key <key>':
    'show the outcome of the spend that an earlier run sent under this key; never begins another one',
  '--yes': yes('send'),
};

type SendOptions = {
  readonly selfSubmit?: boolean;
  readonly amount?: string;
  readonly notes?: string;
  readonly again?: boolean;
};

const backupKeys: Options = {
  '--identity <path>': 'file with the age identity, as age-keygen writes it',
  '--passphrase-file <path>': 'file with the passphrase',
};

function chosen(about: string): OptionForm {
  return { ...several(`${about}; repeatable`), initialText: 'all' };
}

function disclosureTerms(what: string, own: Options, memos: string): Options {
  return {
    '--purpose <text>': required('what the file may be used for, one line'),
    '--out <file>': required('a new file'),
    '--days <n>': { about: 'days until the file proves nothing', initial: '90' },
    '--challenge <text>': 'the text that the verifier gave you: 16 to 128 characters',
    '--tx <hash>': chosen('payments of this transaction'),
    '--commitment <hash>': chosen('this payment'),
    ...own,
    '--from <day>': `${what} on this day or later, UTC`,
    '--to <day>': `${what} on this day or earlier, UTC`,
    '--year <year>': `${what} in this year, UTC`,
    '--memos': memos,
    ...token,
    ...chain,
  };
}

export const holderCommands: Commands = {
  identity: {
    about:
      "Print the holder's identity as JSON: address, W and P of the configured holder signer. Sends nothing.",
    load: async () => (await import('./commands/holder/identity-command.ts')).printIdentity,
  },
  balance: {
    about:
      'Print what the holder can spend, through the agent on this machine. Uses DISBURSE_BALANCE_TOKEN.',
    options: {
      ...token,
      '--watch': 'go on, and print each arrival and the new balance, until Ctrl-C',
      ...jsonOf('the balance; with --watch one for each arrival and balance'),
    },
    load: async ({ watch }: { readonly watch?: boolean }) =>
      watch === true
        ? (await import('./commands/holder/watch-command.ts')).runWatch
        : (await import('./commands/holder/balance-command.ts')).runBalance,
  },
  rescan: {
    about:
      "Make the agent read the pool's events and the platform's notes again, then print the balance. Moves no money.",
    options: {
      '--from <block>': 'read the chain from this block on; default: from the deployment',
      ...token,
      ...json,
    },
    load: async () => (await import('./commands/holder/balance-command.ts')).runRescan,
  },
  onboard: {
    about:
      'Sign in to a platform, open the account, enrol the holder, mint credentials, and write them into a configuration file.',
    options: {
      '--platform <url>': required("the platform's base URL"),
      '--enroll-holder': 'enrol the configured holder with its W and P',
      '--capabilities <list>':
        'API keys to mint, comma separated: disburse, holder.read, holder.transfer, holder.send',
      '--out <path>': 'file to write; default: agent.env in the agent directory',
      '--chains <file>':
        'write chains.json from the file that the operator of the platform publishes, after comparing it with each chain',
      '--rpc <chain=url>': several(
        'with --chains: the node that you trust for a chain; once for each chain',
      ),
      '--login <signer>':
        'who signs the session: holder (the configured holder signer) or custodian_a (the holder’s wallet there, after a vote); default: ONBOARD_PRIVATE_KEY',
    },
    load: async () => (await import('./commands/setup/onboard-command.ts')).runOnboard,
  },
  'viewing-key': {
    about: 'Make viewing keys.',
    below: {
      new: {
        about:
          'Make a viewing key and print it once, with its encryption key on each curve. Stores nothing: keep the output.',
        options: {
          '--encrypt-to <recipient>': 'print it encrypted to this age recipient (age1…) instead',
        },
        hasEnvFile: false,
        load: async () =>
          (await import('./commands/holder/viewing-key-command.ts')).printNewViewingKey,
      },
    },
  },
  backup: {
    about:
      "Back up and restore the agent's state and viewing keys, in one encrypted file. It never contains a spend key.",
    below: {
      create: {
        about: 'Write a backup, also while the agent runs.',
        options: {
          '--out <file>': required('file to write; it must not exist'),
          '--encrypt-to <recipient>': several('encrypt to this age recipient (age1…); repeatable'),
          '--passphrase-file <path>': 'encrypt with the passphrase in this file instead',
          ...json,
        },
        load: async () => (await import('./commands/keeping/backup-command.ts')).runBackupCreate,
      },
      verify: {
        about: 'Open a backup, check every part, and print its date, W, P and contents.',
        args: { '<file>': '' },
        options: { ...backupKeys, ...json },
        hasEnvFile: false,
        load: async () => (await import('./commands/keeping/backup-command.ts')).runBackupVerify,
      },
      restore: {
        about: 'Restore a backup into a new or empty agent directory, and print what to do next.',
        args: { '<file>': '' },
        options: {
          ...backupKeys,
          '--to <directory>': 'directory to make; default: the agent directory',
          ...json,
        },
        load: async () => (await import('./commands/keeping/backup-command.ts')).runBackupRestore,
      },
    },
  },
  notes: {
    about:
      "Keep the holder's sealed notes in a file, and take notes from one. Asks no platform; the agent may run. Moves no money.",
    below: {
      export: {
        about:
          'Write every sealed note that the agent directory has of this holder. The file contains no key.',
        options: {
          '--file <path>': 'a new file, mode 0600; default: standard output',
          '--token <symbol>': 'notes of this token; default: every token',
          ...jsonOf('a summary of the file; needs --file'),
          ...chain,
        },
        load: async () => (await import('./commands/keeping/notes-command.ts')).runNotesExport,
      },
      import: {
        about:
          'Take notes from a file: each is compared with the chain and opened with the viewing key. Ends with 1 if an entry is refused.',
        args: { '<file>': 'of "notes export", or of "redeliver --out"' },
        options: { ...json, ...chain },
        load: async () => (await import('./commands/keeping/notes-command.ts')).runNotesImport,
      },
    },
  },
  page: {
    about:
      "Open the payee's page from a copy on this machine, until Ctrl-C. Takes the copy from the platform at first, and compares every file with the digest of the release, each time.",
    options: {
      '--digest <sha256>': required('of the release, as the build prints it and the page shows it'),
      '--folder <path>': 'a built page in place of the copy',
      '--port <port>': { about: 'on localhost', initial: '8789' },
      ...chain,
      ...jsonOf('the address, the folder'),
    },
    load: async () => (await import('./commands/setup/page-command.ts')).runPage,
  },
  'rotate-viewing-key': {
    about:
      "Change the holder's viewing key and P: writes the new configuration, then registers the new key and moves the notes to it. Run it again to continue.",
    options: {
      '--new-key <file>': 'file of the new viewing key, as `viewing-key new` prints it',
      '--yes': 'change the configuration without a question',
    },
    load: async () => (await import('./commands/keeping/rotate-command.ts')).runRotateViewingKey,
  },
  // Not glued to a spend: the number of its inputs would tell how many notes there are.
  consolidate: {
    about:
      'Merge notes of the holder, so that one spend can cover more, through the agent on this machine. Uses DISBURSE_TRANSFER_TOKEN. Shows its steps and their time first.',
    options: {
      '--until <amount>': once(
        `what one spend must cover afterwards; ${amountForms}; default: everything that is free to spend`,
      ),
      ...amountOptions,
      '--dry-run': 'show the steps and their time, and send nothing',
      ...jsonOf('the plan and the receipts'),
      '--yes': yes('begin'),
    },
    load: async () => (await import('./commands/holder/consolidate-command.ts')).runConsolidate,
  },
  transfer: {
    about:
      'Pay other holders inside the pool, through the agent on this machine. Uses DISBURSE_TRANSFER_TOKEN. Prints the receipt.',
    options: {
      '--to <W>': {
        about:
          "a payee's wallet public key or contact @label, or either with :<amount>; repeat it to pay several in one transfer",
        isRequired: true,
        parse: collect,
      },
      '--amount <amount>': once(`for every --to without an amount of its own; ${amountForms}`),
      ...spendOptions,
    },
    load: async () => (await import('./commands/holder/spend-command.ts')).runTransfer,
  },
  send: {
    about:
      "Withdraw from the pool to a pinned destination or to the holder's own wallet, through the agent on this machine. Uses DISBURSE_SEND_TOKEN. Prints the receipt.",
    options: {
      '--amount <amount>': once(`how much to withdraw; ${amountForms}`),
      '--to <label>': once(
        "a label of DISBURSE_SEND_DESTINATIONS; default: the holder's own wallet",
      ),
      ...spendOptions,
      '--self-submit':
        'withdraw without platform, gate and agent: in this process, with gas paid by DISBURSE_GAS_PRIVATE_KEY; without --amount it submits the withdrawals that are open',
      '--again':
        'with --self-submit: pay although an equal withdrawal was paid in the last 24 hours',
      '--notes <file>': 'with --self-submit: also use the sealed notes of this exported file',
    },
    async load({ selfSubmit, amount, notes, again }: SendOptions, send: Command) {
      if (selfSubmit === true) {
        return (await import('./commands/self-submit-command.ts')).runSelfSubmit;
      }
      if (amount === undefined) {
        return send.error("error: required option '--amount <amount>' not specified");
      }
      if (notes !== undefined) {
        send.error("error: option '--notes <file>' needs --self-submit");
      }
      if (again !== undefined) {
        send.error("error: option '--again' needs --self-submit");
      }
      return (await import('./commands/holder/spend-command.ts')).runSend;
    },
  },
  history: {
    about:
      "Print what happened to the holder's notes in one token, through the agent on this machine. Times are UTC. Uses DISBURSE_BALANCE_TOKEN.",
    options: {
      ...token,
      '--from <day>': 'from this day on: 2026-05-31, or an instant in UTC',
      '--to <day>': 'up to and with this day, or before an instant in UTC',
      '--year <year>': 'one year',
      '--csv': 'print CSV for spreadsheets and tax programs',
      ...jsonOf('the entries; with --follow one document for each'),
      '--follow': 'go on, and report arrivals and outgoings as they become final',
    },
    load: async () => (await import('./commands/holder/history-command.ts')).runHistory,
  },
  contacts: {
    about: 'Labels for W on this machine, for transfers and histories. A label is sent nowhere.',
    below: {
      add: {
        about:
          'Add a contact, or renew its evidence. Asks the platform about the wallet, as a payment does.',
        args: {
          '<label>': 'for example ben; used as @ben',
          '<W>': 'the wallet public key, which "identity" prints as walletPub',
        },
        load: async () => (await import('./commands/holder/contacts-command.ts')).runAddContact,
      },
      list: {
        about: 'Print the contacts.',
        options: json,
        load: async () => (await import('./commands/holder/contacts-command.ts')).runListContacts,
      },
      remove: {
        about: 'Remove a contact.',
        args: { '<label>': 'of a contact' },
        load: async () => (await import('./commands/holder/contacts-command.ts')).runRemoveContact,
      },
    },
  },
  disclose: {
    about:
      'Prove payments to an auditor by a signed file, without the viewing key; and verify such a file.',
    below: {
      payer: {
        about:
          "Prove payments that this agent made: the funder's batches, or transfers of its holder.",
        options: disclosureTerms(
          'paid',
          {
            '--job <key>': chosen('payments of this Idempotency-Key'),
            '--pay-run <label>': 'payments of this pay run',
          },
          'show the memos too; the file then has all sealed notes of each batch',
        ),
        load: async () => (await import('./commands/keeping/disclose-command.ts')).runDisclosePayer,
      },
      payee: {
        about:
          'Prove payments that the holder received. The agent must run. Uses DISBURSE_BALANCE_TOKEN.',
        options: disclosureTerms(
          'received',
          {},
          'show the memos of transfers too; those of batches only their payer can prove',
        ),
        load: async () => (await import('./commands/keeping/disclose-command.ts')).runDisclosePayee,
      },
      verify: {
        about:
          'Print what a disclosure proves, by your own RPC or a file of "disclose events". Needs no agent.',
        args: { '<file>': 'a disclosure' },
        options: {
          '--challenge <text>': 'the text that you gave to the discloser',
          '--archive <file>': 'a file that you made with "disclose events"; asks no RPC',
          ...json,
          ...chain,
        },
        load: async () => (await import('./commands/keeping/disclose-verify.ts')).runVerify,
      },
      events: {
        about:
          "Write the pool's events, from your own RPC, into a file with which disclosures are verified offline.",
        options: {
          '--out <file>': required('a new file'),
          '--from-block <block>': 'default: the deployment',
          '--to-block <block>': 'default: the newest final block',
          ...chain,
        },
        load: async () => (await import('./commands/keeping/disclose-verify.ts')).runEvents,
      },
    },
  },
};
