/**
 * Files of configuration: `NAME=value` lines, comments and blank lines. Every other line is a problem and is not skipped: it may
 * be a limit that the operator relies on.
 *
 * @module
 */

/** Nothing in it quotes the line: a line can contain a secret. */
export type EnvFileProblem = {
  /** From 1. */
  readonly line: number;
  /** Undefined if the line has no name. */
  readonly name: string | undefined;
  /** A phrase that follows the line and the name. */
  readonly problem: string;
};

export type EnvFile = {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly EnvFileProblem[];
};

type Value =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'wrong'; readonly problem: string };

const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/;

/** A value can be in double, single or back quotes, whole and on one line. A name that is set twice keeps its first value. */
export function parseEnvFile(content: string): EnvFile {
  const values: Record<string, string> = {};
  const lineOf = new Map<string, number>();
  const problems: EnvFileProblem[] = [];
  for (const [index, raw] of content.split(/\r\n|\r|\n/).entries()) {
    // `trim` also removes a byte order mark.
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) {
      continue;
    }
    const line = index + 1;
    const [, name, written = ''] = assignment.exec(text) ?? [];
    if (name === undefined) {
      problems.push({ line, name, problem: 'is not NAME=value, a comment or blank' });
      continue;
    }
    const earlier = lineOf.get(name);
    if (earlier !== undefined) {
      const problem = `is already set by line ${earlier}; keep one of the two lines`;
      problems.push({ line, name, problem });
      continue;
    }
    lineOf.set(name, line);
    const value = readValue(written);
    if (value.kind === 'wrong') {
      problems.push({ line, name, problem: value.problem });
    } else {
      values[name] = value.text;
    }
  }
  return { values, problems };
}

/**
 * A comment begins at a `#` after a space. A `#` inside a word belongs to the word, since secrets can contain one.
 *
 * @param written - the text after the equals sign
 */
function readValue(written: string): Value {
  const text = written.trim();
  const sign = text[0];
  if (sign !== '"' && sign !== "'" && sign !== '`') {
    return { kind: 'value', text: written.replace(/\s+#.*$/, '').trim() };
  }
  const end = text.indexOf(sign, 1);
  if (end < 0) {
    return { kind: 'wrong', problem: 'opens a quote and does not close it on the same line' };
  }
  return /^(?:\s*|\s+#.*)$/.test(text.slice(end + 1))
    ? { kind: 'value', text: text.slice(1, end) }
    : { kind: 'wrong', problem: 'has something after its closing quote' };
}

/** ` (ENOENT)`: the operating system's code, and no other part of the error, which quotes the path. Empty without one. */
export function describeCause(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]{2,15}$/.test(code) ? ` (${code})` : '';
}
