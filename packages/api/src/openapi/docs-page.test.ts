/** The pages, read as a browser or a screen reader would. */
import { describe, expect, it } from 'vitest';
import { apis } from '../documents.ts';
import { renderDocsPage } from './docs-page.ts';
import { createOpenApi } from './openapi.ts';

describe.each(apis)('the page of $name', (api) => {
  const page = renderDocsPage(createOpenApi(api), '/openapi.json');
  const all = (pattern: RegExp): string[] =>
    [...page.matchAll(pattern)].map((match) => match[1] ?? '');

  it('has one language, title, header, list of operations and main part', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    for (const once of ['<title>', '<header>', '<nav aria-label="Operations">', '<main>', '<h1>']) {
      expect([once, page.split(once).length - 1]).toEqual([once, 1]);
    }
  });

  it('skips no level of its headings', () => {
    const levels = all(/<h([1-6])[ >]/g).map(Number);
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries()) {
      expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
    }
  });

  it('uses each id once, and links to every operation and schema', () => {
    const ids = all(/ id="([^"]+)"/g);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = all(/ href="#([^"]+)"/g);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    expect(targets).toEqual(expect.arrayContaining(api.routes.map(({ id }) => id)));
    expect(all(/ aria-labelledby="([^"]+)"/g).filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('shows every code beside its status, and the examples', () => {
    for (const codes of api.routes.flatMap(({ errors }) => Object.values(errors))) {
      expect(page).toContain(codes.map((code) => `<code>${code}</code>`).join(', '));
    }
    const examples = api.routes.filter(({ id }) => api.examples[id]?.body !== undefined);
    expect(page.split('<h4>Body</h4>\n<p>Example</p>').length - 1).toBe(examples.length);
  });

  it('heads every column and row of a table', () => {
    for (const table of all(/<table>([\s\S]*?)<\/table>/g)) {
      expect(table).toContain('<th scope="col">');
      const [, body = ''] = table.split('<tbody>');
      expect(body.split('<tr><th scope="row">').length).toBe(body.split('<tr>').length);
    }
  });
});
