/**
 * The commands of an agent and its payer. Each loads its own code when it runs, and nothing here imports `@pool/core` (which loads
 * ethers): `--help` and `--version` answer without it.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';
import { booksCommands, exportFile, payRunPlace } from './cli-books.ts';
import {
  type Commands,
  chain,
  json,
  jsonOf,
  numberFormat,
  type Options,
  once,
  required,
} from './cli-options.ts';

const roster: Options = {
  '--token <symbol>': { about: 'token symbol', initial: 'USDC' },
  ...chain,
};
const decimal: Options = { '--decimal': "amounts are in token units, by the token's decimals" };
const payRunFilter: Options = {
  '--chain <key>': 'of this chain only',
  '--token <symbol>': 'of this token only',
  ...json,
};

const employerLogin: Options = {
  '--platform <url>': "the platform's base URL; default: that of DISBURSE_PLATFORM_URL",
  '--login <signer>':
    'who signs the session of the employer: holder or custodian_a, as for onboard; default: ONBOARD_PRIVATE_KEY',
};
const inviteLogin: Options = { ...employerLogin, ...json };

const releaseName = { '<key or label>': 'an Idempotency-Key, or the label of a pay run' };
const releaseFile = { '<key, label or file>': 'of a prepared batch, or what "release show" wrote' };
const releaseSigning: Options = {
  '--key-file <path>': required(once('Ed25519 key of the person; - is standard input')),
  '--out <file>': once('for a file: a new file for the signed answer'),
  '--yes': 'on a terminal: sign without a question (elsewhere there is no question)',
};

export const payerCommands: Commands = {
  serve: {
    about: 'Run the agent: HTTP routes and the worker.',
    load: async () => (await import('./serve.ts')).runServe,
  },
  console: {
    about:
      'Print the address of the console in the browser of this machine. It opens one session, within two minutes.',
    options: jsonOf('url'),
    load: async () => (await import('./commands/setup/console-command.ts')).runConsole,
  },
  prover: {
    about:
      'Make proofs of batches for agents on other machines. Has the key that opens their inputs, and no key that signs.',
    options: {
      '--new-key <file>': 'make a key pair for the provers, write it to a new file, and end',
      ...json,
    },
    load: async () => (await import('./run-prover.ts')).runProver,
  },
  disburse: {
    examples: [
      'disburse --file november.csv --pay-run 2026-11 --decimal',
      'disburse --file november.csv --pay-run 2026-11 --decimal --dry-run --json',
    ],
    about: 'Pay a roster through the agent on this machine.',
    options: {
      '--file <csv>': required(
        once(
          'roster: columns address, amount and perhaps memo, separated by commas, semicolons or tabs; - is standard input; with --unregistered invite an address may be invite:<name, e-mail address or reference>',
        ),
      ),
      '--pay-run <label>': required(
        once('names this payment; the same roster under the same label is paid once'),
      ),
      ...roster,
      '--unregistered <rule>': {
        about:
          'what to do with recipients that are not enrolled; invite: hold back invited people, for "pay-runs resume", and fail for others',
        choices: ['fail', 'skip', 'invite'],
      },
      '--until <day>': once(
        'with --unregistered invite: the last day (UTC) on which "pay-runs resume" pays, for example 2027-01-15; a later run may change it',
      ),
      '--accept-wallets':
        'with --unregistered invite: pay also wallets that nobody has confirmed, where nobody is asked: a script, or --yes',
      ...decimal,
      ...numberFormat,
      '--dry-run': 'check everything, without a proof and without a payment',
      ...jsonOf('job, timings, settlement'),
      '--yes': 'on a terminal: send without a question (elsewhere there is no question)',
      '--split': 'split a roster above the ceiling into parts and pay them one after the other',
      '--retry <part>': {
        about: 'with --split: send this part again, under a new key, if its job failed; repeatable',
        parse: collectPart,
        initial: [],
        initialText: 'none',
      },
      ...employerLogin,
    },
    load: async () => (await import('./commands/payer/payer-commands.ts')).runDisburse,
  },
  recipients: {
    about: 'Inspect the recipients of a roster.',
    below: {
      check: {
        about:
          'Report which recipients of a roster are not ready to be paid, and why. Moves no money.',
        options: {
          '--file <csv>': required(once('roster: address,amount[,memo]; - is standard input')),
          ...roster,
          ...decimal,
          ...numberFormat,
          ...json,
          '--csv <path>': 'write the report as a table for a spreadsheet',
        },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runCheckRecipients,
      },
    },
  },
  invite: {
    about:
      'Invite people who have no wallet yet: makes a link for each, and writes the links into a file. Names and e-mail addresses stay on this machine.',
    options: {
      '--file <csv>': once('people: columns name or email, or both; - is standard input'),
      '--name <text>': once('one person, by name'),
      '--email <address>': once('one person, by e-mail address; nothing is sent to it'),
      '--out <file>': once('a new CSV file for the links; they are secret'),
      '--days <n>': once('days until the links expire; default: as long as the platform allows'),
      '--again': 'replace the links of these people that nobody has used',
      ...inviteLogin,
    },
    load: async () => (await import('./commands/setup/invite-command.ts')).runInvite,
    below: {
      list: {
        about:
          'Print every link of the employer and what became of it, with the names that this machine knows.',
        options: inviteLogin,
        load: async () => (await import('./commands/setup/invite-command.ts')).runListInvited,
      },
      revoke: {
        about: 'Revoke a link whose wallet has not enrolled.',
        args: { '<reference>': 'of the link, as "invite list" prints it' },
        options: inviteLogin,
        load: async () => (await import('./commands/setup/invite-command.ts')).runRevokeInvitation,
      },
    },
  },
  cancel: {
    examples: ['cancel 2026-11', 'cancel 2026-11 --yes --json'],
    about:
      'Cancel a payment: at once before its batch is sent, afterwards by withdrawing it on chain. Of a pay run, every part that has not ended. Waits for the outcome.',
    args: { '<key or label>': 'an Idempotency-Key, or the label of a pay run of this directory' },
    options: {
      ...payRunPlace,
      '--yes': 'on a terminal: cancel without a question (elsewhere there is no question)',
      ...jsonOf('the job, or the parts of a pay run with their outcomes'),
    },
    load: async () => (await import('./commands/payer/payer-commands.ts')).runCancel,
  },
  config: {
    about: 'Inspect the configuration.',
    below: {
      check: {
        about:
          'Print every variable, its state and its origin, secrets only as set or unset, and whether enclaves, custodians and the approve process answer. Starts nothing and signs nothing.',
        options: json,
        load: async () => (await import('./commands/setup/config-report.ts')).runConfigCheck,
      },
    },
  },
  redeliver: {
    about:
      'Deliver the sealed notes of paid batches to the platform again, or write them to a file. Moves no money.',
    args: { '[key]': 'Idempotency-Key of a paid job' },
    options: {
      '--all': 'every paid key of the job store',
      '--out <file>': 'write the notes to a new file instead',
      '--for <P>': 'with --out: only the notes of this encryption key, for its holder',
    },
    load: async () => (await import('./commands/payer/payer-commands.ts')).runRedeliver,
  },
  approve: {
    about:
      "The gate beside a custodian: judges and votes, by its own configuration (APPROVE_*). 'approve --help' lists its commands.",
    args: { '[args...]': 'a command of the gate, and its options' },
    hasEnvFile: false,
    isPassedThrough: true,
    load: async () => (await import('./commands/setup/approve-command.ts')).runApprove,
  },
  'pay-runs': {
    about: 'The pay runs that were sent from this directory.',
    alias: 'pay-run',
    below: {
      list: {
        about: 'Print every label, and what became of it. Moves no money.',
        options: payRunFilter,
        load: async () => (await import('./commands/payer/payer-commands.ts')).runListPayRuns,
      },
      show: {
        about: 'Print the parts of a pay run: state, transaction, key. Moves no money.',
        args: { '<label>': 'of a pay run' },
        options: payRunFilter,
        load: async () => (await import('./commands/payer/payer-commands.ts')).runShowPayRun,
      },
      resume: {
        about:
          'Pay the invited people whom a pay run held back and who have enrolled since, each once. Signs in to the platform.',
        args: { '<label>': 'of a pay run that was sent with --unregistered invite' },
        options: {
          ...payRunPlace,
          '--dry-run': 'print who would be paid now, and why the others would not; sends nothing',
          ...json,
          '--yes': 'on a terminal: send without a question (elsewhere there is no question)',
          '--accept-wallets':
            'pay also wallets that nobody has confirmed, where nobody is asked: a script, or --yes',
          ...employerLogin,
        },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runResume,
      },
      drop: {
        about:
          'End what a pay run holds back of an invited person, who is then never paid under this label. Moves no money.',
        args: { '<label>': 'of a pay run that was sent with --unregistered invite' },
        options: {
          '--line <name or number>': required(
            once(
              'a line of the roster, or the name, the e-mail address or the reference of its person',
            ),
          ),
          ...payRunPlace,
          ...json,
        },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runDrop,
      },
      export: {
        about:
          'Write a table with a line for each payee of a pay run: amount, state, note, transaction, time of the block. Moves no money.',
        args: { '<label>': 'of a pay run' },
        options: { ...payRunPlace, ...exportFile },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runExport,
      },
    },
  },
  ...booksCommands,
  roster: {
    about: 'The file of a payment.',
    below: {
      template: {
        about: 'Print the header of a roster, with a column for names, which no payment reads.',
        hasEnvFile: false,
        load: async () => (await import('./commands/payer/payer-commands.ts')).runRosterTemplate,
      },
    },
  },
  release: {
    about: 'What waits for its release by people (DISBURSE_RELEASE_POLICY), and their signed word.',
    below: {
      list: {
        about: 'Print the prepared batches, and for whom each waits. Moves no money.',
        options: json,
        load: async () => (await import('./commands/payer/release-commands.ts')).runListReleases,
      },
      show: {
        about: 'Print what a batch pays, or write it to a file for a person elsewhere.',
        args: releaseName,
        options: {
          '--out <file>': once('a new file for "release sign" on another machine; confidential'),
          ...json,
        },
        load: async () => (await import('./commands/payer/release-commands.ts')).runShowRelease,
      },
      sign: {
        about: 'Sign the release of a batch after showing what it pays.',
        args: releaseFile,
        options: releaseSigning,
        load: async () => (await import('./commands/payer/release-commands.ts')).runSignRelease,
      },
      deny: {
        about: 'Deny a batch: it fails, unpaid, for good.',
        args: releaseFile,
        options: releaseSigning,
        load: async () => (await import('./commands/payer/release-commands.ts')).runDenyRelease,
      },
      owners: {
        about: 'What the owners of a contract wallet (DISBURSE_SIGNER=contract_wallet) must sign.',
        options: { '--out <file>': 'a new file for typed data and Safe messages', ...json },
        load: async () => (await import('./commands/payer/release-commands.ts')).runListOwners,
      },
      import: {
        about:
          'Store what was signed on another machine: the word of a person, or the signatures of the owners of a contract wallet.',
        args: {
          '<place>':
            'a file of "release sign" or "release deny", a message of a Safe service, or signatures as hex; or its https address; - is standard input',
        },
        load: async () => (await import('./commands/payer/release-commands.ts')).runImportRelease,
      },
      log: {
        about: 'Print who prepared, released, denied, cancelled and paid what, and when.',
        options: json,
        load: async () => (await import('./commands/payer/release-commands.ts')).runReleaseLog,
      },
      verify: {
        about: 'Verify the chain of the log, and name the first broken entry.',
        args: {
          '[file]':
            'what "release log --json" printed, or the console let you download; default: the log of this agent',
        },
        options: {
          '--head <digest>': once('of an entry, kept elsewhere: shows a log that was cut off'),
          ...json,
        },
        load: async () => (await import('./commands/payer/release-commands.ts')).runVerifyReleases,
      },
      'new-key': {
        about: 'Make the key of a person who releases, and print its public key for the policy.',
        args: { '<file>': 'a new file for the private key' },
        hasEnvFile: false,
        load: async () => (await import('./commands/payer/release-commands.ts')).runNewReleaseKey,
      },
    },
  },
  tenancy: {
    about:
      'Inspect or change the employer whose payments this agent makes. It is pinned in the agent directory.',
    below: {
      show: {
        about:
          'Print the pinned employer, and whether configuration and platform name the same one.',
        load: async () => (await import('./commands/payer/payer-commands.ts')).runShowTenancy,
      },
      keys: {
        about: 'Print every Idempotency-Key of the job store as CSV, and whether it was paid.',
        load: async () => (await import('./commands/payer/payer-commands.ts')).runListTenancyKeys,
      },
      new: {
        about:
          'Begin a new tenancy: from then on this directory pays for another employer. Without --accept it only reports the consequences.',
        options: {
          '--accept <employerId>': 'the new employer',
          '--leave-open': 'leave jobs that are underway in the job store',
        },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runBeginTenancy,
      },
    },
  },
};

function collectPart(text: string, earlier: readonly number[]): readonly number[] {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) {
    throw new InvalidArgumentError('Give the number of a part, as the summary shows it.');
  }
  return [...earlier, Number(text)];
}
