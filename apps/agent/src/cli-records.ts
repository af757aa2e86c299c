/**
 * The commands about what a holder or a funder did: history, contacts, disclosures. Each imports its own code when it runs, as in cli.ts.
 *
 * @module
 */
import { type Command, Option } from 'commander';
import { collect, envFileOption, type Run, tokenOption } from './cli-options.ts';

export function addRecordCommands(program: Command, run: Run): void {
  program
    .command('history')
    .description(
      "Print what happened to the holder's notes in one token, through the agent on this machine. Times are UTC. Uses DISBURSE_BALANCE_TOKEN.",
    )
    .addOption(tokenOption())
    .option('--from <day>', 'from this day on: 2026-05-31, or an instant in UTC')
    .option('--to <day>', 'up to and with this day, or before an instant in UTC')
    .option('--year <year>', 'one year')
    .option('--csv', 'print CSV for spreadsheets and tax programs')
    .option('--json', 'print one JSON document; with --follow one for each entry')
    .option('--follow', 'go on, and report arrivals and outgoings as they become final')
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/holder/history-command.ts')).runHistory));

  const contacts = program
    .command('contacts')
    .description(
      'Labels for W on this machine, for transfers and histories. A label is sent nowhere.',
    );
  contacts
    .command('add')
    .argument('<label>', 'for example ben; used as @ben')
    .argument('<W>', 'the wallet public key, which "identity" prints as walletPub')
    .description(
      'Add a contact, or renew its evidence. Asks the platform about the wallet, as a payment does.',
    )
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/holder/contacts-command.ts')).runAddContact));
  contacts
    .command('list')
    .description('Print the contacts.')
    .option('--json', 'print one JSON document')
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/holder/contacts-command.ts')).runListContacts),
    );
  contacts
    .command('remove')
    .argument('<label>', 'of a contact')
    .description('Remove a contact.')
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/holder/contacts-command.ts')).runRemoveContact),
    );

  addDisclosureCommands(program, run);
}

function addDisclosureCommands(program: Command, run: Run): void {
  const several = (flags: string, what: string): Option =>
    new Option(flags, `${what}; repeatable`).argParser(collect).default([], 'all');
  const chain = (): Option => new Option('--chain <key>', 'chain key; default: DISBURSE_CHAIN');
  const disclose = program
    .command('disclose')
    .description(
      'Prove payments to an auditor by a signed file, without the viewing key; and verify such a file.',
    );
  const addTerms = (command: Command): Command =>
    command
      .requiredOption('--purpose <text>', 'what the file may be used for, one line')
      .requiredOption('--out <file>', 'a new file')
      .option('--days <n>', 'days until the file proves nothing', '90')
      .option('--challenge <text>', 'the text that the verifier gave you: 16 to 128 characters')
      .addOption(several('--tx <hash>', 'payments of this transaction'))
      .addOption(several('--commitment <hash>', 'this payment'));
  const addDays = (command: Command, what: string): Command =>
    command
      .option('--from <day>', `${what} on this day or later, UTC`)
      .option('--to <day>', `${what} on this day or earlier, UTC`)
      .option('--year <year>', `${what} in this year, UTC`);
  const payer = addTerms(
    disclose
      .command('payer')
      .description(
        "Prove payments that this agent made: the funder's batches, or transfers of its holder.",
      ),
  )
    .addOption(several('--job <key>', 'payments of this Idempotency-Key'))
    .option('--pay-run <label>', 'payments of this pay run');
  addDays(payer, 'paid')
    .option('--memos', 'show the memos too; the file then has all sealed notes of each batch')
    .addOption(tokenOption())
    .addOption(chain())
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/keeping/disclose-command.ts')).runDisclosePayer),
    );
  const payee = addTerms(
    disclose
      .command('payee')
      .description(
        'Prove payments that the holder received. The agent must run. Uses DISBURSE_BALANCE_TOKEN.',
      ),
  );
  addDays(payee, 'received')
    .option(
      '--memos',
      'show the memos of transfers too; those of batches only their payer can prove',
    )
    .addOption(tokenOption())
    .addOption(chain())
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/keeping/disclose-command.ts')).runDisclosePayee),
    );
  disclose
    .command('verify')
    .argument('<file>', 'a disclosure')
    .description(
      'Print what a disclosure proves, by your own RPC or a file of "disclose events". Needs no agent.',
    )
    .option('--challenge <text>', 'the text that you gave to the discloser')
    .option('--archive <file>', 'a file that you made with "disclose events"; asks no RPC')
    .option('--json', 'print one JSON document')
    .addOption(chain())
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/keeping/disclose-verify.ts')).runVerify));
  disclose
    .command('events')
    .description(
      "Write the pool's events, from your own RPC, into a file with which disclosures are verified offline.",
    )
    .requiredOption('--out <file>', 'a new file')
    .option('--from-block <block>', 'default: the deployment')
    .option('--to-block <block>', 'default: the newest final block')
    .addOption(chain())
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/keeping/disclose-verify.ts')).runEvents));
}
