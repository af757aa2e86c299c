/**
 * The table of `disburse-agent schedule`. Each command loads its own code when it runs, as in cli-payer.ts.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';
import {
  type Commands,
  chain,
  json,
  numberFormat,
  type Options,
  once,
  required,
} from './cli-options.ts';

const name = { '<name>': 'of a schedule' };
const count: Options = {
  '--count <n>': { about: 'how many; default: 3', parse: parseCount },
};

export const scheduleCommands: Commands = {
  schedule: {
    about:
      'Payments on a day or again and again: prepared ahead, released by people before a deadline, and skipped otherwise (docs/operations/schedules.md).',
    below: {
      add: {
        examples: [
          "schedule add monthly --roster 'payroll-{period}.csv' --label 'salaries-{period}' --decimal --when 'last working day' --time 09:00 --zone Europe/Berlin",
          'schedule add bonus --roster bonus.csv --label bonus-2026 --decimal --on 2026-12-24 --time 12:00 --zone UTC',
        ],
        about: 'Add a schedule, and print its next three occurrences. Needs a release policy.',
        args: { '<name>': 'small letters, digits and dashes' },
        options: {
          '--roster <csv>': required(
            once('path of the roster; {period} stands for the period, for example 2027-03'),
          ),
          '--label <label>': required(
            once('label of each payment, with {period}, for example salaries-{period}'),
          ),
          '--when <rule>': once(
            'last working day, first working day, last day, first day, day 25, every friday, every day, every working day, or the last three fields of cron: day of the month, month, day of the week',
          ),
          '--on <day>': once('one day instead of a rule, for example 2026-12-24'),
          '--weekend <move>': {
            about: 'pay a Saturday or Sunday earlier (Friday) or later (Monday); default: keep',
            choices: ['keep', 'earlier', 'later'],
          },
          '--holidays <file>': once(
            'list of days on which nothing is paid, one a line, for example 2027-12-24',
          ),
          '--on-holiday <move>': {
            about: 'pay on the working day before (earlier) or after (later), or not at all (skip)',
            choices: ['earlier', 'later', 'skip'],
          },
          '--time <hh:mm>': required(once('local time of the payment')),
          '--zone <zone>': required(once('time zone, for example Europe/Berlin')),
          '--prepare-before <length>': {
            about: 'how long before the payment the roster is read, checked and prepared',
            initial: '3d',
          },
          '--release-before <length>': {
            about: 'how long before the payment people must have released it',
            initial: '1d',
          },
          '--pay-within <length>': {
            about: 'how late it may still be paid, for example after an outage of the agent',
            initial: '12h',
          },
          '--token <symbol>': { about: 'token symbol', initial: 'USDC' },
          ...chain,
          '--unregistered <rule>': {
            about: 'what to do with recipients that are not enrolled',
            choices: ['fail', 'skip'],
          },
          '--decimal': "amounts are in token units, by the token's decimals",
          ...numberFormat,
          ...json,
        },
        load: async () => (await import('./commands/automation/schedule-command.ts')).runAdd,
      },
      list: {
        about: 'Print every schedule and when it pays next.',
        options: json,
        load: async () => (await import('./commands/automation/schedule-command.ts')).runList,
      },
      show: {
        about: 'Print a schedule, and what became of each of its occurrences.',
        args: name,
        options: json,
        load: async () => (await import('./commands/automation/schedule-command.ts')).runShow,
      },
      next: {
        about:
          'Print the next occurrences: when each is prepared, released at the latest, and paid.',
        args: name,
        options: { ...count, ...json },
        load: async () => (await import('./commands/automation/schedule-command.ts')).runNext,
      },
      'dry-run': {
        about:
          'Check the rosters of the next occurrences that are there, without a proof and without a payment.',
        args: name,
        options: { ...count, ...json },
        load: async () => (await import('./commands/automation/schedule-command.ts')).runDryRun,
      },
      pause: {
        about: 'Prepare nothing more, until it is resumed.',
        args: name,
        options: json,
        load: async () => (await import('./commands/automation/schedule-command.ts')).runPause,
      },
      resume: {
        about: 'Prepare again. What passed its deadline meanwhile is skipped.',
        args: name,
        options: json,
        load: async () => (await import('./commands/automation/schedule-command.ts')).runResume,
      },
      skip: {
        about: 'Decide that one occurrence is not paid, for good. What is prepared is cancelled.',
        args: { ...name, '<period>': 'as "schedule next" prints it' },
        options: json,
        load: async () => (await import('./commands/automation/schedule-command.ts')).runSkip,
      },
      remove: {
        about: 'Remove a schedule. What became of its periods stays decided.',
        args: name,
        options: json,
        load: async () => (await import('./commands/automation/schedule-command.ts')).runRemove,
      },
    },
  },
};

function parseCount(text: string): number {
  if (!/^[1-9][0-9]?$/.test(text)) {
    throw new InvalidArgumentError('Give a number from 1 to 99.');
  }
  return Number(text);
}
