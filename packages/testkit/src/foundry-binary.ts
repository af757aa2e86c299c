/**
 * Paths of the Foundry tools that npm installed. The launcher scripts of `@foundry-rs/*` start the real
 * binary as a grandchild, which outlives a killed parent; starting the binary itself avoids that.
 */
import { createRequire } from 'node:module';
import { PoolError } from '@pool/core';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const platforms: Readonly<Record<string, string>> = {
  linux: 'linux',
  darwin: 'darwin',
  win32: 'win32',
};

/** Absolute path of the anvil binary for this machine. Throws `process_not_started` where npm ships none. */
export function anvilBinary(): string {
  return foundryBinary('anvil');
}

/** Absolute path of the named Foundry tool for this machine. */
function foundryBinary(tool: 'anvil'): string {
  const platform = platforms[process.platform];
  const architecture = architectures[process.arch];
  if (platform === undefined || architecture === undefined) {
    throw new PoolError(
      'process_not_started',
      `Foundry publishes no ${tool} for ${process.platform}/${process.arch}; use Linux or macOS on x64 or arm64.`,
    );
  }
  // The platform package is a dependency of the launcher package, so it is resolved from there.
  const fromHere = createRequire(import.meta.url);
  const fromLauncher = createRequire(fromHere.resolve(`@foundry-rs/${tool}/package.json`));
  const suffix = platform === 'win32' ? '.exe' : '';
  return fromLauncher.resolve(
    `@foundry-rs/${tool}-${platform}-${architecture}/bin/${tool}${suffix}`,
  );
}
