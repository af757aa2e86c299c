/**
 * `disburse-agent completion <shell>`: a script that completes commands, options and their choices, made from the tables of commands.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { CommandRow, Commands } from './cli-options.ts';

/** What can follow. */
type Words = {
  /** Commands and options, by the path of a command, as `/pay-runs/show`. */
  readonly words: Map<string, readonly string[]>;
  /** Values, by the path of a command and its option, as `/disburse --unregistered`. */
  readonly values: Map<string, readonly string[]>;
  /** What this program names, by the path of a command and its last word, as `/pay-runs/show show`. */
  readonly names: Map<string, readonly NameKind[]>;
};

const nameKinds = ['labels', 'schedules'] as const;
type NameKind = (typeof nameKinds)[number];

export function isNameKind(word: string): word is NameKind {
  return nameKinds.some((kind) => kind === word);
}

/** By the first argument of a command. */
function findNames(args: CommandRow['args'] = {}): NameKind | undefined {
  const [[name, about] = ['', '']] = Object.entries(args);
  return about === 'of a schedule' ? 'schedules' : name.includes('label') ? 'labels' : undefined;
}

/** @throws PoolError `invalid_request` for another shell */
export function printCompletion(shell: string, program: string, commands: Commands): string {
  const words: Words = { words: new Map(), values: new Map(), names: new Map() };
  collect(commands, '', words, ['--help', '--version', '--no-color']);
  const name = `_${program.replace(/\W/g, '_')}`;
  switch (shell) {
    case 'bash':
      return createBash(program, name, words);
    case 'zsh':
      return `#compdef ${program}\nautoload -U +X bashcompinit && bashcompinit\n${createBash(program, name, words)}`;
    case 'fish':
      return createFish(program, name, words);
    default:
      throw new PoolError('invalid_request', 'shell: name bash, zsh or fish');
  }
}

function collect(commands: Commands, path: string, into: Words, own: readonly string[]): void {
  into.words.set(path, [...Object.keys(commands), ...own]);
  for (const [name, row] of Object.entries(commands)) {
    const { args, options = {}, below = {}, alias, load, hasEnvFile = true } = row;
    const names = findNames(args);
    const flags = Object.entries(options).map(
      ([text, form]) => [/--[a-z-]+/.exec(text)?.[0] ?? '', form] as const,
    );
    const all = [
      ...flags.map(([flag]) => flag),
      ...(load !== undefined && hasEnvFile ? ['--env-file'] : []),
      '--help',
    ];
    for (const called of alias === undefined ? [name] : [name, alias]) {
      collect(below, `${path}/${called}`, into, all);
      if (names !== undefined) {
        into.names.set(`${path}/${called} ${called}`, [names]);
      }
      for (const [flag, form] of flags) {
        if (typeof form !== 'string' && form.choices !== undefined) {
          into.values.set(`${path}/${called} ${flag}`, form.choices);
        }
      }
    }
  }
}

/** The rows of a `case`. Names and choices contain no character that a shell reads. */
function listRows(lists: Words[keyof Words], row: (what: string, list: string) => string): string {
  return [...lists].map(([what, list]) => row(what, list.join(' '))).join('\n');
}

/** Every path but that of the program. */
function listPaths({ words }: Words): readonly string[] {
  return [...words.keys()].slice(1);
}

function createBash(program: string, name: string, given: Words): string {
  const row = (what: string, list: string): string => `    "${what}") list="${list}" ;;`;
  return `${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" list="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path/$each" in
      ${listPaths(given).join('|')}) path="$path/$each" ;;
    esac
  done
  case "$path" in
${listRows(given.words, row)}
  esac
  case "$path $before" in
${listRows(given.values, row)}
  esac
  [[ $word == -* ]] || case "$path $before" in
${listRows(given.names, (what, kind) => `    "${what}") list="$(${program} completion ${kind} 2>/dev/null)" ;;`)}
  esac
  COMPREPLY=($(compgen -W "$list" -- "$word"))
}
complete -o default -F ${name} ${program}`;
}

function createFish(program: string, name: string, given: Words): string {
  const row = (what: string, list: string): string => `    case '${what}'\n      set list ${list}`;
  return `function ${name}
  set -l path ''
  set -l before ''
  set -l list
  for each in (commandline -opc)[2..-1]
    set before $each
    if contains -- "$path/$each" ${listPaths(given).join(' ')}
      set path "$path/$each"
    end
  end
  switch "$path"
${listRows(given.words, row)}
  end
  switch "$path $before"
${listRows(given.values, row)}
${listRows(given.names, (what, kind) => `    case '${what}'\n      set list (${program} completion ${kind} 2>/dev/null)`)}
  end
  string join \\n -- $list
end
complete -c ${program} -a '(${name})'`;
}
