/**
 * The commands of the gate, for `pool-approve` and for `disburse-agent approve`. Each imports its own code when it runs.
 *
 * @module
 */
import { asksForJson, formatFailure, isPoolError, PoolError, parseHex32 } from '@pool/core';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import {
  type Call,
  type CommandContext,
  type CommonOptions,
  exitCodes,
  onLedger,
  print,
  type Run,
} from './commands/output.ts';

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
    if (error instanceof CommanderError && error.exitCode === 0) {
      return exitCodes.ok;
    }
    const isUsage = error instanceof CommanderError;
    if (asksForJson(argv)) {
      const message = isUsage ? error.message.replace(/^error: /, '') : '';
      streams.out(formatFailure(isUsage ? new PoolError('invalid_request', message) : error));
    }
    if (isUsage) {
      return exitCodes.error;
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

const envFile = new Option(
  '--env-file <path>',
  "configuration file; default: $APPROVE_ENV, then approve.env in the gate's directory",
);
const common = [new Option('--json', 'print one JSON document; its "data": the outcome'), envFile];

/** A key, or what a person signed elsewhere. */
const signing = [
  ...common,
  new Option(
    '--key-file <path>',
    "the person's Ed25519 key: PKCS#8 PEM, or 32 bytes of hex; - reads standard input",
  ),
  new Option(
    '--statement <path>',
    'what the person signed elsewhere: the output of "statement"; - reads standard input',
  ),
  new Option('--signature <hex>', 'the Ed25519 signature of the statement, 64 bytes'),
];
const by = new Option('--by <name>', 'who decides it, for the audit log').makeOptionMandatory();

function createProgram(context: ApproveCliOptions, setCode: (code: number) => void): Command {
  const { streams, name, version, source, nowMs } = context;

  /** @param load - imports the code of the command */
  function add<TOptions extends CommonOptions>(
    parent: Command,
    usage: string,
    description: string,
    load: () => Promise<Run<Call<TOptions>>>,
    options: readonly Option[] = common,
  ): Command {
    const added = parent.command(usage).description(description);
    for (const option of options) {
      added.addOption(option);
    }
    return added.action(async (...given: readonly unknown[]) => {
      const command = given.at(-1) as Command;
      // An option before a subcommand belongs to its parent.
      const merged = { ...command.optsWithGlobals<TOptions>(), ...command.opts<TOptions>() };
      const call = { ...context, options: merged, argument: command.args[0] };
      const outcome = await (await load())(call);
      print(call, outcome);
      setCode(outcome.code ?? exitCodes.ok);
    });
  }

  const program = new Command(name)
    .description(
      'The gate beside a custodian: rebuilds what it is asked to approve, applies its policy, and votes.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => streams.out(text.trimEnd()), writeErr: streams.err })
    .option('--dry-run', 'judge everything, vote nothing, and log what the vote would be')
    .option('--standby', 'wait while another process votes with the ledger, then take over')
    .addOption(envFile)
    .action(async (given: { dryRun?: boolean; standby?: boolean; envFile?: string }) => {
      const { dryRun: isDryRun = false, standby: isStandby = false } = given;
      const { parseGateConfig } = await import('./config/config.ts');
      const { createRedactedLog } = await import('@pool/http-server');
      const { runGate } = await import('./gate/run-gate.ts');
      const config = parseGateConfig(source, given.envFile);
      const log = createRedactedLog(config.logLevel);
      const note = isDryRun ? ', and votes nothing (dry run)' : '';
      await runGate({ config, log, isDryRun, isStandby, nowMs }, (url) =>
        streams.out(`pool-approve listens on ${url}${note}`),
      );
    });

  add(
    program,
    'doctor',
    'Prove that the gate cannot be gone around, or say what is wrong.',
    async () => (await import('./commands/file-commands.ts')).runDoctor,
  );
  add(
    program,
    'check <manifest>',
    'Show what a manifest pays, and explain rule by rule what the gate would answer: its digest, a manifest file, or - for standard input.',
    async () => onLedger((await import('./commands/check-command.ts')).runCheck),
  );
  add(program, 'pending', 'List what waits, and which of it people must release.', async () =>
    onLedger((await import('./commands/list-commands.ts')).runPending),
  );
  add(program, 'manifests', 'List the stored manifests and what became of them.', async () =>
    onLedger((await import('./commands/list-commands.ts')).runManifests),
  );
  add(
    program,
    'statement <manifest>',
    'Print the statement about a batch that a person signs on a machine of their own.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runStatement),
    [
      new Option('--deny', 'a statement that denies the batch; without it, one that releases it'),
      envFile,
    ],
  );
  add(
    program,
    'release <manifest>',
    'Release a batch that waits, with the key of a person whom the policy lists.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runRelease('release')),
    signing,
  );
  add(
    program,
    'deny <manifest>',
    'Deny a batch for good, with the key of a person whom the policy lists.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runRelease('deny')),
    signing,
  );

  const ledger = add(program, 'ledger', 'The state of the ledger, and its history.', async () =>
    onLedger((await import('./commands/ledger-command.ts')).runLedgerStatus),
  );
  add(
    ledger,
    'export',
    'Print the history of the ledger, for another gate or for a backup.',
    async () => onLedger((await import('./commands/ledger-command.ts')).runLedgerExport),
    [new Option('--out <file>', 'write it to a new file, mode 0600'), ...common],
  );
  add(
    ledger,
    'import <file>',
    'Merge an exported history. Nothing that is stored is lowered or removed.',
    async () => onLedger((await import('./commands/ledger-command.ts')).runLedgerImport),
  );
  add(
    ledger,
    'erase',
    'Make room at once: erase manifests that are past their deadline, or were never approved while no request waits for them.',
    async () => onLedger((await import('./commands/ledger-command.ts')).runLedgerErase),
    [
      by,
      new Option('--older-than-hours <n>', 'only those that arrived longer ago').default('1'),
      ...common,
    ],
  );
  add(
    ledger,
    'rebaseline',
    "End the state of a restored ledger: merge the custodian's whole history of this gate's approvals.",
    async () => (await import('./commands/ledger-command.ts')).runLedgerRebaseline,
    [
      by,
      new Option(
        '--accept-unknown <n>',
        'end the state although this many approvals cannot be described; the command names them',
      ).default('0'),
      new Option(
        '--key-file <path>',
        'with --accept-unknown: the Ed25519 key of a person of the policy, who signs it; - reads standard input',
      ),
      ...common,
    ],
  );

  const policy = program.command('policy').description('Inspect the policy, and change it.');
  add(
    policy,
    'lint [file]',
    'Read a policy file as the gate would, and say what is wrong in it; - reads standard input.',
    async () => (await import('./commands/file-commands.ts')).runPolicyLint,
  );
  add(
    policy,
    'propose <file>',
    'Store a policy file, so that people can sign it; - reads standard input.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runPolicyPropose),
  );
  add(
    policy,
    'statement <sha256>',
    'Print the statement about a proposed policy that a person signs elsewhere.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runPolicyStatement),
    [envFile],
  );
  add(
    policy,
    'sign <sha256>',
    'Sign a proposed policy, with the key of a person of the policy in effect.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runPolicySign),
    signing,
  );
  add(
    policy,
    'apply <sha256>',
    'Put a proposed policy in effect, once the people of the one in effect signed.',
    async () => onLedger((await import('./commands/signing-commands.ts')).runPolicyApply),
  );

  const audit = program.command('audit').description('The audit log.');
  add(
    audit,
    'verify',
    'Verify that no entry was changed, removed or inserted.',
    async () => onLedger((await import('./commands/ledger-command.ts')).runAuditVerify),
    [
      new Option('--head <hash>', 'a hash that was seen before; an entry must have it').argParser(
        parseHead,
      ),
      ...common,
    ],
  );
  add(audit, 'list', 'Print every entry as one line of JSON.', async () =>
    onLedger((await import('./commands/ledger-command.ts')).runAuditList),
  );
  add(
    program.command('config').description('Inspect the configuration.'),
    'check',
    'Read the configuration, the policy and the chain settings. Starts nothing.',
    async () => (await import('./commands/file-commands.ts')).runConfigCheck,
  );
  return program;
}

function parseHead(text: string) {
  try {
    return parseHex32(text.toLowerCase().replace(/^(?!0x)/, '0x'));
  } catch {
    throw new InvalidArgumentError(
      'It must be a hash of 32 bytes, 64 hex characters, as "audit verify" and the log of the gate print it.',
    );
  }
}
