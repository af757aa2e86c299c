/**
 * The configuration of `send --self-submit`: no variable of a platform, a gate or an agent is needed.
 *
 * @module
 */
import { resolve } from 'node:path';
import type { ConfigRemark } from '@pool/configuration';
import { createConfigReader } from '@pool/configuration';
import type { Secret } from '@pool/core';
import { createConfigError, createProcessSource } from './config.ts';
import { createLayers, readConfigFile } from './files.ts';
import { type HolderSettings, readHolder } from './holder-config.ts';
import type { Config } from './resolve.ts';
import { variables } from './variables.ts';

export type SelfSubmitSettings = HolderSettings &
  Pick<
    Config,
    | 'home'
    | 'isProduction'
    | 'logLevel'
    | 'prover'
    | 'accelerator'
    | 'artifactsDir'
    | 'artifactsManifest'
  > & {
    /** Pays the gas. */
    readonly gasPrivateKey: Secret | undefined;
    /** Wei for all gas of one transaction. */
    readonly gasCapWei: bigint;
  };

/** 0.05 of the chain's own coin. */
const defaultGasCapWei = 50_000_000_000_000_000n;

/** @throws PoolError `invalid_configuration` naming every problem */
export function readSelfSubmitSettings(envFile?: string): SelfSubmitSettings {
  const source = createProcessSource();
  const layers = createLayers(source, readConfigFile(source, envFile));
  const problems: ConfigRemark[] = [...layers.fileProblems];
  const read = createConfigReader(layers, problems);
  const settings = {
    home: layers.home,
    isProduction: read.optional(variables.nodeEnv) === 'production',
    logLevel: read.defaulted(variables.logLevel),
    chain: read.optional(variables.chain),
    chainsFile: resolve(read.defaulted(variables.chainsFile)),
    prover: read.defaulted(variables.prover),
    accelerator: read.defaulted(variables.accelerator),
    artifactsDir: read.optional(variables.artifactsDir),
    artifactsManifest: read.optional(variables.artifactsManifest),
    gasPrivateKey: read.optional(variables.gasPrivateKey),
    gasCapWei: read.optional(variables.gasMaxCost) ?? defaultGasCapWei,
    holder: readHolder(read, layers, problems),
  };
  if (problems.length > 0) {
    throw createConfigError(problems);
  }
  return settings;
}
