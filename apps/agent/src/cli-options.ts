/**
 * What a row of the tables of commands says, and the options that several commands share.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';

export type OptionForm = {
  readonly about: string;
  readonly isRequired?: true;
  readonly choices?: readonly string[];
  readonly parse?: (text: string, earlier: never) => unknown;
  readonly initial?: string | readonly never[];
  /** The default as the help shows it. */
  readonly initialText?: string;
};

/** By flags, in the order of the help. */
export type Options = Readonly<Record<string, string | OptionForm>>;

/** By name. */
export type Commands = Readonly<Record<string, CommandRow>>;

export type CommandRow = {
  readonly about: string;
  /** Command lines without the program's name, for the help. */
  readonly examples?: readonly string[];
  /** Another name. */
  readonly alias?: string;
  /** What they are, by name as the help shows it. */
  readonly args?: Readonly<Record<string, string>>;
  /** `--env-file` follows. */
  readonly options?: Options;
  readonly hasEnvFile?: false;
  /** Gives everything that follows to the command. */
  readonly isPassedThrough?: true;
  /** Of a group. */
  readonly below?: Commands;
  /**
   * Gets arguments, options and the command itself, and loads the code, which gets arguments, options and output. Absent for a group.
   * @returns what returns the exit code
   */
  readonly load?: (...args: never[]) => Promise<(...args: never[]) => Promise<number>>;
};

export const envFile: Options = {
  '--env-file <path>':
    'configuration file; default: $AGENT_ENV, then agent.env in the agent directory',
};
export const json: Options = jsonOf('the outcome');
export const chain: Options = { '--chain <key>': 'chain key; default: DISBURSE_CHAIN' };

/** @param data - what the document of the command has */
export function jsonOf(data: string): Options {
  return { '--json': `print one JSON document; its "data": ${data}` };
}

/** How a roster writes its amounts. The list is here and in @pool/core, which `--help` does not load; a test compares them. */
export const numberFormat = {
  '--number-format <format>': {
    about:
      "amounts are in token units and written like 1234.50 (plain), 1,234.50 (comma-point), 1.234,50 (point-comma), 1 234,50 (space-comma), 1'234.50 (apostrophe-point), perhaps with the token's symbol",
    choices: ['plain', 'comma-point', 'point-comma', 'space-comma', 'apostrophe-point'],
  },
} as const satisfies Options;

/** An option that may be repeated. */
export function several(about: string): OptionForm {
  return { about, parse: collect, initial: [] };
}

export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

/** Refuses a second value, which would silently replace the first. */
export function once(about: string): OptionForm {
  return {
    about,
    parse: (text, earlier: string | undefined) => {
      if (earlier !== undefined) {
        throw new InvalidArgumentError(
          'Give this option once: a second value would replace the first.',
        );
      }
      return text;
    },
  };
}

export function required(form: string | OptionForm): OptionForm {
  return { ...(typeof form === 'string' ? { about: form } : form), isRequired: true };
}
