/**
 * The commands about what a holder or a funder did: history, contacts, disclosures. Each imports its own code when it runs, as in cli.ts.
 *
 * @module
 */
import { type Command, Option } from 'commander';
import { tokenOption } from './cli-options.ts';
import type { ContactsOptions } from './commands/holder/contacts-command.ts';
import type { HistoryOptions } from './commands/holder/history-command.ts';
import type { DiscloseOptions } from './commands/keeping/disclose-command.ts';
import type { EventsOptions, VerifyOptions } from './commands/keeping/disclose-verify.ts';
import type { Output } from './terminal/command-output.ts';

export function addRecordCommands(
  program: Command,
  envFile: () => Option,
  output: Output,
  setCode: (code: number) => void,
): void {
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
    .addOption(envFile())
    .action(async (options: HistoryOptions) => {
      const { runHistory } = await import('./commands/holder/history-command.ts');
      setCode(await runHistory(options, output));
    });

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
    .addOption(envFile())
    .action(async (label: string, wallet: string, options: ContactsOptions) => {
      const { runAddContact } = await import('./commands/holder/contacts-command.ts');
      setCode(await runAddContact(label, wallet, options, output));
    });
  contacts
    .command('list')
    .description('Print the contacts.')
    .option('--json', 'print one JSON document')
    .addOption(envFile())
    .action(async (options: ContactsOptions) => {
      const { runListContacts } = await import('./commands/holder/contacts-command.ts');
      setCode(await runListContacts(options, output));
    });
  contacts
    .command('remove')
    .argument('<label>', 'of a contact')
    .description('Remove a contact.')
    .addOption(envFile())
    .action(async (label: string, options: ContactsOptions) => {
      const { runRemoveContact } = await import('./commands/holder/contacts-command.ts');
      setCode(await runRemoveContact(label, options, output));
    });

  addDisclosureCommands(program, envFile, output, setCode);
}

function addDisclosureCommands(
  program: Command,
  envFile: () => Option,
  output: Output,
  setCode: (code: number) => void,
): void {
  const collect = (text: string, earlier: readonly string[]): readonly string[] => [
    ...earlier,
    text,
  ];
  const several = (flags: string, what: string): Option =>
    new Option(flags, `${what}; repeatable`).argParser(collect).default([], 'all');
  const chain = (): Option => new Option('--chain <key>', 'chain key; default: DISBURSE_CHAIN');
  const disclose = program
    .command('disclose')
    .description(
      'Prove payments to an auditor by a signed file, without the viewing key; and verify such a file.',
    );
  disclose
    .command('payer')
    .description(
      "Prove payments that this agent made: the funder's batches, or transfers of its holder.",
    )
    .requiredOption('--purpose <text>', 'what the file may be used for, one line')
    .requiredOption('--out <file>', 'a new file')
    .option('--days <n>', 'days until the file proves nothing', '90')
    .option('--challenge <text>', 'the text that the verifier gave you: 16 to 128 characters')
    .addOption(several('--tx <hash>', 'payments of this transaction'))
    .addOption(several('--commitment <hash>', 'this payment'))
    .addOption(several('--job <key>', 'payments of this Idempotency-Key'))
    .option('--pay-run <label>', 'payments of this pay run')
    .option('--from <day>', 'paid on this day or later, UTC')
    .option('--to <day>', 'paid on this day or earlier, UTC')
    .option('--year <year>', 'paid in this year, UTC')
    .option('--memos', 'show the memos too; the file then has all sealed notes of each batch')
    .addOption(tokenOption())
    .addOption(chain())
    .addOption(envFile())
    .action(async (options: DiscloseOptions) => {
      const { runDisclosePayer } = await import('./commands/keeping/disclose-command.ts');
      setCode(await runDisclosePayer(options, output));
    });
  disclose
    .command('payee')
    .description(
      'Prove payments that the holder received. The agent must run. Uses DISBURSE_BALANCE_TOKEN.',
    )
    .requiredOption('--purpose <text>', 'what the file may be used for, one line')
    .requiredOption('--out <file>', 'a new file')
    .option('--days <n>', 'days until the file proves nothing', '90')
    .option('--challenge <text>', 'the text that the verifier gave you: 16 to 128 characters')
    .addOption(several('--tx <hash>', 'payments of this transaction'))
    .addOption(several('--commitment <hash>', 'this payment'))
    .option('--from <day>', 'received on this day or later, UTC')
    .option('--to <day>', 'received on this day or earlier, UTC')
    .option('--year <year>', 'received in this year, UTC')
    .option(
      '--memos',
      'show the memos of transfers too; those of batches only their payer can prove',
    )
    .addOption(tokenOption())
    .addOption(chain())
    .addOption(envFile())
    .action(async (options: DiscloseOptions) => {
      const { runDisclosePayee } = await import('./commands/keeping/disclose-command.ts');
      setCode(await runDisclosePayee(options, output));
    });
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
    .addOption(envFile())
    .action(async (file: string, options: VerifyOptions) => {
      const { runVerify } = await import('./commands/keeping/disclose-verify.ts');
      setCode(await runVerify(file, options, output));
    });
  disclose
    .command('events')
    .description(
      "Write the pool's events, from your own RPC, into a file with which disclosures are verified offline.",
    )
    .requiredOption('--out <file>', 'a new file')
    .option('--from-block <block>', 'default: the deployment')
    .option('--to-block <block>', 'default: the newest final block')
    .addOption(chain())
    .addOption(envFile())
    .action(async (options: EventsOptions) => {
      const { runEvents } = await import('./commands/keeping/disclose-verify.ts');
      setCode(await runEvents(options, output));
    });
}
