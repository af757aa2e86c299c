// Finds the tests that a test file defines, by reading its source: nothing is run.
import ts from 'typescript';

/** Titles of the suites around a test and its own, outermost first, as the file writes them. */
export type TitlePath = readonly string[];

const suiteCalls = new Set(['describe', 'suite']);
const testCalls = new Set(['it', 'test']);

/** `it`, `it.each(cases)` and `it.skipIf(condition)` are all `it`. */
function baseName(expression: ts.Expression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression)) {
    return baseName(expression.expression);
  }
  return undefined;
}

/** Every test of the source, `it.each` once; what a template fills in is written `%s`. A title that is not a string literal is left out: no statement can name it. */
export function listTestTitles(source: string): readonly TitlePath[] {
  const textOf = (node: ts.Node | undefined): string | undefined => {
    if (node === undefined) return undefined;
    if (ts.isStringLiteralLike(node)) return node.text;
    if (!ts.isTemplateExpression(node)) return undefined;
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('%s');
  };
  const found: TitlePath[] = [];
  const visit = (node: ts.Node, suites: TitlePath): void => {
    let around = suites;
    if (ts.isCallExpression(node)) {
      const title = textOf(node.arguments[0]);
      const base = baseName(node.expression) ?? '';
      if (title !== undefined) {
        if (testCalls.has(base)) found.push([...suites, title]);
        if (suiteCalls.has(base)) around = [...suites, title];
      }
    }
    ts.forEachChild(node, (child) => visit(child, around));
  };
  visit(ts.createSourceFile('a.test.ts', source, ts.ScriptTarget.Latest), []);
  return found;
}

/** Whether a name, `title` or `suite > title`, means the test with these titles as written. */
export function namesTest(name: string, path: TitlePath): boolean {
  const parts = name.split(' > ');
  return path.slice(-parts.length).join(' > ') === parts.join(' > ');
}

/**
 * Whether a name means the test that ran under these titles, its `%s` and `$field` filled in. A title that another test
 * of the file could have produced counts for both: then both must pass.
 */
export function namesRun(name: string, path: TitlePath): boolean {
  const parts = name.split(' > ');
  const tail = path.slice(-parts.length);
  return (
    tail.length === parts.length &&
    parts.every((part, index) => toPattern(part).test(tail[index] ?? ''))
  );
}

function toPattern(title: string): RegExp {
  const pattern = title
    .split(/%[sdifjop#]|\$[a-zA-Z_][\w.]*/)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`, 's');
}
