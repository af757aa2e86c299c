/**
 * `approve policy lint`: reads a policy file as the gate would, and says what is wrong or likely unintended.
 *
 * @module
 */

import { lintPolicy } from '@pool/policy';
import { parseGatePlaces } from '../config/config.ts';
import { describeInput } from '../config/env-file.ts';
import { parsePolicyFile } from '../gate/settings-files.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

/** @param file - `-` for standard input; default: the gate's own. @returns the exit code */
export function runPolicyLint(
  file: string | undefined,
  options: CommonOptions,
  context: CommandContext,
): number {
  const path = file ?? parseGatePlaces(context.source, options.envFile).policyFile;
  const { policy, sha256 } = parsePolicyFile(path, context.source.readFile);
  const findings = lintPolicy(policy);
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
