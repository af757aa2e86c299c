/**
 * Runs forge's own binary: the launcher that npm installs always exits with 0, even when a test fails.
 *
 * Usage: node scripts/forge.ts <forge arguments>
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Absolute path of forge's binary for this machine. Throws when it is not installed. */
export function findForge(): string {
  const launcher = createRequire(import.meta.url).resolve('@foundry-rs/forge/package.json');
  const architecture = architectures[process.arch] ?? process.arch;
  const binary = createRequire(launcher).resolve(
    `@foundry-rs/forge-${process.platform}-${architecture}/bin/forge`,
  );
  if (!existsSync(binary)) throw new Error(`forge is not installed at ${binary}`);
  return binary;
}

/** Runs forge in this package and returns its exit status. Its output goes to ours. */
export function runForge(args: readonly string[]): number {
  const { status, error } = spawnSync(findForge(), args, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  return status ?? 1;
}

if (import.meta.main) process.exitCode = runForge(process.argv.slice(2));
