/**
 * `approve config check`: reads everything that the gate reads at its start. It starts nothing and sends nothing.
 *
 * @module
 */
import { parseGateConfig } from '../config/config.ts';
import { readSettings } from '../config/settings-files.ts';
import type { Call, Outcome } from './output.ts';

/** @throws PoolError that names every problem */
export function runConfigCheck({ source, options }: Call): Outcome {
  const { home, policyFile, chainsFile, custodian, host, port, voteLimitSeconds } = parseGateConfig(
    source,
    options.envFile,
  );
  const settings = readSettings({ policyFile, chainsFile, voteLimitSeconds });
  const { policy, sha256 } = settings.loaded;
  const chains = Object.keys(settings.chains.chains);
  const document = {
    ok: true,
    home,
    custodian: custodian.kind,
    listen: `${host}:${port}`,
    voteLimitSeconds,
    policy: { file: policyFile, name: policy.name, sha256 },
    chains: { file: chainsFile, keys: chains },
  };
  const text = [
    `directory   ${home}`,
    `custodian   ${custodian.kind}, a vote may take ${voteLimitSeconds} seconds`,
    `listens on  ${host}:${port}`,
    `policy      ${policyFile} (${policy.name}, sha256 ${sha256})`,
    `chains      ${chainsFile} (${chains.join(', ')})`,
    'The configuration can be used. "doctor" examines the custodian.',
  ].join('\n');
  return { document, text };
}
