import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findInstead } from './spare-parts.ts';

type Converter = {
  decode(type: string, text: string): number[];
  encode(type: string, characters: readonly number[]): { toString(type: string): string };
};

const core = join(import.meta.dirname, '../../../packages/core');
const parser = realpathSync(join(core, 'node_modules/@signinwithethereum/siwe-parser'));
const required = createRequire(join(parser, 'package.json'));
const file = required.resolve('apg-js/src/apg-conv-api/converter.js');
const real = required(file) as Converter;

const instead = {} as Converter;
new Function('exports', findInstead(file) ?? '')(instead);

const pieces = ['', 'a', '\0', '\n', 'ä', '\u{feff}', '\u{1f600}', '\ud83d', '\ude00'];
const texts = pieces.flatMap((first) =>
  pieces.flatMap((second) => pieces.map((third) => first + second + third)),
);

it('converts characters as the parser does, and refuses the same texts', () => {
  const attempt = (converter: Converter, given: string) => {
    try {
      const characters = converter.decode('STRING', given);
      return [characters, converter.encode('UTF16LE', characters).toString('utf16le')];
    } catch (error) {
      return (error as Error).name;
    }
  };
  expect(texts.map((text) => attempt(instead, text))).toEqual(
    texts.map((text) => attempt(real, text)),
  );
});
