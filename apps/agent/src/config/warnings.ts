/**
 * The warnings about a configuration, printed at start. None of them stops the agent (README.md, "Configuration").
 *
 * @module
 */

import {
  type ConfigLayers,
  type ConfigReader,
  type ConfigRemark,
  createRemark,
  findOpenSecrets,
  findUnknownVariables,
  readVariable,
} from '@pool/configuration';
import {
  funderRole,
  funderRoles,
  remoteHolderRole,
  remoteHolderRoles,
  signerVariables,
} from '@pool/signers';
import { allVariables, variables } from './variables.ts';

const ownPrefixes = ['DISBURSE_', 'POOL_GATE_OAUTH_', 'ONBOARD_'] as const;

/** @param read - reader of the same layers; the problems it finds were reported before */
export function collectWarnings(
  layers: ConfigLayers,
  read: ConfigReader,
  isProduction: boolean,
): ConfigRemark[] {
  const warnings: ConfigRemark[] = [];
  warnings.push(...findOpenSecrets(allVariables, layers));
  if (isProduction && read.isWritten(variables.funderPrivateKey)) {
    warnings.push(
      createRemark(
        variables.funderPrivateKey.name,
        'is a private key in a production-flagged environment: use a custody signer',
      ),
    );
  }
  if (
    isProduction &&
    readVariable(variables.prover, layers).value === 'wasm' &&
    !read.isWritten(variables.artifactsManifest)
  ) {
    warnings.push(
      createRemark(
        variables.artifactsManifest.name,
        'is not set: development keys are refused in a production-flagged environment, so the agent cannot make proofs',
      ),
    );
  }
  for (const variable of [variables.holderPrivateKey, variables.holderEd25519Key]) {
    if (isProduction && read.isWritten(variable)) {
      warnings.push(
        createRemark(
          variable.name,
          'is a private key in a production-flagged environment: use a custody signer',
        ),
      );
    }
  }
  if (read.isWritten(variables.funderEd25519Key)) {
    warnings.push(
      createRemark(
        variables.funderEd25519Key.name,
        'pays nothing: this build has no Solana or Stellar pool',
      ),
    );
  }
  for (const [token, ceiling] of [
    [variables.transferToken, variables.transferMaxAmount],
    [variables.sendToken, variables.sendMaxAmount],
  ] as const) {
    if (read.isWritten(token) && !read.isWritten(ceiling)) {
      warnings.push(
        createRemark(ceiling.name, 'is not set: only the requested amount bounds a call'),
      );
    }
  }
  if (!read.isWritten(variables.gateUrl) && read.isWritten(variables.gateClientSecret)) {
    warnings.push(
      createRemark(
        variables.gateClientSecret.name,
        'has no effect without DISBURSE_POOL_GATE_URL: the platform chooses the pool-gate and its client',
      ),
    );
  }
  const names = [layers.env, layers.file].flatMap((values) =>
    Object.keys(values).filter((name) => (values[name] ?? '').trim() !== ''),
  );
  warnings.push(
    ...findIdleSigners(layers, read),
    ...[...funderRoles, ...remoteHolderRoles].flatMap((role) => role.findWarnings?.(layers) ?? []),
    ...findGateVariables(names),
  );
  const unknown = findUnknownVariables(names, allVariables, ownPrefixes).map(({ variable, hint }) =>
    createRemark(variable, `is not a variable of this agent and has no effect${hint}`),
  );
  return [...warnings, ...unknown];
}

/** Variables of a signer that is not configured. */
function findIdleSigners(layers: ConfigLayers, read: ConfigReader): ConfigRemark[] {
  const funder = readVariable(variables.signer, layers).value;
  const holder = readVariable(variables.holderSigner, layers).value;
  const used = [
    ...(funder === undefined ? [] : funderRole(funder).variables),
    ...((holder && remoteHolderRole(holder))?.variables ?? []),
  ];
  return signerVariables
    .filter((variable) => !used.includes(variable) && read.isWritten(variable))
    .map(({ name }) =>
      createRemark(
        name,
        'has no effect: neither DISBURSE_SIGNER nor DISBURSE_HOLDER_SIGNER uses it',
      ),
    );
}

/** The gate's credentials beside the agent would let a compromised agent approve its own payments. */
function findGateVariables(names: readonly string[]): ConfigRemark[] {
  const found = names.find((name) => name.startsWith('APPROVE_') && name !== 'APPROVE_ENV');
  return found === undefined
    ? []
    : [
        createRemark(
          found,
          "belongs to the approve process: keep its configuration on another host than the agent's",
        ),
      ];
}
