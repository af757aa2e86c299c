/**
 * The commands of the gate, for `pool-approve` and for `disburse-agent approve`. Each imports its own code when it runs.
 *
 * @module
 */
import { type Hex32, isPoolError, parseHex32 } from '@pool/core';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { RebaselineOptions } from './commands/ledger-command.ts';
import { type CommandContext, type CommonOptions, exitCodes } from './commands/output.ts';
import type { ReleaseOptions } from './commands/release-command.ts';

export type ApproveCliOptions = CommandContext & {
  /** How the program is called, for help texts. */
  readonly name: string;
  readonly version: string;
};

/** Runs one command line. @param argv - without the program's own name. @returns the exit code */
export async function runApproveCli(
  argv: readonly string[],
  options: ApproveCliOptions,
): Promise<number> {
  const { streams } = options;
  let code: number = exitCodes.ok;
  const program = createProgram(options, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.error;
    }
    if (isPoolError(error)) {
      const { findErrorEntry } = await import('@pool/core');
      streams.err(`${error.code}: ${error.message}`);
      return findErrorEntry(error.code)?.exit ?? exitCodes.error;
    }
    streams.err(await describeUnexpected(error, options));
    return exitCodes.error;
  }
}

/** The stack is for whoever asks for it: its message may name what the command read. */
async function describeUnexpected(error: unknown, { source }: CommandContext): Promise<string> {
  if (await isDebugging(source)) {
    return `internal_error: ${error instanceof Error ? error.stack : String(error)}`;
  }
  return 'internal_error: an unexpected error; APPROVE_LOG_LEVEL=debug in the environment or in the configuration file shows it';
}

async function isDebugging(source: CommandContext['source']): Promise<boolean> {
  const { parseGatePlaces } = await import('./config/config.ts');
  try {
    return ['debug', 'trace'].includes(parseGatePlaces(source).logLevel);
  } catch {
    return false;
  }
}

type SetCode = (code: number) => void;

function createProgram(options: ApproveCliOptions, setCode: SetCode): Command {
  const { streams, name, version } = options;
  const program = new Command(name)
    .description(
      'The gate beside a custodian: rebuilds what it is asked to approve, applies its policy, and votes.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => streams.out(text.trimEnd()), writeErr: streams.err })
    .option('--dry-run', 'judge everything, vote nothing, and log what the vote would be')
    .option('--standby', 'wait while another process votes with the ledger, then take over')
    .addOption(envFile())
    .action(async (given: { dryRun?: boolean; standby?: boolean; envFile?: string }) => {
      const { runServe } = await import('./commands/serve-command.ts');
      await runServe(given, options);
    });
  addExplainingCommands(program, options, setCode);
  addPeopleCommands(program, options, setCode);
  addLedgerCommands(program, options, setCode);
  addFileCommands(program, options, setCode);
  return program;
}

function envFile(): Option {
  return new Option(
    '--env-file <path>',
    "configuration file; default: $APPROVE_ENV, then approve.env in the gate's directory",
  );
}

function addCommon(command: Command): Command {
  return command.option('--json', 'print one JSON document').addOption(envFile());
}

/** A key, or what a person signed elsewhere. */
function addSigning(command: Command): Command {
  return addCommon(command)
    .option(
      '--key-file <path>',
      "the person's Ed25519 key: PKCS#8 PEM, or 32 bytes of hex; - reads standard input",
    )
    .option(
      '--statement <path>',
      'what the person signed elsewhere: the output of "statement"; - reads standard input',
    )
    .option('--signature <hex>', 'the Ed25519 signature of the statement, 64 bytes');
}

function addExplainingCommands(program: Command, context: CommandContext, setCode: SetCode): void {
  addCommon(
    program
      .command('doctor')
      .description('Prove that the gate cannot be gone around, or say what is wrong.'),
  ).action(async (given: CommonOptions, command: Command) => {
    const { runDoctor } = await import('./commands/doctor-command.ts');
    setCode(await runDoctor(context, merge(given, command)));
  });
  addCommon(
    program
      .command('check <manifest>')
      .description(
        'Show what a manifest pays, and explain rule by rule what the gate would answer: its digest, a manifest file, or - for standard input.',
      ),
  ).action(async (manifest: string, given: CommonOptions, command: Command) => {
    const { runCheck } = await import('./commands/check-command.ts');
    setCode(await runCheck(manifest, merge(given, command), context));
  });
  addCommon(
    program.command('pending').description('List what waits, and which of it people must release.'),
  ).action(async (given: CommonOptions, command: Command) => {
    const { runPending } = await import('./commands/list-commands.ts');
    setCode(await runPending(merge(given, command), context));
  });
  addCommon(
    program.command('manifests').description('List the stored manifests and what became of them.'),
  ).action(async (given: CommonOptions, command: Command) => {
    const { runManifests } = await import('./commands/list-commands.ts');
    setCode(await runManifests(merge(given, command), context));
  });
}

function addPeopleCommands(program: Command, context: CommandContext, setCode: SetCode): void {
  const words = {
    release: 'Release a batch that waits, with the key of a person whom the policy lists.',
    deny: 'Deny a batch for good, with the key of a person whom the policy lists.',
  } as const;
  program
    .command('statement <manifest>')
    .description('Print the statement about a batch that a person signs on a machine of their own.')
    .option('--deny', 'a statement that denies the batch; without it, one that releases it')
    .addOption(envFile())
    .action(
      async (manifest: string, given: CommonOptions & { deny?: boolean }, command: Command) => {
        const { runStatement } = await import('./commands/release-command.ts');
        setCode(await runStatement(manifest, merge(given, command), context));
      },
    );
  for (const decision of ['release', 'deny'] as const) {
    addSigning(program.command(`${decision} <manifest>`).description(words[decision])).action(
      async (manifest: string, given: ReleaseOptions, command: Command) => {
        const { runRelease } = await import('./commands/release-command.ts');
        setCode(await runRelease(decision, manifest, merge(given, command), context));
      },
    );
  }
}

function addLedgerCommands(program: Command, context: CommandContext, setCode: SetCode): void {
  const ledger = addCommon(
    program.command('ledger').description('The state of the ledger, and its history.'),
  ).action(async (given: CommonOptions, command: Command) => {
    const { runLedgerStatus } = await import('./commands/ledger-command.ts');
    setCode(await runLedgerStatus(merge(given, command), context));
  });
  addCommon(
    ledger
      .command('export')
      .description('Print the history of the ledger, for another gate or for a backup.')
      .option('--out <file>', 'write it to a new file, mode 0600'),
  ).action(async (given: CommonOptions & { out?: string }, command: Command) => {
    const { runLedgerExport } = await import('./commands/ledger-command.ts');
    setCode(await runLedgerExport(merge(given, command), context));
  });
  addCommon(
    ledger
      .command('import <file>')
      .description('Merge an exported history. Nothing that is stored is lowered or removed.'),
  ).action(async (file: string, given: CommonOptions, command: Command) => {
    const { runLedgerImport } = await import('./commands/ledger-command.ts');
    setCode(await runLedgerImport(file, merge(given, command), context));
  });
  addCommon(
    ledger
      .command('erase')
      .description(
        'Make room at once: erase manifests that are past their deadline, or were never approved while no request waits for them.',
      )
      .requiredOption('--by <name>', 'who decides it, for the audit log')
      .option('--older-than-hours <n>', 'only those that arrived longer ago', '1'),
  ).action(
    async (given: CommonOptions & { by: string; olderThanHours: string }, command: Command) => {
      const { runLedgerErase } = await import('./commands/ledger-command.ts');
      setCode(await runLedgerErase(merge(given, command), context));
    },
  );
  addCommon(
    ledger
      .command('rebaseline')
      .description(
        "End the state of a restored ledger: merge the custodian's whole history of this gate's approvals.",
      )
      .requiredOption('--by <name>', 'who decides it, for the audit log')
      .option(
        '--accept-unknown <n>',
        'end the state although this many approvals cannot be described; the command names them',
        '0',
      )
      .option(
        '--key-file <path>',
        'with --accept-unknown: the Ed25519 key of a person of the policy, who signs it; - reads standard input',
      ),
  ).action(async (given: RebaselineOptions, command: Command) => {
    const { runLedgerRebaseline } = await import('./commands/ledger-command.ts');
    setCode(await runLedgerRebaseline(merge(given, command), context));
  });
}

function addPolicyChanges(policy: Command, context: CommandContext, setCode: SetCode): void {
  addCommon(
    policy
      .command('propose <file>')
      .description('Store a policy file, so that people can sign it; - reads standard input.'),
  ).action(async (file: string, given: CommonOptions, command: Command) => {
    const { runPolicyPropose } = await import('./commands/policy-change-command.ts');
    setCode(await runPolicyPropose(file, merge(given, command), context));
  });
  policy
    .command('statement <sha256>')
    .description('Print the statement about a proposed policy that a person signs elsewhere.')
    .addOption(envFile())
    .action(async (sha256: string, given: CommonOptions, command: Command) => {
      const { runPolicyStatement } = await import('./commands/policy-change-command.ts');
      setCode(await runPolicyStatement(sha256, merge(given, command), context));
    });
  addSigning(
    policy
      .command('sign <sha256>')
      .description('Sign a proposed policy, with the key of a person of the policy in effect.'),
  ).action(async (sha256: string, given: ReleaseOptions, command: Command) => {
    const { runPolicySign } = await import('./commands/policy-change-command.ts');
    setCode(await runPolicySign(sha256, merge(given, command), context));
  });
  addCommon(
    policy
      .command('apply <sha256>')
      .description('Put a proposed policy in effect, once the people of the one in effect signed.'),
  ).action(async (sha256: string, given: CommonOptions, command: Command) => {
    const { runPolicyApply } = await import('./commands/policy-change-command.ts');
    setCode(await runPolicyApply(sha256, merge(given, command), context));
  });
}

function addFileCommands(program: Command, context: CommandContext, setCode: SetCode): void {
  const policy = program.command('policy').description('Inspect the policy, and change it.');
  addCommon(
    policy
      .command('lint [file]')
      .description(
        'Read a policy file as the gate would, and say what is wrong in it; - reads standard input.',
      ),
  ).action(async (file: string | undefined, given: CommonOptions, command: Command) => {
    const { runPolicyLint } = await import('./commands/policy-command.ts');
    setCode(runPolicyLint(file, merge(given, command), context));
  });
  addPolicyChanges(policy, context, setCode);
  const audit = program.command('audit').description('The audit log.');
  addCommon(
    audit
      .command('verify')
      .description('Verify that no entry was changed, removed or inserted.')
      .option('--head <hash>', 'a hash that was seen before; an entry must have it', parseHead),
  ).action(async (given: CommonOptions & { head?: Hex32 }, command: Command) => {
    const { runAuditVerify } = await import('./commands/audit-command.ts');
    setCode(await runAuditVerify(merge(given, command), context));
  });
  addCommon(audit.command('list').description('Print every entry as one line of JSON.')).action(
    async (given: CommonOptions, command: Command) => {
      const { runAuditList } = await import('./commands/audit-command.ts');
      setCode(await runAuditList(merge(given, command), context));
    },
  );
  addCommon(
    program
      .command('config')
      .description('Inspect the configuration.')
      .command('check')
      .description('Read the configuration, the policy and the chain settings. Starts nothing.'),
  ).action(async (given: CommonOptions, command: Command) => {
    const { runConfigCheck } = await import('./commands/config-command.ts');
    setCode(runConfigCheck(merge(given, command), context));
  });
}

function parseHead(text: string): Hex32 {
  try {
    return parseHex32(text.toLowerCase().replace(/^(?!0x)/, '0x'));
  } catch {
    throw new InvalidArgumentError(
      'It must be a hash of 32 bytes, 64 hex characters, as "audit verify" and the log of the gate print it.',
    );
  }
}

/** An option before a subcommand belongs to its parent. */
function merge<T extends CommonOptions>(given: T, command: Command): T {
  return { ...command.optsWithGlobals<T>(), ...given };
}
