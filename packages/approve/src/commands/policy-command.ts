/**
 * `approve policy lint`: reads a policy file as the gate would, and says what is wrong or likely unintended.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { lintPolicy, type Policy, type PolicyFinding } from '@pool/policy';
import { compareWithChains } from '../config/compare-chains.ts';
import { parseGatePlaces } from '../config/config.ts';
import { describeInput } from '../config/env-file.ts';
import { parsePolicyFile, readChainsFile } from '../config/settings-files.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

/** Also compares it with the chain settings. @param file - `-` for standard input; default: the gate's own. @returns the exit code */
export function runPolicyLint(
  file: string | undefined,
  options: CommonOptions,
  context: CommandContext,
): number {
  const { policyFile, chainsFile, voteLimitSeconds } = parseGatePlaces(
    context.source,
    options.envFile,
  );
  const path = file ?? policyFile;
  const { policy, sha256 } = parsePolicyFile(path, context.source.readFile);
  const findings = [...lintPolicy(policy, { voteLimitSeconds }), ...lintChains(policy, chainsFile)];
  const lines = findings.map(
    ({ severity, path: place, message }) =>
      `${severity}: ${place === '' ? '' : `${place}: `}${message}`,
  );
  const hasError = findings.some(({ severity }) => severity === 'error');
  const name = describeInput(path);
  const end = hasError ? `${name} has problems.` : `${name} can be used (sha256 ${sha256}).`;
  print(context, options, { ok: !hasError, sha256, findings }, [...lines, end].join('\n'));
  return hasError ? exitCodes.refused : exitCodes.ok;
}

function lintChains(policy: Policy, chainsFile: string): readonly PolicyFinding[] {
  if (!existsSync(chainsFile)) {
    const message = `Pools and tokens were not compared with the chain settings: ${chainsFile} does not exist. Name the file in APPROVE_CHAINS_FILE.`;
    return [{ severity: 'warning', path: '', message }];
  }
  return compareWithChains(policy, readChainsFile(chainsFile)).map(({ path, message }) => ({
    severity: 'error',
    path,
    message: `${chainsFile} differs: ${message}`,
  }));
}
