/**
 * The commands that keep keys and state: backups, files of notes, and the change of the viewing key. Each imports its own code when it runs, as in cli.ts.
 *
 * @module
 */
import { type Command, Option } from 'commander';
import { collect, envFileOption, type Run } from './cli-options.ts';

export function addKeepingCommands(program: Command, run: Run): void {
  const backup = program
    .command('backup')
    .description(
      "Back up and restore the agent's state and viewing keys, in one encrypted file. It never contains a spend key.",
    );
  backup
    .command('create')
    .description('Write a backup, also while the agent runs.')
    .requiredOption('--out <file>', 'file to write; it must not exist')
    .option(
      '--encrypt-to <recipient>',
      'encrypt to this age recipient (age1…); repeatable',
      collect,
      [],
    )
    .option('--passphrase-file <path>', 'encrypt with the passphrase in this file instead')
    .option('--json', 'print one JSON document')
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/keeping/backup-command.ts')).runBackupCreate),
    );

  const identity = (): Option =>
    new Option('--identity <path>', 'file with the age identity, as age-keygen writes it');
  const passphrase = (): Option =>
    new Option('--passphrase-file <path>', 'file with the passphrase');
  backup
    .command('verify <file>')
    .description('Open a backup, check every part, and print its date, W, P and contents.')
    .addOption(identity())
    .addOption(passphrase())
    .option('--json', 'print one JSON document')
    .action(
      run(async () => (await import('./commands/keeping/backup-command.ts')).runBackupVerify),
    );
  backup
    .command('restore <file>')
    .description('Restore a backup into a new or empty agent directory, and print what to do next.')
    .addOption(identity())
    .addOption(passphrase())
    .option('--to <directory>', 'directory to make; default: the agent directory')
    .option('--json', 'print one JSON document')
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/keeping/backup-command.ts')).runBackupRestore),
    );

  addNotesCommands(program, run);

  program
    .command('rotate-viewing-key')
    .description(
      "Change the holder's viewing key and P: writes the new configuration, then registers the new key and moves the notes to it. Run it again to continue.",
    )
    .option('--new-key <file>', 'file of the new viewing key, as `viewing-key new` prints it')
    .option('--yes', 'change the configuration without a question')
    .addOption(envFileOption())
    .action(
      run(async () => (await import('./commands/keeping/rotate-command.ts')).runRotateViewingKey),
    );
}

function addNotesCommands(program: Command, run: Run): void {
  const chain = (): Option => new Option('--chain <key>', 'chain key; default: DISBURSE_CHAIN');
  const notes = program
    .command('notes')
    .description(
      "Keep the holder's sealed notes in a file, and take notes from one. Asks no platform; the agent may run. Moves no money.",
    );
  notes
    .command('export')
    .description(
      'Write every sealed note that the agent directory has of this holder. The file contains no key.',
    )
    .option('--file <path>', 'a new file, mode 0600; default: standard output')
    .option('--token <symbol>', 'notes of this token; default: every token')
    .option('--json', 'with --file: print one JSON document')
    .addOption(chain())
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/keeping/notes-command.ts')).runNotesExport));
  notes
    .command('import')
    .argument('<file>', 'of "notes export", or of "redeliver --out"')
    .description(
      'Take notes from a file: each is compared with the chain and opened with the viewing key. Ends with 1 if an entry is refused.',
    )
    .option('--json', 'print one JSON document')
    .addOption(chain())
    .addOption(envFileOption())
    .action(run(async () => (await import('./commands/keeping/notes-command.ts')).runNotesImport));
}
