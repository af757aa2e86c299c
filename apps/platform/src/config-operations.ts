/**
 * Configuration that the platform and the gate share for those who operate them: the token of the metrics, and the drain before a stop.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import type { Reader } from './config-reader.ts';

export type OperationsConfig = {
  /** Of `/metrics`. Undefined: there is no such route. */
  readonly metricsToken: Secret | undefined;
  /** How long the process still answers after `/readyz` turned 503. */
  readonly drainMs: number;
};

const minTokenLength = 20;

/** @param prefix - of the variables: `PLATFORM` or `GATE` */
export function readOperations(
  read: Reader,
  prefix: string,
  isProduction: boolean,
): OperationsConfig {
  const name = `${prefix}_METRICS_TOKEN`;
  const isSet = read.optional(name) !== undefined || read.optional(`${name}_FILE`) !== undefined;
  const metricsToken = isSet ? read.secret(name) : undefined;
  if (metricsToken !== undefined && metricsToken.reveal().length < minTokenLength) {
    read.problem(name, `must have ${minTokenLength} characters or more`);
  }
  const drainSeconds = read.integer(`${prefix}_DRAIN_SECONDS`, isProduction ? 10 : 0, 0, 300);
  return { metricsToken, drainMs: drainSeconds * 1_000 };
}
