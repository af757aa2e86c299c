/**
 * The commands of a holder. Each imports its own code when it runs, as in cli.ts.
 *
 * @module
 */
import type { Command } from 'commander';
import { collect, envFileOption, type Run, tokenOption } from './cli-options.ts';

export function addHolderCommands(program: Command, run: Run): void {
  program
    .command('identity')
    .description(
      "Print the holder's identity as JSON: address, W and P of the configured holder signer. Sends nothing.",
    )
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/holder/identity-command.ts')).printIdentity));

  program
    .command('balance')
    .description(
      'Print what the holder can spend, through the agent on this machine. Uses DISBURSE_BALANCE_TOKEN.',
    )
    .addOption(tokenOption())
    .option('--watch', 'go on, and print each arrival and the new balance, until Ctrl-C')
    .option('--json', 'print one JSON document; with --watch one for each arrival and balance')
    .addOption(envFileOption())
    .action(
      run(async ({ watch }: { readonly watch?: boolean }) =>
        watch === true
          ? (await import('./commands/holder/watch-command.ts')).runWatch
          : (await import('./commands/holder/balance-command.ts')).runBalance,
      ),
    );

  program
    .command('rescan')
    .description(
      "Make the agent read the pool's events and the platform's notes again, then print the balance. Moves no money.",
    )
    .option('--from <block>', 'read the chain from this block on; default: from the deployment')
    .addOption(tokenOption())
    .option('--json', 'print one JSON document')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/holder/balance-command.ts')).runRescan));

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
      '--chains <file>',
      'write chains.json from the file that the operator of the platform publishes, after comparing it with each chain',
    )
    .option(
      '--rpc <chain=url>',
      'with --chains: the node that you trust for a chain; once for each chain',
      collect,
      [],
    )
    .option(
      '--login <signer>',
      'who signs the session: holder (the configured holder signer) or custodian_a (the holder’s wallet there, after a vote); default: ONBOARD_PRIVATE_KEY',
    )
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/setup/onboard-command.ts')).runOnboard));

  program
    .command('viewing-key')
    .description('Make viewing keys.')
    .command('new')
    .description(
      'Make a viewing key and print it once, with its encryption key on each curve. Stores nothing: keep the output.',
    )
    .option('--encrypt-to <recipient>', 'print it encrypted to this age recipient (age1…) instead')
    .action(
      run(
        async () => (await import('./commands/holder/viewing-key-command.ts')).printNewViewingKey,
      ),
    );
}
