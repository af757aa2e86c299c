/**
 * Writes /vectors from independent implementations. With `--check` it only compares. Run by `pnpm generate`.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fundBatch, fundInputs } from './vectors/batches.ts';
import { digests, eip712 } from './vectors/chain.ts';
import { disclosure } from './vectors/disclosures.ts';
import { encryptionKey, field, poseidon, viewingKey, walletId } from './vectors/keys.ts';
import { eligibilityTree, note, noteTree, sealedNote } from './vectors/notes.ts';
import { spend } from './vectors/spends.ts';

const sections: Record<string, () => unknown> = {
  field,
  poseidon,
  'wallet-id': walletId,
  'viewing-key': viewingKey,
  'encryption-key': encryptionKey,
  note,
  'sealed-note': sealedNote,
  'note-tree': noteTree,
  'eligibility-tree': eligibilityTree,
  digests,
  eip712,
  'fund-public-inputs': fundInputs,
  'fund-batch': fundBatch,
  spend,
  disclosure,
};

function pathOf(name: string): URL {
  return new URL(`../../../vectors/${name}.json`, import.meta.url);
}

/** The text of every vector file, by name. */
export function renderVectors(): Map<string, string> {
  return new Map(
    Object.entries(sections).map(([name, build]) => [
      name,
      `${JSON.stringify(build(), undefined, 2)}\n`,
    ]),
  );
}

/** Names of the files that differ from the script's output. */
export function findStaleVectors(): string[] {
  return [...renderVectors()]
    .filter(([name, text]) => readFileSync(pathOf(name), 'utf8') !== text)
    .map(([name]) => name);
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const stale = findStaleVectors();
    if (stale.length > 0) {
      process.stderr.write(`vectors out of date: ${stale.join(', ')}; run pnpm generate\n`);
      process.exitCode = 1;
    }
  } else {
    for (const [name, text] of renderVectors()) {
      writeFileSync(pathOf(name), text);
    }
  }
}
