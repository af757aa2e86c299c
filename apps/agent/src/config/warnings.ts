/**
 * What the operator should hear at start though nothing of it stops the agent (README.md, "Configuration").
 *
 * @module
 */
import { type ConfigLayers, type ConfigReader, readVariable } from './reader.ts';
import { allVariables, families, knownNames, variables } from './schema.ts';
import type { ConfigRemark } from './types.ts';
import { findUnknownVariables } from './unknown.ts';

/** @param read - of the same layers; what it notes was noted before */
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
      'is not set: development keys are refused in a production-flagged environment, so nothing can be proved',
    );
  }
  if (isProduction && read.isWritten(variables.holderPrivateKey)) {
    note(
      warnings,
      variables.holderPrivateKey.name,
      'is a private key in a production-flagged environment: use a custody signer',
    );
  }
  if (read.isWritten(variables.funderEd25519Key)) {
    note(
      warnings,
      variables.funderEd25519Key.name,
      'has no effect: no Solana or Stellar pool is in this build',
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
      'has no effect without DISBURSE_POOL_GATE_URL: the platform tells which pool-gate is asked, and how',
    );
  }
  const names = [layers.env, layers.file].flatMap((values) =>
    Object.keys(values).filter((name) => (values[name] ?? '').trim() !== ''),
  );
  for (const name of new Set(names)) {
    const family = families.find(({ prefix }) => name.startsWith(prefix));
    if (family !== undefined) {
      note(warnings, name, `has no effect: it is a ${family.purpose}`);
    }
  }
  const isFamily = (name: string): boolean =>
    families.some(({ prefix }) => name.startsWith(prefix));
  return [...warnings, ...findUnknownVariables(names, knownNames, isFamily)];
}

/** Secrets in files that everybody on this machine may read: mounted secrets are often so, hence no refusal. */
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
    message: `${variable} ${verb} a file that every user of this machine may read; chmod it to 600 or 640`,
  };
}

function note(remarks: ConfigRemark[], variable: string, phrase: string): void {
  remarks.push({ variable, message: `${variable} ${phrase}` });
}
