/**
 * The configuration of `send --self-submit`: no variable of a platform, a gate or an agent is needed.
 *
 * @module
 */
import { resolve } from 'node:path';
import type { ConfigValues } from '@pool/configuration';
import { readSettings } from './config.ts';
import { type HolderConfig, readHolder } from './holder-config.ts';
import { variables } from './variables.ts';

const selfSubmitVariables = {
  nodeEnv: variables.nodeEnv,
  logLevel: variables.logLevel,
  chain: variables.chain,
  chainsFile: variables.chainsFile,
  prover: variables.prover,
  accelerator: variables.accelerator,
  artifactsDir: variables.artifactsDir,
  artifactsManifest: variables.artifactsManifest,
  /** Pays the gas. */
  gasPrivateKey: variables.gasPrivateKey,
};

export type SelfSubmitSettings = ConfigValues<typeof selfSubmitVariables> & {
  readonly home: string;
  readonly isProduction: boolean;
  readonly holder: HolderConfig;
  /** Wei for all gas of one transaction. */
  readonly gasCapWei: bigint;
};

/** 0.05 of the chain's own coin. */
const defaultGasCapWei = 50_000_000_000_000_000n;

/** @throws PoolError `invalid_configuration` naming every problem */
export function readSelfSubmitSettings(envFile?: string): SelfSubmitSettings {
  return readSettings(envFile, (read, layers, problems) => {
    const values = read.all(selfSubmitVariables);
    return {
      ...values,
      home: layers.home,
      isProduction: values.nodeEnv === 'production',
      chainsFile: resolve(values.chainsFile),
      gasCapWei: read.optional(variables.gasMaxCost) ?? defaultGasCapWei,
      holder: readHolder(read, layers, problems),
    };
  });
}
