/**
 * The tables of the commands of what the agent does by itself: webhooks.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';
import { type Commands, json } from './cli-options.ts';

const target = { '<target>': 'id of a target in the file of DISBURSE_WEBHOOKS_FILE' };

export const automationCommands: Commands = {
  webhooks: {
    about: 'Who is told what happens to jobs, and what became of each delivery.',
    below: {
      list: {
        about: 'Print every target, its state, and how many deliveries wait or have failed.',
        options: json,
        load: async () => (await import('./commands/automation/webhooks-command.ts')).runList,
      },
      deliveries: {
        about: 'Print the newest deliveries of a target: event, attempts, answer.',
        args: target,
        options: {
          '--limit <n>': { about: 'how many; default: 20', parse: parseLimit },
          ...json,
        },
        load: async () => (await import('./commands/automation/webhooks-command.ts')).runDeliveries,
      },
      test: {
        about: 'Send a test event now. An answer switches a disabled target on again.',
        args: target,
        load: async () => (await import('./commands/automation/webhooks-command.ts')).runTest,
      },
      replay: {
        about: 'Send an event again under its id, or all that failed. The running agent sends it.',
        args: { ...target, '[event]': 'id of an event; default: every failed delivery' },
        load: async () => (await import('./commands/automation/webhooks-command.ts')).runReplay,
      },
      rotate: {
        about:
          'Give a target a new secret. Events are signed with the new and the former one, until --finish.',
        args: target,
        options: { '--finish': 'the receiver has the new secret: forget the former one' },
        load: async () => (await import('./commands/automation/webhooks-command.ts')).runRotate,
      },
    },
  },
};

function parseLimit(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text)) {
    throw new InvalidArgumentError('Give a number from 1 to 9999.');
  }
  return Number(text);
}
