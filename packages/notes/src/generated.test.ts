/** The vectors do not depend on the code that they test. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../test/vectors/', import.meta.url);

describe('generated files', () => {
  it.each(readdirSync(folder))('%s imports nothing of this repository', (name) => {
    const imports = readFileSync(new URL(name, folder), 'utf8').matchAll(/from '([^']+)'/g);
    for (const [, source = ''] of imports) {
      expect(source).toMatch(
        /^(node:crypto|ethers|poseidon-lite|@zk-kit\/(baby-jubjub|lean-imt)|\.\/(reference|chain|recipients|batches|spends)\.ts)$/,
      );
    }
  });
});
