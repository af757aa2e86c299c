/**
 * The file of chains, pools, tokens and nodes (`chains.json`): the trust root of an agent, and the chain settings of gate and platform.
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

const agentVariable = 'DISBURSE_CHAINS_FILE';

/**
 * @param place - for readers other than an agent: the variable that names the file, and what messages call the file.
 *   `allowInsecureRpc`: a node over plain http may be elsewhere than on this machine
 * @throws PoolError `invalid_configuration`: unreadable, malformed, or with an invalid address or URL
 */
export function readChainsFile(
  path: string,
  place: {
    readonly variable?: string;
    readonly name?: string;
    readonly allowInsecureRpc?: boolean;
  } = {},
): ChainsFile {
  const { variable = agentVariable, name = `the chains file ${path}` } = place;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const problem =
      isMissing && variable === agentVariable
        ? `does not exist; "disburse-agent onboard --chains <file>" writes it from the file that the operator of the platform publishes, and ${variable} names another place`
        : `cannot be read${describeCause(cause)}; write it, check its permissions, or name another one in ${variable}`;
    throw new PoolError('invalid_configuration', `${name} ${problem}`, { cause });
  }
  let value: unknown;
  try {
    value = parseStrictJson(text, name);
  } catch (cause) {
    throw refuse(cause, name);
  }
  return parseChainsFile(value, name, place.allowInsecureRpc);
}

export function parseChainsFile(
  value: unknown,
  name: string,
  allowInsecureRpc = false,
): ChainsFile {
  try {
    const file = parseWire(chainsFileSchema, value, name);
    for (const { rpcUrl } of allowInsecureRpc ? [] : Object.values(file.chains)) {
      parseServiceUrl(rpcUrl, `${name}: rpcUrl`);
    }
    return file;
  } catch (cause) {
    throw refuse(cause, name);
  }
}

function refuse(cause: unknown, name: string): PoolError {
  const problem = isPoolError(cause) ? cause.message : `${name} is malformed`;
  return new PoolError('invalid_configuration', problem, { cause });
}
