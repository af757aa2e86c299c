/**
 * The file of chains, pools, tokens and nodes (`chains.json`): the trust root of an agent.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import {
  type ChainsFile,
  chainsFileSchema,
  describeCause,
  isPoolError,
  PoolError,
  parseServiceUrl,
  parseStrictJson,
  parseWire,
} from '@pool/core';

/** @throws PoolError `invalid_configuration`: unreadable, malformed, or with an invalid address or URL */
export function readChainsFile(path: string): ChainsFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new PoolError(
      'invalid_configuration',
      isMissing
        ? `the chains file ${path} does not exist; "disburse-agent onboard --chains <file>" writes it from the file that the operator of the platform publishes, and DISBURSE_CHAINS_FILE names another place`
        : `the chains file ${path} cannot be read${describeCause(cause)}; check its permissions, or name another one in DISBURSE_CHAINS_FILE`,
      { cause },
    );
  }
  let value: unknown;
  try {
    value = parseStrictJson(text, `the chains file ${path}`);
  } catch (cause) {
    const problem = isPoolError(cause) ? cause.message : `the chains file ${path} is not JSON`;
    throw new PoolError('invalid_configuration', `${problem} (DISBURSE_CHAINS_FILE)`, { cause });
  }
  return parseChainsFile(value, path);
}

export function parseChainsFile(value: unknown, name: string): ChainsFile {
  try {
    const file = parseWire(chainsFileSchema, value, name);
    for (const { rpcUrl } of Object.values(file.chains)) {
      parseServiceUrl(rpcUrl, 'rpcUrl');
    }
    return file;
  } catch (cause) {
    const detail = cause instanceof PoolError ? `: ${cause.message}` : '';
    throw new PoolError('invalid_configuration', `the chains file ${name} is not valid${detail}`, {
      cause,
    });
  }
}
