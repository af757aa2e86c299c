/**
 * The standard JSON input with which anyone compiles the contracts to the deployed code, for the source verification of block
 * explorers.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';

const contracts = [
  'solidity/ShieldedPool.sol',
  'solidity/EligibilityRegistry.sol',
  'solidity/KeyVerifier.sol',
  'solidity/lib/NoteTree.sol',
];
const library = '@openzeppelin/contracts/';

/** As foundry.toml has them. */
export const compiler = {
  version: '0.8.37',
  settings: {
    optimizer: { enabled: true, runs: 1_000_000 },
    evmVersion: 'cancun',
    viaIR: false,
    metadata: { bytecodeHash: 'none', appendCBOR: false },
  },
} as const;

/** @param noteTree - address of the library that the pool calls */
export function makeVerificationInput(noteTree: string): object {
  const require = createRequire(import.meta.url);
  const own = dirname(require.resolve('@pool/contracts/package.json'));
  const foreign = dirname(require.resolve(`${library}package.json`));
  const sources: Record<string, { readonly content: string }> = {};
  const waiting = [...contracts];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sources[name] !== undefined) continue;
    const path = name.startsWith(library)
      ? join(foreign, name.slice(library.length))
      : join(own, name);
    const content = readFileSync(path, 'utf8');
    sources[name] = { content };
    for (const [, imported = ''] of content.matchAll(/^import\s[^;]*?"([^"]+)";/gm)) {
      waiting.push(imported.startsWith('.') ? posix.join(posix.dirname(name), imported) : imported);
    }
  }
  return {
    language: 'Solidity',
    sources,
    settings: {
      ...compiler.settings,
      libraries: { 'solidity/lib/NoteTree.sol': { NoteTree: noteTree } },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode'] } },
    },
  };
}
