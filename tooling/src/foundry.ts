// Finds Foundry's forge. The `forge` command that the npm package installs always exits with 0, even when a test
// fails or nothing compiles, so everything that acts on the exit status starts the platform's binary itself.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The absolute path of forge's binary as installed for @pool/contracts; throws when it is not installed. */
export function findForge(root: string): string {
  const platform = process.platform;
  const architecture = architectures[process.arch] ?? process.arch;
  const wrapper = createRequire(join(root, 'packages/contracts/package.json')).resolve(
    '@foundry-rs/forge/package.json',
  );
  const binary = createRequire(wrapper).resolve(
    `@foundry-rs/forge-${platform}-${architecture}/bin/forge`,
  );
  if (!existsSync(binary)) throw new Error(`forge is not installed at ${binary}`);
  return binary;
}
