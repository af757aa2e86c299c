/**
 * `pnpm sandbox up|down|status`, and `demo`, which is what `npm start` runs.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { defaultHolderCount } from './chain/sandbox-keys.ts';
import type { SignerKind } from './custody/custody-place.ts';
import { signerKinds } from './custody/start-custody.ts';
import { runDemo } from './demo/demo.ts';
import { createProgress } from './processes/progress.ts';
import { bringUp, readStatus, takeDown } from './stack/lifecycle.ts';
import { type SandboxFile, sandboxFilePath } from './stack/sandbox-file.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The command that every Node brings, with the version of package.json. */
const pnpm = `npx ${(JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { packageManager: string }).packageManager}`;
const defaultDirectory = resolve(root, '.sandbox');

type CommonOptions = { readonly dir: string; readonly json?: boolean };

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sayJson(value: unknown): void {
  say(JSON.stringify(value, undefined, 2));
}

function parseHolderCount(text: string): number {
  const count = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= 1 && count <= 1_000)) {
    throw new InvalidArgumentError('give a number from 1 to 1000');
  }
  return count;
}

function parseSymbol(text: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]{0,15}$/.test(text)) {
    throw new InvalidArgumentError('give at most 16 letters and digits, such as GOLD');
  }
  return text;
}

function signerOption(): Option {
  return new Option('--signer <kind>', "where the funder's key is: in its agent, or in custody")
    .choices(signerKinds)
    .default('local-key');
}

type UpOptions = CommonOptions & { readonly holders: number; readonly signer: SignerKind };

const program = new Command('sandbox')
  .description('A whole Pool deployment on this machine')
  .showHelpAfterError();

function addCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--dir <folder>', 'folder of the sandbox', defaultDirectory)
    .option('--json', 'answer as JSON');
}

addCommand('up', 'start everything and keep it up')
  .option('--holders <count>', 'recipients to enrol', parseHolderCount, defaultHolderCount)
  .addOption(signerOption())
  .action(async ({ dir, json, holders, signer }: UpOptions) => {
    const directory = resolve(dir);
    const progress = createProgress({ stream: process.stderr, plainLines: false });
    try {
      const outcome = await bringUp({ directory, holderCount: holders, signer, progress });
      const { file, alreadyUp } = outcome;
      if (json === true) {
        sayJson({ alreadyUp, sandboxFile: sandboxFilePath(directory), ...describe(file) });
        return;
      }
      say(alreadyUp ? 'The sandbox is already up.' : 'The sandbox is up.');
      for (const [name, value] of Object.entries(describe(file))) {
        say(`  ${name.padEnd(12)} ${value}`);
      }
      say(`  everything   ${sandboxFilePath(directory)}`);
      if (outcome.invitation !== undefined) {
        say(`  ${'invitation'.padEnd(12)} ${outcome.invitation}   open it to make an account`);
      }
      for (const line of describeUse(directory, file)) {
        say(line);
      }
    } catch (error) {
      progress.fail();
      throw error;
    }
  });

addCommand('down', 'end exactly what up started').action(async ({ dir, json }: CommonOptions) => {
  const ended = await takeDown(resolve(dir));
  if (json === true) {
    sayJson({ ended });
  } else {
    say(ended === 0 ? 'Nothing was running.' : `The sandbox is down: ${ended} processes ended.`);
  }
});

addCommand('status', 'show what runs; exit code 0 only if everything runs').action(
  ({ dir, json }: CommonOptions) => {
    const directory = resolve(dir);
    const { state, processes, file } = readStatus(directory);
    if (json === true) {
      sayJson({ state, processes, ...(file === undefined ? {} : describe(file)) });
    } else {
      say(`The sandbox is ${state}.`);
      for (const { name, pid, running } of processes) {
        say(`  ${name.padEnd(12)} ${running ? `running, pid ${pid}` : 'ended'}`);
      }
    }
    process.exitCode = state === 'up' ? 0 : 3;
  },
);

program
  .command('demo')
  .description('start a deployment, pay a roster, show who received what, stop')
  .option('--roster <file>', 'CSV: address,amount[,memo]', resolve(root, 'examples/roster.csv'))
  .option(
    '--token <symbol>',
    'token to pay in: USDC, USDT, or a token of your own, which is deployed with six decimals',
    parseSymbol,
    'USDC',
  )
  .option(
    '--policy <file>',
    'who releases the payment (docs/operations/release.md); default: nobody',
  )
  .option('--dir <folder>', 'where the demo creates its folder', defaultDirectory)
  .option('--keep', 'keep everything up until Ctrl-C, for the payee’s page in a browser')
  .addOption(signerOption())
  .action(
    async ({
      roster,
      token,
      dir,
      signer,
      policy,
      keep,
    }: CommonOptions & {
      roster: string;
      token: string;
      signer: SignerKind;
      policy?: string;
      keep?: boolean;
    }) => {
      // npm and pnpm run scripts from the repository; a path is relative to the folder of the caller.
      const toPath = (file: string): string =>
        resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
      process.exitCode = await runDemo({
        parent: resolve(dir),
        rosterPath: toPath(roster),
        policyPath: policy === undefined ? undefined : toPath(policy),
        agentCommand: `${pnpm} --silent disburse-agent`,
        token,
        signer,
        isKept: keep === true,
      });
      if (process.exitCode === 0) {
        say('\nNext:');
        if (keep !== true) {
          say('  npm start -- --keep    the same, and open an account in a browser afterwards');
        }
        say(`  ${pnpm} sandbox up    start a deployment that stays up; it prints how to use it`);
        say(
          '  npm start -- --roster my.csv    pay your own list to addresses of examples/roster.csv',
        );
        say(`  ${pnpm} --silent disburse-agent --help    show every command of the agent`);
      }
    },
  );

/** How a person uses the sandbox from the repository's root, ready to be copied. */
function describeUse(
  directory: string,
  { agentHome, approveHome }: SandboxFile,
): readonly string[] {
  return [
    '',
    'To use it, in the root of the repository:',
    `  export DISBURSE_HOME=${quote(agentHome)}`,
    ...(approveHome === undefined ? [] : [`  export APPROVE_HOME=${quote(approveHome)}`]),
    `  ${pnpm} --silent disburse-agent disburse --file examples/roster.csv --pay-run first`,
    `  ${pnpm} --silent disburse-agent --help`,
    `  ${pnpm} sandbox down${directory === defaultDirectory ? '' : ` --dir ${quote(directory)}`}`,
  ];
}

/** A path as a shell reads it. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function describe(file: SandboxFile): Readonly<Record<string, string>> {
  const { agentUrl, platformUrl, gateUrl, rpcUrl, signer, custodianUrl, approveHome } = file;
  const { payeePageUrl } = file;
  return {
    ...{ agentUrl, platformUrl, gateUrl, rpcUrl, signer },
    ...(payeePageUrl === undefined ? {} : { payeePageUrl }),
    ...(custodianUrl === undefined ? {} : { custodianUrl }),
    ...(approveHome === undefined ? {} : { approveHome }),
  };
}

try {
  await program.parseAsync();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`sandbox: ${message}\n`);
  process.exitCode = 1;
}
