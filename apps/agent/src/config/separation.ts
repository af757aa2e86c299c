/**
 * Credentials that must not be one and the same: whoever holds the lesser one would hold the greater one too
 * (README.md, "Configuration").
 *
 * @module
 */
import type { Secret } from '@pool/core';
import { isSameSecret } from '../http/bearer.ts';
import type { ConfigRemark } from './types.ts';

type Separation = {
  readonly variable: string;
  /** Absent: every other credential. */
  readonly differsFrom?: readonly string[];
  readonly reason: string;
};

const separations: readonly Separation[] = [
  {
    variable: 'DISBURSE_BALANCE_TOKEN',
    differsFrom: ['DISBURSE_TRANSFER_TOKEN', 'DISBURSE_SEND_TOKEN', 'DISBURSE_PLATFORM_TOKEN'],
    reason: 'a reporting credential must not be able to move value',
  },
  {
    variable: 'DISBURSE_TRANSFER_TOKEN',
    differsFrom: ['DISBURSE_PLATFORM_TOKEN'],
    reason: 'a spend needs a key of its own; mint one with the capability holder.transfer',
  },
  {
    variable: 'DISBURSE_SEND_TOKEN',
    differsFrom: ['DISBURSE_PLATFORM_TOKEN'],
    reason: 'a spend needs a key of its own; mint one with the capability holder.send',
  },
  {
    variable: 'DISBURSE_METRICS_TOKEN',
    reason: 'monitoring must hold nothing that reaches more than the metrics',
  },
  {
    variable: 'DISBURSE_FINGERPRINT_KEY',
    reason: 'it is copied between agents, and nobody else may guess what was paid with it',
  },
];

/** @param credentials - by name, as they are in effect: inline or out of a file makes no difference */
export function findSharedCredentials(credentials: ReadonlyMap<string, Secret>): ConfigRemark[] {
  return separations.flatMap(({ variable, differsFrom, reason }) => {
    const own = credentials.get(variable);
    if (own === undefined) {
      return [];
    }
    const others = differsFrom ?? [...credentials.keys()].filter((name) => name !== variable);
    return others
      .filter((name) => {
        const other = credentials.get(name);
        return other !== undefined && isSameSecret(own.reveal(), other.reveal());
      })
      .map((name) => ({ variable, message: `${variable} must differ from ${name}: ${reason}` }));
  });
}
