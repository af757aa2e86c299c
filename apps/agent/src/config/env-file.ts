/**
 * The flat configuration file: `NAME=value` lines, comments, blank lines and nothing else. A line that means nothing
 * is a problem and not skipped: it may be the ceiling that somebody believes in.
 *
 * @module
 */
import type { Env } from './reader.ts';
import type { ConfigRemark } from './types.ts';

export type EnvFile = {
  readonly values: Env;
  /** Each names its line, and never says what stands there: it may be a secret. */
  readonly problems: readonly ConfigRemark[];
};

type Value =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'wrong'; readonly problem: string };

const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;
const ownName = /^(?:DISBURSE|POOL_GATE|ONBOARD|NODE)_[A-Z0-9_]+$/;

/** @param path - of the file, for the problems */
export function parseEnvFile(content: string, path: string): EnvFile {
  const values: Record<string, string> = {};
  const lineOf = new Map<string, number>();
  const problems: ConfigRemark[] = [];
  const note = (line: number, problem: string, name?: string): void => {
    const variable = name !== undefined && ownName.test(name) ? name : 'AGENT_ENV';
    const subject = variable === name ? `, ${name}` : '';
    problems.push({ variable, message: `${path}, line ${line}${subject}: ${problem}` });
  };
  const lines = content.split(/\r\n|\r|\n/);
  for (const [index, raw] of lines.entries()) {
    // A byte order mark counts as a space here.
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) {
      continue;
    }
    const line = index + 1;
    const [, name, written] = assignment.exec(text) ?? [];
    if (name === undefined || written === undefined) {
      note(line, 'is not NAME=value, a comment or blank');
      continue;
    }
    const earlier = lineOf.get(name);
    if (earlier !== undefined) {
      note(line, `sets again what line ${earlier} sets; keep one of them`, name);
      continue;
    }
    lineOf.set(name, line);
    const value = readValue(written);
    if (value.kind === 'wrong') {
      note(line, value.problem, name);
    } else {
      values[name] = value.text;
    }
  }
  return { values, problems };
}

/**
 * A comment begins at a `#` after a space; a `#` inside a word belongs to it, since secrets have them.
 *
 * @param written - what follows the equals sign
 */
function readValue(written: string): Value {
  const text = written.trim();
  const quote = text[0];
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    return { kind: 'value', text: written.replace(/\s+#.*$/, '').trim() };
  }
  const end = text.indexOf(quote, 1);
  if (end < 0) {
    return { kind: 'wrong', problem: 'opens a quote that its line does not close' };
  }
  return /^(?:\s*|\s+#.*)$/.test(text.slice(end + 1))
    ? { kind: 'value', text: text.slice(1, end) }
    : { kind: 'wrong', problem: 'has something after its closing quote' };
}
