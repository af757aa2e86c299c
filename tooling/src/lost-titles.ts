// Which tests of an earlier list are not in a later one, by title.

export interface RenamedTitle {
  readonly from: string;
  /** Empty: the test was removed, for the reason that the file gives. */
  readonly to: string;
}

/** Lines of `old<TAB>new`. Blank lines, and lines that begin with `#`, are comments. */
export function parseRenamedTitles(text: string): RenamedTitle[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [from, to, ...rest] = line.split('\t');
      if (from === undefined || from === '' || to === undefined || rest.length > 0) {
        throw new Error(`a line is not "old<TAB>new": ${line}`);
      }
      return { from, to };
    });
}

/**
 * Titles of `before` that `now` lacks, once per missing test. A renamed title may be renamed again. Several tests of one title are
 * counted.
 */
export function findLostTitles(
  before: readonly string[],
  now: readonly string[],
  renamed: readonly RenamedTitle[],
): string[] {
  const left = new Map<string, number>();
  for (const title of now) left.set(title, (left.get(title) ?? 0) + 1);
  const names = new Map<string, string[]>();
  for (const { from, to } of renamed) names.set(from, [...(names.get(from) ?? []), to]);

  function take(title: string, seen: ReadonlySet<string>): boolean {
    const count = left.get(title) ?? 0;
    if (count > 0) {
      left.set(title, count - 1);
      return true;
    }
    if (seen.has(title)) return false;
    return (names.get(title) ?? []).some((to) => to === '' || take(to, new Set([...seen, title])));
  }

  return before.filter((title) => !take(title, new Set()));
}
