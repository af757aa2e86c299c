/**
 * What this package reads from its machine.
 *
 * @module
 */

export type Machine = {
  /** Undefined in a browser. */
  readonly platform: NodeJS.Platform | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const { process: node } = globalThis as { readonly process?: Partial<NodeJS.Process> };

export const thisMachine: Machine = { platform: node?.platform, environment: node?.env ?? {} };
