/**
 * The tables of the commands for the books: lists of payments, tables, payslips, statements. Each loads its own code when it runs, as in
 * cli-payer.ts.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';
import { type Commands, json, type Options, once, required, several } from './cli-options.ts';

export const payRunPlace: Options = {
  '--chain <key>': 'of the pay run, if several have the label',
  '--token <symbol>': 'of the pay run, if several have the label',
};
const jobStates = ['running', 'paid', 'reverted', 'failed', 'unknown'];
const jobFilter: Options = {
  '--chain <key>': 'of this chain only',
  '--token <symbol>': 'of this token only',
  '--state <state>': { about: 'in this state only', choices: jobStates },
  '--pay-run <label>': 'of this pay run only',
  '--from <time>': 'from this day (UTC) or instant on',
  '--to <time>': 'to this day, which is included, or instant, which is not',
};
const booksFile: Options = {
  '--roster <csv>': once(
    'the roster as it was sent, with a label: adds the amounts of people who were not paid, parts that were not sent, and its further columns',
  ),
  '--fiat <rate>': once('a rate of yours, for example EUR=0.92: adds amounts in that currency'),
};
export const exportFile: Options = {
  '--format <format>': {
    about: 'a table for a spreadsheet, or one JSON document with the same columns',
    choices: ['csv', 'json'],
    initial: 'csv',
  },
  ...booksFile,
  '--out <file>': once('a new file; default: standard output'),
};

export const booksCommands: Commands = {
  jobs: {
    about: 'The payments in the job store, whoever submitted them.',
    below: {
      list: {
        about: 'Print payments, the newest first. Needs no running agent.',
        options: {
          ...jobFilter,
          '--limit <n>': { about: 'how many; default: 100', parse: parseLimit },
          '--after <key>': once('those after this one in the list'),
          ...json,
        },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runListJobs,
      },
      show: {
        about: 'Print a payment: its stages with their times, and why it waits.',
        args: { '<key>': 'Idempotency-Key' },
        options: json,
        load: async () => (await import('./commands/payer/payer-commands.ts')).runShowJob,
      },
      export: {
        about:
          'Write a table with a line for each payee: amount, state, note, transaction, time of the block. Moves no money.',
        args: { '[key or label]': 'of one payment; default: all that the filter leaves' },
        options: { ...jobFilter, ...exportFile },
        load: async () => (await import('./commands/payer/payer-commands.ts')).runExport,
      },
    },
  },
  receipts: {
    about: 'Write a payslip (PDF) for each payee, with its signed disclosure in it, and a summary.',
    args: { '<key or label>': 'of a payment' },
    options: {
      '--out <folder>': required(once('the folder of the receipts')),
      ...payRunPlace,
      ...booksFile,
      '--font <file>': once('of payslips; default: Roboto, with Latin, Greek and Cyrillic'),
      '--days <n>': { about: 'days after which the disclosures prove nothing', initial: '3650' },
      '--memos': 'the disclosures prove the memos too',
    },
    load: async () => (await import('./commands/payer/receipts-command.ts')).runReceipts,
  },
  statement: {
    examples: [
      'statement --account 1200 --from 2026-11-01 --to 2026-11-30 --fiat EUR=0.92 --opening 50000.00 --out november.xml',
    ],
    about:
      'Write a statement of the account that pays, as a bank does (ISO 20022, camt.053): balances, and an entry for each batch. Moves no money.',
    options: {
      '--account <number>': required(once('of the account in the books, 1 to 34 characters')),
      '--from <time>': required(once('first day (UTC) or instant of the period')),
      '--to <time>': required(
        once('last day (UTC) of the period, which is included, or instant, which is not'),
      ),
      '--fiat <rate>': required(
        once(
          'the currency of the books and your rate, for example EUR=0.92, or USD=1: a token is no currency of a bank',
        ),
      ),
      '--opening <amount>': required(once('balance before the period, in that currency')),
      '--deposit <day=amount>': several(
        'what came into the account, in that currency, for example 2026-11-03=5000.00; repeatable',
      ),
      '--chain <key>': 'of the account; default: DISBURSE_CHAIN',
      '--token <symbol>': { about: 'token symbol', initial: 'USDC' },
      '--funder <address>': once('of the account, if several paid in the period'),
      '--payees': 'list the payees of each entry: reference, amount, wallet, memo',
      '--out <file>': once('a new file; default: standard output'),
    },
    load: async () => (await import('./commands/payer/statement-command.ts')).runStatement,
  },
};

function parseLimit(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) {
    throw new InvalidArgumentError('Give a number from 1 to 999999.');
  }
  return Number(text);
}
