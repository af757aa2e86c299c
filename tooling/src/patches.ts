// The example changes of tooling/changes: unified diffs with an additional header.

export interface ExamplePatch {
  readonly title: string;
  /** Test files that must pass with the whole patch, and one of which fails if the compiler does not. */
  readonly tests: readonly string[];
  /** Paths of the files that the patch changes or adds. */
  readonly files: readonly string[];
}

/** Reads a head of `Title: …` and `Test: …` lines, and the names of the files. */
export function parsePatch(text: string): ExamplePatch {
  const lines = text.split('\n');
  const firstDiff = lines.findIndex((line) => line.startsWith('diff --git '));
  const head = lines.slice(0, Math.max(firstDiff, 0));
  function valuesOf(name: string): string[] {
    return head.flatMap((line) => (line.startsWith(name) ? [line.slice(name.length).trim()] : []));
  }
  const files = lines.flatMap((line) => /^diff --git a\/\S+ b\/(\S+)$/.exec(line)?.[1] ?? []);
  const [title] = valuesOf('Title:');
  const tests = valuesOf('Test:');
  if (title === undefined || tests.length === 0 || files.length === 0) {
    throw new Error('a patch needs a "Title:" line, "Test:" lines and at least one file');
  }
  return { title, tests, files };
}
