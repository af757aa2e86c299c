import { createECDH, createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formsOfScalar } from './scalar-forms.ts';
import { type ReadAt, searchBytes, searchFile, searchRange } from './search-bytes.ts';

const scalar = 0x1f2e3d4c5b6a79880123456789abcdeffedcba98765432100f1e2d3c4b5a6978n ^ (1n << 255n);
const bytes = Buffer.from(scalar.toString(16), 'hex');
const forms = formsOfScalar('key', scalar);
const pageBytes = 4096;
const chunkBytes = 1024 * 1024;

function namesIn(text: Buffer): readonly string[] {
  return searchBytes(text, forms, 'text').map(({ form }) => form);
}

describe('formsOfScalar', () => {
  it('names each form once', () => {
    const spelt = new Set(forms.map((form) => form.bytes.toString('hex')));
    expect(spelt.size).toBe(forms.length);
  });

  it('refuses a number that could be found by chance', () => {
    expect(() => formsOfScalar('key', 12n)).toThrow(RangeError);
  });
});

describe('base64', () => {
  const cases = (['base64', 'base64url'] as const).flatMap((encoding) =>
    [0, 1, 2, 3, 4].map((before) => [encoding, before] as const),
  );

  it.each(cases)('as %s is found %i bytes into a longer text', (encoding, before) => {
    for (const own of [bytes, Buffer.from(bytes).reverse()]) {
      const text = Buffer.concat([Buffer.alloc(before, 0xa5), own, Buffer.alloc(5, 0x5a)]);
      expect(namesIn(Buffer.from(text.toString(encoding)))).toHaveLength(1);
    }
  });

  // The base64 of these scalars begins with n or r, or has one of the two characters that differ in URLs.
  it.each([0x9e, 0xae, 0xfb, 0xff])('is found of a scalar that begins with %i', (first) => {
    const own = Buffer.concat([Buffer.from([first]), bytes.subarray(1)]);
    const ownForms = formsOfScalar('key', BigInt(`0x${own.toString('hex')}`));
    for (const encoding of ['base64', 'base64url'] as const) {
      for (const before of ['"', '\\']) {
        const text = Buffer.from(`${before}${own.toString(encoding)}`);
        expect(searchBytes(text, ownForms, 'text'), encoding).toHaveLength(1);
      }
    }
  });
});

describe('a key as PEM', () => {
  const ecdh = createECDH('secp256k1');
  ecdh.setPrivateKey(bytes);
  const point = ecdh.getPublicKey();
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'secp256k1',
      d: bytes.toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  const spellings = {
    'as it is': (pem: string) => Buffer.from(pem),
    'with CR and LF': (pem: string) => Buffer.from(pem.replaceAll('\n', '\r\n')),
    'in JSON': (pem: string) => Buffer.from(JSON.stringify({ pem })),
    'in JSON with CR and LF': (pem: string) =>
      Buffer.from(JSON.stringify({ pem: pem.replaceAll('\n', '\r\n') })),
    'in JSON in JSON': (pem: string) => Buffer.from(JSON.stringify(JSON.stringify({ pem }))),
    'indented, as in YAML': (pem: string) => Buffer.from(pem.replaceAll('\n', '\n    ')),
    'with two bytes for each character': (pem: string) => Buffer.from(pem, 'utf16le'),
    'in lines of 20 characters': (pem: string) =>
      Buffer.from(pem.replaceAll('\n', '').replaceAll(/.{20}/g, '$&\r\n')),
  };
  const cases = Object.entries(spellings).flatMap(([name, spell]) =>
    (['pkcs8', 'sec1'] as const).map((type) => ({ name, spell, type })),
  );

  it.each(cases)('of the type $type is found $name', ({ spell, type }) => {
    const pem = key.export({ type, format: 'pem' }).toString();
    expect(namesIn(spell(pem))).toEqual([expect.stringMatching(/^key: base64 at \d$/)]);
  });
});

describe('hex and decimal', () => {
  const hex = scalar.toString(16);
  it.each([
    ['hex', hex],
    ['upper-case hex', hex.toUpperCase()],
    ['hex', hex.replaceAll(/../g, '$&:').replaceAll(/.{45}/g, '$&\n    ')],
    ['hex', hex.replaceAll(/../g, '$& ')],
    ['reversed hex', Buffer.from(bytes).reverse().toString('hex')],
    ['decimal', scalar.toString()],
  ])('are found as %s', (name, text) => {
    expect(namesIn(Buffer.from(text))).toEqual([`key: ${name}`]);
    expect(namesIn(Buffer.from(text, 'utf16le'))).toEqual([`key: ${name}`]);
  });
});

/** Memory of which some pages cannot be read. @param wholeReads - a read fails as soon as one of its pages cannot be read */
function createMemory(
  length: number,
  content: readonly (readonly [number, Buffer])[],
  unreadable: ReadonlySet<number>,
  wholeReads: boolean,
): ReadAt {
  const memory = Buffer.alloc(length, 0x55);
  for (const [at, text] of content) {
    text.copy(memory, at);
  }
  return (buffer, offset, wanted, position) => {
    let end = position;
    while (end < position + wanted && !unreadable.has(Math.floor(end / pageBytes))) {
      end = Math.min(position + wanted, (Math.floor(end / pageBytes) + 1) * pageBytes);
    }
    if (end === position || (wholeReads && end < position + wanted)) {
      throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    }
    return memory.copy(buffer, offset, position, end);
  };
}

describe.each([false, true])('memory with pages that cannot be read (whole reads: %s)', (whole) => {
  const length = 3 * chunkBytes + 5 * pageBytes;
  const holes = [0, 3, 256, 257, 600, length / pageBytes - 1];
  const search = (content: readonly (readonly [number, Buffer])[], unreadable = holes) =>
    searchRange(
      createMemory(length, content, new Set(unreadable), whole),
      { from: 0, to: length },
      forms,
      'memory',
    );

  it('is searched page by page beside them, and they are not counted', () => {
    // After each hole, before each hole, and at the end of the range.
    for (const page of [1, 2, 4, 255, 258, 599, 601, length / pageBytes - 2]) {
      const { findings, searchedBytes } = search([[page * pageBytes + 100, bytes]]);
      expect(findings, String(page)).toEqual([{ form: 'key: big-endian bytes', where: 'memory' }]);
      expect(searchedBytes).toBe(length - holes.length * pageBytes);
    }
  });

  it('is searched across borders of chunks and pages', () => {
    for (const unreadable of [[], [100]]) {
      for (const border of [
        chunkBytes,
        2 * chunkBytes,
        101 * pageBytes + chunkBytes,
        9 * pageBytes,
      ]) {
        for (const before of [1, 16, 31]) {
          const { findings } = search([[border - before, bytes]], unreadable);
          expect(findings, `${border - before}`).toHaveLength(1);
        }
      }
    }
  });

  it('is not joined over a hole', () => {
    const hole = 3 * pageBytes;
    const { findings } = search([
      [hole - 16, bytes.subarray(0, 16)],
      [hole + pageBytes, bytes.subarray(16)],
    ]);
    expect(findings).toEqual([]);
  });
});

describe('searchFile', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pool-search-bytes-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('finds a text that is broken across a border of chunks, in a directory', () => {
    const text = bytes.toString('base64').replaceAll(/.{10}/g, '$&\n');
    const path = join(directory, 'long.txt');
    writeFileSync(path, `${'x'.repeat(chunkBytes - 20)}\n${text}\n${'y'.repeat(100)}`);
    expect(searchFile(directory, forms)).toEqual([{ form: 'key: base64 at 0', where: path }]);
  });
});
