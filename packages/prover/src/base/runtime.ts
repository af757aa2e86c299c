/**
 * The versions of Node that this package runs in.
 *
 * @module
 */
import { ProverError } from './errors.ts';

/** The first version of Node with what the engine needs. */
const minimum = { major: 22, minor: 18 };

/**
 * Bun and Deno report the major version of Node that they are like.
 * @throws ProverError `runtime_unsupported`
 */
export function assertRuntime(): void {
  const { process } = globalThis as { readonly process?: Partial<NodeJS.Process> };
  const { node, bun, deno }: Partial<NodeJS.ProcessVersions> = process?.versions ?? {};
  if (node === undefined) {
    return;
  }
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isNode = bun === undefined && deno === undefined;
  if (major < minimum.major || (isNode && major === minimum.major && minor < minimum.minor)) {
    throw new ProverError(
      'runtime_unsupported',
      `This is Node ${node}; @pool/prover needs Node ${minimum.major}.${minimum.minor} or later. Install a newer Node.`,
    );
  }
}
