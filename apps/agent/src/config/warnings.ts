/**
 * The warnings about a configuration, printed at start. None of them stops the agent (README.md, "Configuration").
 *
 * @module
 */

import type { ConfigLayers, ConfigRemark } from '@pool/configuration';
import { type ConfigReader, readVariable } from '@pool/configuration';
import {
  funderRole,
  funderRoles,
  remoteHolderRole,
  remoteHolderRoles,
  signerVariables,
} from '@pool/signers';
import { allVariables, knownNames, variables } from './variables.ts';

const ownPrefixes = ['DISBURSE_', 'POOL_GATE_OAUTH_', 'ONBOARD_'] as const;

/** @param read - reader of the same layers; the problems it finds were reported before */
export function collectWarnings(
  layers: ConfigLayers,
  read: ConfigReader,
  isProduction: boolean,
): ConfigRemark[] {
  const warnings: ConfigRemark[] = [];
  warnings.push(...findOpenSecrets(layers));
  if (isProduction && read.isWritten(variables.funderPrivateKey)) {
    note(
      warnings,
      variables.funderPrivateKey.name,
      'is a private key in a production-flagged environment: use a custody signer',
    );
  }
  if (
    isProduction &&
    readVariable(variables.prover, layers).value === 'wasm' &&
    !read.isWritten(variables.artifactsManifest)
  ) {
    note(
      warnings,
      variables.artifactsManifest.name,
      'is not set: development keys are refused in a production-flagged environment, so the agent cannot make proofs',
    );
  }
  for (const variable of [variables.holderPrivateKey, variables.holderEd25519Key]) {
    if (isProduction && read.isWritten(variable)) {
      note(
        warnings,
        variable.name,
        'is a private key in a production-flagged environment: use a custody signer',
      );
    }
  }
  if (read.isWritten(variables.funderEd25519Key)) {
    note(
      warnings,
      variables.funderEd25519Key.name,
      'pays nothing: this build has no Solana or Stellar pool',
    );
  }
  for (const [token, ceiling] of [
    [variables.transferToken, variables.transferMaxAmount],
    [variables.sendToken, variables.sendMaxAmount],
  ] as const) {
    if (read.isWritten(token) && !read.isWritten(ceiling)) {
      note(warnings, ceiling.name, 'is not set: only the requested amount bounds a call');
    }
  }
  if (!read.isWritten(variables.gateUrl) && read.isWritten(variables.gateClientSecret)) {
    note(
      warnings,
      variables.gateClientSecret.name,
      'has no effect without DISBURSE_POOL_GATE_URL: the platform chooses the pool-gate and its client',
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
  return [...warnings, ...findUnknownVariables(names, knownNames)];
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
    .map(({ name }) => ({
      variable: name,
      message: `${name} has no effect: neither DISBURSE_SIGNER nor DISBURSE_HOLDER_SIGNER uses it`,
    }));
}

/** The gate's credentials beside the agent would let a compromised agent approve its own payments. */
function findGateVariables(names: readonly string[]): ConfigRemark[] {
  const found = names.find((name) => name.startsWith('APPROVE_') && name !== 'APPROVE_ENV');
  return found === undefined
    ? []
    : [
        {
          variable: found,
          message: `${found} belongs to the approve process: keep its configuration on another host than the agent's`,
        },
      ];
}

/** Secrets in files that every user of this machine can read. No refusal, because mounted secrets often have this mode. */
function findOpenSecrets(layers: ConfigLayers): ConfigRemark[] {
  const { filePath, isWorldReadable } = layers;
  const isFileOpen = filePath !== undefined && isWorldReadable(filePath);
  return allVariables.flatMap((variable) => {
    const { origin, raw } = readVariable(variable, layers);
    if (variable.credential === undefined || raw === undefined) {
      return [];
    }
    if (origin.from === 'secret-file' && origin.path !== undefined) {
      return isWorldReadable(origin.path) ? [warnOfOpenFile(origin.variable, 'names')] : [];
    }
    return origin.from === 'file' && isFileOpen ? [warnOfOpenFile(variable.name, 'is in')] : [];
  });
}

function warnOfOpenFile(variable: string, verb: 'names' | 'is in'): ConfigRemark {
  return {
    variable,
    message: `${variable} ${verb} a file that every user of this machine can read; chmod it to 600 or 640`,
  };
}

function note(remarks: ConfigRemark[], variable: string, phrase: string): void {
  remarks.push({ variable, message: `${variable} ${phrase}` });
}

/**
 * Unknown variables with our prefix trigger a warning suggesting the closest name. Most are typing errors that nobody
 * would notice otherwise.
 */
function findUnknownVariables(names: Iterable<string>, known: readonly string[]): ConfigRemark[] {
  return [...new Set(names)]
    .filter((name) => findPrefix(name) !== undefined && !known.includes(name))
    .sort()
    .map((variable) => {
      const nearest = findNearest(variable, known);
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      return {
        variable,
        message: `${variable} is not a variable of this agent and has no effect${hint}`,
      };
    });
}

function findPrefix(name: string): string | undefined {
  return ownPrefixes.find((prefix) => name.toUpperCase().startsWith(prefix));
}

/** The known name with the smallest edit distance, if that distance is small for the length of the name. */
function findNearest(name: string, known: readonly string[]): string | undefined {
  const upper = name.toUpperCase();
  const length = upper.length - (findPrefix(upper)?.length ?? 0);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(length / 3)) + 1;
  for (const candidate of known) {
    const distance = computeEditDistance(upper, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The edit distance of two texts: insertions, deletions and replacements. */
function computeEditDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      const inserted = (next[column] ?? 0) + 1;
      const deleted = (row[column + 1] ?? 0) + 1;
      next.push(Math.min(replaced, inserted, deleted));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
