/**
 * For a dry run: the services on the way of a batch that cannot process it now (docs/decisions/0007).
 *
 * @module
 */
import type { RelayerHealth } from '@pool/api';
import { edgeTokenRefused, platformInvalidResponse } from '@pool/core';
import { findRelayerOutage, type PreflightFinding } from '@pool/operations';
import { chainsInvalid, relayerDown } from './platform-probe.ts';
import type { ReadinessCheck } from './readiness.ts';
import { employerMismatch } from './tenancy.ts';

export type OutageDeps = {
  readonly check: (name: 'poolGate' | 'platform') => Promise<ReadinessCheck>;
  /** Without a gate the checks refuse every recipient, with their own reason. */
  readonly hasGate: () => boolean;
  /** The relayer's health at the last check of the platform. */
  readonly readRelayer: (chain: string) => RelayerHealth | undefined;
};

/** @param chain - undefined: the agent can pay on no chain, so no relayer is checked */
export async function findOutages(
  deps: OutageDeps,
  chain: string | undefined,
): Promise<readonly PreflightFinding[]> {
  const [platform, gate] = await Promise.all([
    deps.check('platform'),
    deps.hasGate() ? deps.check('poolGate') : undefined,
  ]);
  const findings: PreflightFinding[] = [];
  const { kind, message } = platform.detail;
  const answered = [employerMismatch, edgeTokenRefused, platformInvalidResponse] as const;
  const code = answered.find((known) => known === kind);
  if (!platform.ok && code !== undefined) {
    findings.push({ code, message });
  } else if (!platform.ok && kind !== relayerDown && kind !== chainsInvalid) {
    findings.push({
      code: 'platform_unreachable',
      message: `the platform, which settles the batch: ${message}`,
    });
  } else if (chain !== undefined) {
    const outage = findRelayerOutage(chain, deps.readRelayer(chain));
    findings.push(...(outage === undefined ? [] : [outage]));
  }
  if (gate !== undefined && !gate.ok) {
    findings.push({
      code: 'gate_unreachable',
      message: `the pool-gate, which confirms recipients: ${gate.detail.message}`,
    });
  }
  return findings;
}
