/**
 * Options that several commands share.
 *
 * @module
 */
import { Option } from 'commander';
import type { Output } from './terminal/command-output.ts';

/** The action of a command: loads its code when it runs, and hands over arguments, options and output. `load` gets the first two. */
export type Run = (
  load: (...args: never[]) => Promise<(...args: never[]) => Promise<number>>,
) => (...args: readonly unknown[]) => Promise<void>;

export function createRun(output: Output, setCode: (code: number) => void): Run {
  return (load) =>
    async (...args) => {
      // The last argument is the command itself.
      const given = args.slice(0, -1) as never[];
      const work = await load(...given);
      setCode(await work(...given, output as never));
    };
}

export function envFileOption(): Option {
  return new Option(
    '--env-file <path>',
    'configuration file; default: $AGENT_ENV, then agent.env in the agent directory',
  );
}

/** The token of a holder's command. */
export function tokenOption(): Option {
  return new Option('--token <symbol>', 'token symbol; default: DISBURSE_TOKEN_SYMBOL, else USDC');
}

/** How a roster writes its amounts. The list is here and in @pool/core, which `--help` does not load; a test compares them. */
export function numberFormatOption(): Option {
  return new Option(
    '--number-format <format>',
    "amounts are in token units and written like 1234.50 (plain), 1,234.50 (comma-point), 1.234,50 (point-comma), 1 234,50 (space-comma), 1'234.50 (apostrophe-point), perhaps with the token's symbol",
  ).choices(['plain', 'comma-point', 'point-comma', 'space-comma', 'apostrophe-point']);
}

/** Collects the values of an option that may be repeated. */
export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}
