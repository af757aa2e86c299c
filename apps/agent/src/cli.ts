/**
 * The commands of `disburse-agent`. Each command imports its own code when it runs, and nothing here imports `@pool/core`
 * (which loads ethers) at the top: `--help` and `--version` answer without them.
 *
 * @module
 */

import { exitCodes } from '@pool/pay-run/exit-codes';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { addHolderCommands } from './cli-holder.ts';
import { addKeepingCommands } from './cli-keeping.ts';
import { createRun, envFileOption, numberFormatOption, type Run } from './cli-options.ts';
import { addRecordCommands } from './cli-records.ts';
import { addSpendCommands } from './cli-spend.ts';
import { version } from './config/version.ts';
import type { Output } from './terminal/command-output.ts';

export type Streams = Output & { err(text: string): void };

/** Runs one command line. @returns the exit code */
export async function runCli(argv: readonly string[], streams: Streams): Promise<number> {
  let code: number = exitCodes.ok;
  const program = createProgram(streams, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.error;
    }
    const { isPoolError } = await import('@pool/core');
    if (isPoolError(error)) {
      const { exitCodeOfError } = await import('@pool/pay-run');
      streams.err(`${error.code}: ${error.message}`);
      return exitCodeOfError(error.code);
    }
    streams.err('internal_error: an unexpected error; run again with DISBURSE_LOG_LEVEL=debug');
    return exitCodes.error;
  }
}

function collectPart(text: string, earlier: readonly number[]): readonly number[] {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) {
    throw new InvalidArgumentError('Give the number of a part, as the summary shows it.');
  }
  return [...earlier, Number(text)];
}

/** Refuses a second roster or label, which would silently replace the first. */
function takeOnce(text: string, earlier: string | undefined): string {
  if (earlier !== undefined) {
    throw new InvalidArgumentError(
      'Give this option once: one command pays one roster under one label.',
    );
  }
  return text;
}

function createProgram(streams: Streams, setCode: (code: number) => void): Command {
  const program = new Command('disburse-agent')
    .description('Pays rosters from a shielded pool: the disbursement agent and its commands.')
    .version(version)
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => streams.out(text.trimEnd()), writeErr: streams.err });
  const run = createRun(streams, setCode);

  program
    .command('serve')
    .description('Run the agent: HTTP routes and the worker.')
    .addOption(envFileOption())
    .action(async (options: { envFile?: string }) => {
      const { readConfig } = await import('./config/config.ts');
      const { createAgentLog } = await import('./services/agent-log.ts');
      const { serveAgent } = await import('./serve.ts');
      const config = readConfig(options.envFile);
      const log = createAgentLog(config.logLevel);
      await serveAgent(config, log, (url) => streams.out(`disburse-agent listens on ${url}`));
    });

  program
    .command('disburse')
    .description('Pay a roster through the agent on this machine.')
    .requiredOption(
      '--file <csv>',
      'roster: columns address, amount and perhaps memo, separated by commas, semicolons or tabs; - is standard input',
      takeOnce,
    )
    .requiredOption(
      '--pay-run <label>',
      'names this payment; the same roster under the same label is paid once',
      takeOnce,
    )
    .option('--token <symbol>', 'token symbol', 'USDC')
    .option('--chain <key>', 'chain key; default: DISBURSE_CHAIN')
    .addOption(
      new Option(
        '--unregistered <rule>',
        'what to do with recipients that are not enrolled',
      ).choices(['fail', 'skip']),
    )
    .option('--decimal', "amounts are in token units, by the token's decimals")
    .addOption(numberFormatOption())
    .option('--dry-run', 'check everything, without a proof and without a payment')
    .option('--json', 'print one JSON document: job, timings, settlement')
    .option('--yes', 'on a terminal: send without a question (elsewhere there is no question)')
    .option(
      '--split',
      'split a roster above the ceiling into parts and pay them one after the other',
    )
    .addOption(
      new Option(
        '--retry <part>',
        'with --split: send this part again, under a new key, if its job failed; repeatable',
      )
        .argParser(collectPart)
        .default([], 'none'),
    )
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/payer/payer-commands.ts')).runDisburse));

  program
    .command('recipients')
    .description('Inspect the recipients of a roster.')
    .command('check')
    .description(
      'Report which recipients of a roster are not ready to be paid, and why. Moves no money.',
    )
    .requiredOption('--file <csv>', 'roster: address,amount[,memo]; - is standard input', takeOnce)
    .option('--token <symbol>', 'token symbol', 'USDC')
    .option('--chain <key>', 'chain key; default: DISBURSE_CHAIN')
    .option('--decimal', "amounts are in token units, by the token's decimals")
    .addOption(numberFormatOption())
    .option('--json', 'print one JSON document')
    .option('--csv <path>', 'write the report as a table for a spreadsheet')
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/payer/payer-commands.ts')).runCheckRecipients),
    );

  program
    .command('cancel')
    .argument('<key or label>', 'an Idempotency-Key, or the label of a pay run of this directory')
    .description(
      'Cancel a payment: at once before its batch is sent, afterwards by withdrawing it on chain. Waits for the outcome.',
    )
    .option('--chain <key>', 'of the pay run, if several have the label')
    .option('--token <symbol>', 'of the pay run, if several have the label')
    .option('--json', 'print one JSON document: the job')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/payer/payer-commands.ts')).runCancel));

  program
    .command('config')
    .description('Inspect the configuration.')
    .command('check')
    .description(
      'Print every variable, its state and its origin, secrets only as set or unset, and whether enclaves, custodians and the approve process answer. Starts nothing and signs nothing.',
    )
    .option('--json', 'print one JSON document')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/setup/config-report.ts')).runConfigCheck));

  program
    .command('redeliver')
    .argument('[key]', 'Idempotency-Key of a paid job')
    .description(
      'Deliver the sealed notes of paid batches to the platform again, or write them to a file. Moves no money.',
    )
    .option('--all', 'every paid key of the job store')
    .option('--out <file>', 'write the notes to a new file instead')
    .option('--for <P>', 'with --out: only the notes of this encryption key, for its holder')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/payer/payer-commands.ts')).runRedeliver));

  program
    .command('approve')
    .description(
      "The gate beside a custodian: judges and votes, by its own configuration (APPROVE_*). 'approve --help' lists its commands.",
    )
    .argument('[args...]', 'a command of the gate, and its options')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (args: readonly string[]) => {
      const { runApprove } = await import('./commands/setup/approve-command.ts');
      setCode(await runApprove(args, streams));
    });

  addPayRunCommands(program, run);
  addTenancyCommands(program, run);
  addHolderCommands(program, run);
  addKeepingCommands(program, run);
  addSpendCommands(program, run);
  addRecordCommands(program, run);
  return program;
}

function addPayRunCommands(program: Command, run: Run): void {
  const payRuns = program
    .command('pay-runs')
    .description('The pay runs that were sent from this directory. Moves no money.');
  const addOptions = (command: Command): Command =>
    command
      .option('--chain <key>', 'of this chain only')
      .option('--token <symbol>', 'of this token only')
      .option('--json', 'print one JSON document')
      .addOption(envFileOption());
  addOptions(
    payRuns.command('list').description('Print every label, and what became of it.'),
  ).action(run(async () => (await import('./commands/payer/payer-commands.ts')).runListPayRuns));
  addOptions(
    payRuns
      .command('show')
      .argument('<label>', 'of a pay run')
      .description('Print the parts of a pay run: state, transaction, key.'),
  ).action(run(async () => (await import('./commands/payer/payer-commands.ts')).runShowPayRun));
}

function addTenancyCommands(program: Command, run: Run): void {
  const tenancy = program
    .command('tenancy')
    .description(
      'Inspect or change the employer whose payments this agent makes. It is pinned in the agent directory.',
    );
  tenancy
    .command('show')
    .description(
      'Print the pinned employer, and whether configuration and platform name the same one.',
    )
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/setup/tenancy-command.ts')).showTenancy));
  tenancy
    .command('keys')
    .description('Print every Idempotency-Key of the job store as CSV, and whether it was paid.')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/setup/tenancy-command.ts')).listTenancyKeys));
  tenancy
    .command('new')
    .description(
      'Begin a new tenancy: from then on this directory pays for another employer. Without --accept it only reports the consequences.',
    )
    .option('--accept <employerId>', 'the new employer')
    .option('--leave-open', 'leave jobs that are underway in the job store')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/setup/tenancy-command.ts')).beginTenancy));
}
