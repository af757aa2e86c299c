// Reads the SPDX expressions of package.json files and decides whether one is permissive.
// Grammar (SPDX specification, annex D, as far as npm packages use it):
//   expression := term (' OR ' term)*      term := factor (' AND ' factor)*
//   factor     := '(' expression ')' | identifier [' WITH ' exception]

/** Licences a production dependency may have: all of them let an MIT package depend on it. */
const permissiveLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Unlicense',
  'Zlib',
]);

/**
 * Whether an SPDX expression allows permissive terms: one branch of each OR, every branch of each AND.
 * Anything that does not parse (`SEE LICENSE IN …`, `UNLICENSED`, a URL) is not permissive.
 */
export function isPermissive(expression: string): boolean {
  const tokens = expression.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;

  function parseFactor(): boolean {
    const token = tokens[at++];
    if (token === undefined) throw new Error('unexpected end');
    if (token === '(') {
      const inner = parseExpression();
      if (tokens[at++] !== ')') throw new Error('unclosed parenthesis');
      return inner;
    }
    if (token === ')' || token === 'OR' || token === 'AND' || token === 'WITH') {
      throw new Error(`unexpected ${token}`);
    }
    if (tokens[at] === 'WITH') at += 2;
    return permissiveLicences.has(token);
  }

  function parseTerm(): boolean {
    let permissive = parseFactor();
    while (tokens[at] === 'AND') {
      at++;
      permissive = parseFactor() && permissive;
    }
    return permissive;
  }

  function parseExpression(): boolean {
    let permissive = parseTerm();
    while (tokens[at] === 'OR') {
      at++;
      permissive = parseTerm() || permissive;
    }
    return permissive;
  }

  try {
    const permissive = parseExpression();
    return at === tokens.length && permissive;
  } catch {
    return false;
  }
}

/**
 * The SPDX expression of a package.json: `license`, or the older `license: {type}` and `licenses: [{type}]` forms.
 * `undefined` when it states none.
 */
export function readLicence(manifest: {
  readonly license?: unknown;
  readonly licenses?: unknown;
}): string | undefined {
  const named = (value: unknown): string | undefined => {
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'object' && value !== null && 'type' in value) return named(value.type);
    return undefined;
  };
  if (Array.isArray(manifest.licenses)) {
    const types = manifest.licenses.map(named);
    if (types.length === 0 || types.includes(undefined)) return undefined;
    return types.join(' OR ');
  }
  return named(manifest.license) ?? named(manifest.licenses);
}
