/**
 * Leaves parts of libraries out of the page that it never calls, and that a bundler cannot see to be unused. Each is replaced by the least
 * that its importers take from it.
 *
 * @module
 */
import type { Plugin } from 'vite';

const parts: readonly (readonly [file: RegExp, instead: string])[] = [
  // The names of ENS, of ethers. Addresses of the page are hexadecimal.
  [
    /\/ens-normalize\/dist\/index\.mjs$/u,
    'export function ens_normalize() { throw new Error("the page knows no names"); }',
  ],
  // Reports on a parse and how it went, of the parser of EIP-4361 texts. It makes none unless it is given them.
  [/\/apg-js\/src\/apg-lib\/(?:stats|trace)\.js$/u, 'module.exports = function () {};'],
  [/\/apg-js\/src\/apg-lib\/emitcss\.js$/u, 'module.exports = () => "";'],
];

export function sparePartsPlugin(): Plugin {
  return {
    name: 'pool-spare-parts',
    enforce: 'pre',
    load: (id) => parts.find(([file]) => file.test(id))?.[1],
  };
}
