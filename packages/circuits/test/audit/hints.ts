/**
 * Finds the hints in the circom sources: the signals on the left of `<--`, to which the compiler adds no constraint. A signal's name
 * in the symbol file is a path of components; the sources say of which template each component is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Template = {
  readonly hints: ReadonlySet<string>;
  readonly components: ReadonlyMap<string, string>;
};

function readSources(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.name.endsWith('.circom'))
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? readSources(path) : readFileSync(path, 'utf8');
    })
    .join('\n')
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\/\/.*/g, ' ');
}

/** The text between the brace at `open` and the one that closes it. */
function readBlock(text: string, open: number): string {
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    depth += text[index] === '{' ? 1 : text[index] === '}' ? -1 : 0;
    if (depth === 0) {
      return text.slice(open, index);
    }
  }
  throw new SyntaxError('A brace of a circom source is not closed.');
}

function readTemplate(body: string): Template {
  const hints = [
    ...body.matchAll(/(\w+)\s*(?:\[[^;]*?\])*\s*<--/g),
    ...body.matchAll(/-->\s*(\w+)/g),
  ].map(([, name = '']) => name);
  const declared = new Set([...body.matchAll(/\bcomponent\s+(\w+)/g)].map(([, name]) => name));
  const components = [...body.matchAll(/\b(\w+)\s*(?:\[[^;=]*\])*\s*=\s*(\w+)\s*\(/g)].flatMap(
    ([, name = '', template = '']) => (declared.has(name) ? [[name, template] as const] : []),
  );
  return { hints: new Set(hints), components: new Map(components) };
}

export type HintFinder = {
  /** `Template.signal` if the full name is of a signal that is assigned with `<--`. */
  readonly declarationOf: (name: string) => string | undefined;
  /** The hints among these names, as `Template.signal`. */
  readonly reachable: (names: readonly string[]) => readonly string[];
};

/** @param main the template of the main component */
export function createHintFinder(folder: string, main: string): HintFinder {
  const text = readSources(folder);
  const templates = new Map<string, Template>();
  for (const match of text.matchAll(
    /\btemplate\s+(?:custom\s+|parallel\s+)*(\w+)\s*\([^)]*\)\s*(?:parallel\s*)?\{/g,
  )) {
    const open = (match.index ?? 0) + match[0].length - 1;
    templates.set(match[1] ?? '', readTemplate(readBlock(text, open)));
  }
  const resolved = new Map<string, string | undefined>();
  /** The template of a component, by its path without indices. */
  const resolve = (path: readonly string[]): string | undefined => {
    const key = path.join('.');
    if (!resolved.has(key)) {
      const last = path.at(-1);
      const parent = last === undefined ? undefined : resolve(path.slice(0, -1));
      const template = templates.get(parent ?? '')?.components.get(last ?? '');
      resolved.set(key, last === undefined ? main : template);
    }
    return resolved.get(key);
  };
  const declarationOf = (name: string): string | undefined => {
    const path = name.replace(/\[\d+\]/g, '').split('.');
    const template = resolve(path.slice(0, -1));
    const signal = path.at(-1) ?? '';
    const isHint = templates.get(template ?? '')?.hints.has(signal) === true;
    return isHint ? `${template}.${signal}` : undefined;
  };
  return {
    declarationOf,
    reachable: (names) => [...new Set(names.flatMap((name) => declarationOf(name) ?? []))],
  };
}
