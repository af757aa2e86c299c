import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decode, encode } from './characters.ts';

type Converter = {
  decode(type: string, text: string): readonly number[];
  encode(type: string, characters: readonly number[]): { toString(type: string): string };
};

const core = join(import.meta.dirname, '../../../packages/core');
const parser = realpathSync(join(core, 'node_modules/@signinwithethereum/siwe-parser'));
const required = createRequire(join(parser, 'package.json'));
const real = required('apg-js/src/apg-conv-api/converter.js') as Converter;

const pieces = ['', 'a', '\0', '\n', 'ä', '\u{feff}', '\u{1f600}', '\ud83d', '\ude00'];
const texts = pieces.flatMap((first) =>
  pieces.flatMap((second) => pieces.map((third) => first + second + third)),
);

function attempt(convert: () => unknown): unknown {
  try {
    return convert();
  } catch (error) {
    return (error as Error).name;
  }
}

it('converts characters as the parser does, and refuses the same texts', () => {
  for (const text of texts) {
    const expected = attempt(() => {
      const characters = real.decode('STRING', text);
      return [characters, real.encode('UTF16LE', characters).toString('utf16le')];
    });
    const found = attempt(() => {
      const characters = decode('STRING', text);
      return [characters, encode('UTF16LE', characters)];
    });
    expect([text, found]).toEqual([text, expected]);
  }
});
