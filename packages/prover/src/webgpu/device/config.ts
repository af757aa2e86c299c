/**
 * What this package reads from its machine.
 *
 * @module
 */

export type Machine = {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export const thisMachine: Machine = { platform: process.platform, environment: process.env };
