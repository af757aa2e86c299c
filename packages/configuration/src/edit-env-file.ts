/**
 * Changes of single variables in the text of a configuration file. Everything else in it stays as its owner wrote it.
 *
 * @module
 */

/**
 * @param changes - by name; undefined removes the variable. A name that is missing is added at the end
 * @param remark - comment above what is added
 */
export function editEnvFile(
  text: string,
  changes: Readonly<Record<string, string | undefined>>,
  remark: string,
): string {
  const left = new Map(Object.entries(changes));
  const lines = text.replace(/\n$/, '').split('\n');
  const edited = lines.flatMap((line) => {
    const name = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/.exec(line.trim())?.[1];
    if (name === undefined || !Object.hasOwn(changes, name)) {
      return [line];
    }
    left.delete(name);
    const value = changes[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  const added = [...left].flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  return `${[...edited, ...(added.length === 0 ? [] : [`# ${remark}`, ...added])].join('\n')}\n`;
}
