/**
 * Credentials that must differ: otherwise the holder of the lesser one also holds the greater one.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@pool/core';
import { type ConfigRemark, type ConfigVariable, createRemark } from './kinds.ts';
import type { ConfigLayers } from './layers.ts';
import { readVariable } from './reader.ts';

export type Separation = {
  /** Name of a variable. */
  readonly variable: string;
  /** Absent: every other credential. */
  readonly differsFrom?: readonly string[];
  readonly reason: string;
};

/** The effective credentials by name, also invalid ones: the separation applies to them too. */
export function listCredentials(
  variables: readonly ConfigVariable<unknown>[],
  layers: ConfigLayers,
): Map<string, Secret> {
  return new Map(
    variables.flatMap((variable) => {
      const { raw } = readVariable(variable, layers);
      return variable.credential === undefined || raw === undefined ? [] : [[variable.name, raw]];
    }),
  );
}

export function findSharedCredentials(
  credentials: ReadonlyMap<string, Secret>,
  separations: readonly Separation[],
): readonly ConfigRemark[] {
  return separations.flatMap(({ variable, differsFrom = [...credentials.keys()], reason }) => {
    const own = credentials.get(variable);
    return differsFrom
      .filter((name) => {
        const other = name === variable ? undefined : credentials.get(name);
        return (
          own !== undefined && other !== undefined && isSameSecret(own.reveal(), other.reveal())
        );
      })
      .map((name) => createRemark(variable, `must differ from ${name}: ${reason}`));
  });
}

/** Constant time: both sides are hashed to one length first. */
export function isSameSecret(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
