/**
 * Leaves parts of libraries out of the page that it never calls, and that a bundler cannot see to be unused. Each is replaced by the least
 * that its importers take from it. A library that no longer has a part stops the build.
 *
 * @module
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Files, and what takes their place. */
const files: readonly (readonly [file: RegExp, instead: string])[] = [
  // Names of ENS, of ethers. Addresses of the page are hexadecimal.
  [
    /\/ens-normalize\/dist\/index\.mjs$/u,
    'export function ens_normalize() { throw new Error("the page knows no names"); }',
  ],
  [
    /\/ethers\/lib\.esm\/providers\/ens-resolver\.js$/u,
    `export class EnsResolver { static async fromName() { return null; } }
     export class MulticoinProviderPlugin {}`,
  ],
  // Reports on a parse, of the parser of EIP-4361 texts. It makes none unless it is given them.
  [/\/apg-js\/src\/apg-lib\/(?:stats|trace)\.js$/u, 'module.exports = function () {};'],
  [/\/apg-js\/src\/apg-lib\/emitcss\.js$/u, 'module.exports = () => "";'],
];

/** The grammar as text, which the parser of EIP-4361 texts carries beside the compiled one. */
const parser = /\/siwe-parser\/dist\/parsers\.mjs$/u;
const grammarText = /let e = "";\s*return e \+= "; LDT [\s\S]*?\\r\\n", e;/u;

const converter = /\/apg-conv-api\/converter$/u;
/** Has another release of the same hashes, with the same calls. */
const ethers = fileURLToPath(import.meta.resolve('ethers'));

export function sparePartsPlugin(): Plugin {
  return {
    name: 'pool-spare-parts',
    enforce: 'pre',
    async resolveId(source, importer = '') {
      if (converter.test(source)) return join(import.meta.dirname, 'characters.ts');
      return parser.test(importer) && source.startsWith('@noble/hashes/')
        ? await this.resolve(source, ethers)
        : undefined;
    },
    load: (id) => files.find(([file]) => file.test(id))?.[1],
    transform(code, id) {
      if (!parser.test(id)) return undefined;
      if (!grammarText.test(code)) throw new Error(`${id} has no text of its grammar`);
      return { code: code.replace(grammarText, 'return "";'), map: null };
    },
  };
}
