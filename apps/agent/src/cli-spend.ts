/**
 * The commands that spend a holder's notes. Each imports its own code when it runs, as in cli.ts.
 *
 * @module
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  collect,
  envFileOption,
  numberFormatOption,
  type Run,
  tokenOption,
} from './cli-options.ts';

export function addSpendCommands(program: Command, run: Run): void {
  addConsolidate(program, run);
  addOptions(
    program
      .command('transfer')
      .description(
        'Pay other holders inside the pool, through the agent on this machine. Uses DISBURSE_TRANSFER_TOKEN. Prints the receipt.',
      )
      .addOption(
        new Option(
          '--to <W>',
          "a payee's wallet public key or contact @label, or either with :<amount>; repeat it to pay several in one transfer",
        )
          .argParser(collect)
          .makeOptionMandatory(),
      )
      .option(
        '--amount <amount>',
        `for every --to without an amount of its own; ${amountForms}`,
        takeOnce,
      ),
  )
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/holder/spend-command.ts')).runTransfer));

  const send = program.command('send');
  addOptions(
    send
      .description(
        "Withdraw from the pool to a pinned destination or to the holder's own wallet, through the agent on this machine. Uses DISBURSE_SEND_TOKEN. Prints the receipt.",
      )
      .option('--amount <amount>', `how much to withdraw; ${amountForms}`, takeOnce)
      .option(
        '--to <label>',
        "a label of DISBURSE_SEND_DESTINATIONS; default: the holder's own wallet",
        takeOnce,
      ),
  )
    .option(
      '--self-submit',
      'withdraw without platform, gate and agent: in this process, with gas paid by DISBURSE_GAS_PRIVATE_KEY; without --amount it submits the withdrawals that are open',
    )
    .option(
      '--again',
      'with --self-submit: pay although an equal withdrawal was paid in the last 24 hours',
    )
    .option('--notes <file>', 'with --self-submit: also use the sealed notes of this exported file')
    .addOption(envFileOption())
    .action(
      run(async (options: SendOptions) => {
        if (options.selfSubmit === true) {
          return (await import('./commands/self-submit-command.ts')).runSelfSubmit;
        }
        if (options.amount === undefined) {
          return send.error("error: required option '--amount <amount>' not specified");
        }
        if (options.notes !== undefined) {
          send.error("error: option '--notes <file>' needs --self-submit");
        }
        if (options.again !== undefined) {
          send.error("error: option '--again' needs --self-submit");
        }
        return (await import('./commands/holder/spend-command.ts')).runSend;
      }),
    );
}

type SendOptions = {
  readonly selfSubmit?: boolean;
  readonly amount?: string;
  readonly notes?: string;
  readonly again?: boolean;
};

/** Merges notes. Not glued to a spend: the number of its inputs would tell how many notes there are. */
function addConsolidate(program: Command, run: Run): void {
  program
    .command('consolidate')
    .description(
      'Merge notes of the holder, so that one spend can cover more, through the agent on this machine. Uses DISBURSE_TRANSFER_TOKEN. Shows its steps and their time first.',
    )
    .option(
      '--until <amount>',
      `what one spend must cover afterwards; ${amountForms}; default: everything that is free to spend`,
      takeOnce,
    )
    .addOption(decimalOption())
    .addOption(numberFormatOption())
    .addOption(tokenOption())
    .option('--dry-run', 'show the steps and their time, and send nothing')
    .option('--json', 'print one JSON document: the plan and the receipts')
    .option('--yes', yesText('begin'))
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/holder/consolidate-command.ts')).runConsolidate),
    );
}

function addOptions(command: Command): Command {
  return command
    .addOption(decimalOption())
    .addOption(numberFormatOption())
    .addOption(tokenOption())
    .option('--chain <key>', "one of the agent's chains with a pool; default: DISBURSE_CHAIN")
    .option('--dry-run', 'check and prove everything, and send nothing')
    .option(
      '--key <key>',
      'show the outcome of the spend that an earlier run sent under this key; never begins another one',
    )
    .option('--yes', yesText('send'));
}

/** How every amount can be typed. */
const amountForms = 'base units (as 1000500000), or tokens with their symbol (as 1000.50USDC)';

function decimalOption(): Option {
  return new Option('--decimal', 'amounts without a symbol are in tokens');
}

function yesText(what: string): string {
  return `${what} without a question (where there is no terminal, there is none); takes less than one token only if it is written in tokens`;
}

/** Refuses a second value, which would silently replace the first. */
function takeOnce(text: string, earlier: string | undefined): string {
  if (earlier !== undefined) {
    throw new InvalidArgumentError('Give this option once.');
  }
  return text;
}
