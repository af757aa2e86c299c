/**
 * The commands of a holder. Each imports its own code when it runs, as in cli.ts.
 *
 * @module
 */
import type { Command, Option } from 'commander';
import type { IdentityOptions } from './commands/identity-command.ts';
import type { OnboardOptions } from './commands/onboard-command.ts';
import type { ViewingKeyOptions } from './commands/viewing-key-command.ts';
import type { Output } from './terminal/command-output.ts';

export function addHolderCommands(
  program: Command,
  envFile: () => Option,
  output: Output,
  setCode: (code: number) => void,
): void {
  program
    .command('identity')
    .description(
      "Print the holder's identity as JSON: address, W and P of the configured holder signer. Sends nothing.",
    )
    .addOption(envFile())
    .action(async (options: IdentityOptions) => {
      const { printIdentity } = await import('./commands/identity-command.ts');
      setCode(await printIdentity(options, output));
    });

  program
    .command('onboard')
    .description(
      'Sign in to a platform, open the account, enrol the holder, mint credentials, and write them into a configuration file.',
    )
    .requiredOption('--platform <url>', "the platform's base URL")
    .option('--enroll-holder', 'enrol the configured holder with its W and P')
    .option(
      '--capabilities <list>',
      'API keys to mint, comma separated: disburse, holder.read, holder.transfer, holder.send',
    )
    .option('--out <path>', 'file to write; default: agent.env in the agent directory')
    .option(
      '--login <signer>',
      'who signs the session: holder (the configured holder signer); default: ONBOARD_PRIVATE_KEY',
    )
    .addOption(envFile())
    .action(async (options: OnboardOptions) => {
      const { runOnboard } = await import('./commands/onboard-command.ts');
      setCode(await runOnboard(options, output));
    });

  program
    .command('viewing-key')
    .description('Make viewing keys.')
    .command('new')
    .description(
      'Make a viewing key and print it once, with its encryption key on each curve. Stores nothing: keep the output.',
    )
    .option('--encrypt-to <recipient>', 'print it encrypted to this age recipient (age1…) instead')
    .action(async (options: ViewingKeyOptions) => {
      const { printNewViewingKey } = await import('./commands/viewing-key-command.ts');
      setCode(await printNewViewingKey(options, output));
    });
}
