/**
 * A PDF/A-3 document of labelled rows, with files embedded. The same input gives the same bytes: times come from the caller.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PoolError } from '@pool/core';
import { type Font, create as openFont } from 'fontkit';
import PDFDocument from 'pdfkit';

/** A font for all texts of a document. */
export type DocumentFont = { readonly bytes: Buffer; readonly font: Font };

/** Roboto: Latin, Greek and Cyrillic. */
export function loadDefaultFont(): DocumentFont {
  const require = createRequire(import.meta.url);
  const path = require.resolve('roboto-fontface/fonts/roboto/Roboto-Regular.woff');
  return parseFont(readFileSync(path), path);
}

/** @param bytes - of a TrueType, OpenType or WOFF font. @param name - of the file, for errors. @throws PoolError `invalid_request` */
export function parseFont(bytes: Buffer, name: string): DocumentFont {
  try {
    const font = openFont(bytes);
    if ('hasGlyphForCodePoint' in font) {
      return { bytes, font };
    }
  } catch {
    // Said below.
  }
  throw new PoolError(
    'invalid_request',
    `${name} is not a font: give a file with one TrueType, OpenType or WOFF font`,
  );
}

/** Characters that the font cannot show, each once. */
function findMissing({ font }: DocumentFont, texts: readonly string[]): readonly string[] {
  return [...new Set(texts.join(''))].filter(
    (character) =>
      !/\p{Default_Ignorable_Code_Point}/u.test(character) &&
      !font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0),
  );
}

export type DocumentContent = {
  readonly title: string;
  /** What is shown, in order. A pair is a label and its text; a text alone is a paragraph. */
  readonly rows: readonly (readonly [label: string, text: string] | string)[];
  readonly attachment?: { readonly name: string; readonly type: string; readonly bytes: Buffer };
  /** When the document says that it was made, milliseconds. */
  readonly timeMs: number;
};

const margin = 56;
const labelWidth = 130;

/** @throws PoolError `invalid_request` naming characters that the font cannot show */
export async function renderDocument(
  { title, rows, attachment, timeMs }: DocumentContent,
  font: DocumentFont,
): Promise<Buffer> {
  const missing = findMissing(font, [title, ...rows.flat()]);
  if (missing.length > 0) {
    throw new PoolError('invalid_request', describeMissing(missing));
  }
  const date = new Date(timeMs);
  const document = new PDFDocument({
    ...{ size: 'A4', margin, pdfVersion: '1.7', subset: 'PDF/A-3b', lang: 'en' },
    info: { Title: title, Producer: 'pool', Creator: 'pool', CreationDate: date, ModDate: date },
    // Its type wants a path. The bytes are loaded below as well.
    font: font.bytes as never,
  });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => void chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    document.once('end', resolve);
    document.once('error', reject);
  });
  document.font(font.bytes).fontSize(18).text(title);
  document.moveDown();
  document.fontSize(10);
  const width = document.page.width - 2 * margin;
  for (const row of rows) {
    if (typeof row === 'string') {
      document.text(row, margin, document.y, { width });
    } else {
      const [label, text] = row;
      const bodyWidth = width - labelWidth;
      const height = document.heightOfString(text, { width: bodyWidth });
      if (document.y + height > document.page.height - margin) {
        document.addPage();
      }
      const top = document.y;
      document.text(label, margin, top, { width: labelWidth - 8 });
      document.text(text, margin + labelWidth, top, { width: bodyWidth });
      document.y = top + height;
    }
    document.moveDown(0.5);
  }
  if (attachment !== undefined) {
    const { bytes, ...rest } = attachment;
    document.file(bytes, {
      ...rest,
      ...{ creationDate: date, modifiedDate: date, relationship: 'Data' },
    });
  }
  document.end();
  await ended;
  return Buffer.concat(chunks);
}

function describeMissing(missing: readonly string[]): string {
  const shown = missing.slice(0, 5).map((character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `U+${code}`;
  });
  const more = missing.length > shown.length ? ' and others' : '';
  return `the font cannot show ${shown.join(', ')}${more}: give a font that can, with --font`;
}
