/**
 * The agent's checks in this process, with its configuration: the checks of `POST /api/validate`, and the ceiling of a
 * chain. They need no running agent and send only read requests.
 *
 * @module
 */

import type { Bootstrap } from '@pool/api';
import { readChainsFile } from '@pool/configuration';
import { type ErrorBody, explainPlatformFailure, isPoolError, PoolError } from '@pool/core';
import {
  type ChainContext,
  type ChainRoute,
  createReadiness,
  createTenancy,
  type FunderPort,
  findForeignUse,
  inspectRecipients,
  routeChain,
  validateDisbursement,
  withTenancy,
} from '@pool/operations';
import { type LocalChecks, listStoredEmployers } from '@pool/pay-run';
import { openEvidencePins, systemClock } from '@pool/wallet/node';
import type { Config } from '../config/config.ts';
import { openRecordedKeys } from '../state/agent-state.ts';
import { type AgentParts, createParts } from './agent-parts.ts';
import { createReleaseForecast, findReleases } from './releases.ts';

export async function withLocalChecks<T>(
  config: Config,
  work: (checks: LocalChecks) => Promise<T>,
): Promise<T> {
  const parts = await createParts(config);
  const pins = openEvidencePins(':memory:');
  const { paidKeys, close } = await openRecordedKeys(config);
  let releases: Awaited<ReturnType<typeof findReleases>>;
  try {
    releases = await findReleases(config, parts.contexts);
    const { vended, failure } = await askBootstrap(() => parts.edge.bootstrap());
    const refusal = vended === undefined ? undefined : await findRefusal(config, vended.employerId);
    parts.gates.update(vended?.gate);
    const { check } = createReadiness(
      {
        ...parts.probes,
        platform: withTenancy(parts.probes.platform, async () => refusal),
        accelerator: () => Promise.reject(new Error('a dry run makes no proof')),
      },
      { nowMs: () => performance.now() },
    );
    const bootstrap = (): Bootstrap => {
      if (vended === undefined) {
        throw failure;
      }
      if (refusal !== undefined) {
        throw refusal;
      }
      return vended;
    };
    const forecastRelease = createReleaseForecast(releases, systemClock.nowMs);
    const validation = parts.createValidation({
      ...{ bootstrap, pins, paidKeys, check, forecastRelease },
    });
    const chainsFile = readChainsFile(config.chainsFile);
    const route = (chain: string): Extract<ChainRoute, { kind: 'routable' }> => {
      const found = routeChain(chain, {
        contexts: parts.contexts,
        bootstrap: bootstrap(),
        defaultChain: undefined,
        // The running agent chooses the signer. It checks every part before it sends the first.
        signerCurves: ['secp256k1', 'ed25519'],
        addressOnlyChains: chainsFile.addressOnlyChains,
      });
      if (found.kind === 'invalid') {
        throw new PoolError('invalid-chain', found.reason);
      }
      return found;
    };
    return await work({
      validate: (request) => validateDisbursement(request, validation),
      findForeignUse: (chain, key) =>
        parts.funder === undefined || vended === undefined || refusal !== undefined
          ? Promise.resolve(undefined)
          : askForeignUse(parts, { chain, key, employerId: vended.employerId }, parts.funder),
      readCeiling: (chain) => route(chain).maxRecipients,
      inspect: (chain, addresses) =>
        inspectRecipients(addresses, route(chain).context, {
          platform: validation.checks.platform,
          evidence: validation.checks.evidence,
          hasGate: validation.checks.hasGate,
          evidenceDomain: chainsFile.evidence,
          nowMs: systemClock.nowMs,
        }),
    });
  } finally {
    pins.close();
    await releases?.log?.close();
    await close();
    parts.close();
  }
}

/** The other checks report a platform that does not answer. */
async function askForeignUse(
  { contexts, edge }: Pick<AgentParts, 'contexts' | 'edge'>,
  { chain, key, employerId }: { chain: string; key: string; employerId: string },
  { address: funder }: FunderPort,
): Promise<ErrorBody | undefined> {
  const findChain = (name: string): ChainContext | undefined => contexts.get(name);
  try {
    return await findForeignUse({ employerId, key, findChain }, { chain, funder }, edge);
  } catch (error) {
    if (isPoolError(error)) {
      return undefined;
    }
    throw error;
  }
}

type BootstrapOutcome =
  | { readonly vended: Bootstrap; readonly failure?: undefined }
  | { readonly vended?: undefined; readonly failure: PoolError };

/** A platform that does not answer correctly is a finding of the dry run and does not end it. */
async function askBootstrap(bootstrap: () => Promise<Bootstrap>): Promise<BootstrapOutcome> {
  try {
    return { vended: await bootstrap() };
  } catch (error) {
    if (isPoolError(error)) {
      return {
        failure: explainPlatformFailure(error, 'bootstrap', 'the platform does not answer'),
      };
    }
    throw error;
  }
}

/** The refusal of this employer that a running agent would return. Writes nothing. */
async function findRefusal(config: Config, employerId: string): Promise<PoolError | undefined> {
  const tenancy = createTenancy({
    home: config.home,
    configured: config.employerId,
    listStoredEmployers: () => listStoredEmployers(config.jobs),
    nowMs: systemClock.nowMs,
  });
  try {
    await tenancy.assert(employerId);
    return undefined;
  } catch (error) {
    if (isPoolError(error)) {
      return error;
    }
    throw error;
  }
}
