/**
 * The agent's directory and the loopback token in it (docs/decisions/0010).
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError, Secret } from '@pool/core';

const tokenPattern = /^[0-9a-f]{64}$/;

/** Creates the directory if it is missing, and removes the access of other users. */
export function ensureAgentHome(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
}

/** The token file's path. */
function loopbackTokenPath(home: string): string {
  return join(home, 'loopback.token');
}

/** The token of this agent: 32 random bytes, created at the first start, mode 0600. */
export function ensureLoopbackToken(home: string): Secret {
  try {
    // `wx`: if two processes start at once, one writes the file and both read the same token.
    writeFileSync(loopbackTokenPath(home), `${randomBytes(32).toString('hex')}\n`, {
      flag: 'wx',
      mode: 0o600,
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw error;
    }
  }
  return readLoopbackToken(home);
}

/** @throws PoolError `loopback_token_missing` when there is no token or the file is damaged */
export function readLoopbackToken(home: string): Secret {
  let content: string;
  try {
    content = readFileSync(loopbackTokenPath(home), 'utf8').trim();
  } catch (cause) {
    throw new PoolError(
      'loopback_token_missing',
      `there is no ${loopbackTokenPath(home)}: start the agent once with "disburse-agent serve"`,
      { cause },
    );
  }
  if (!tokenPattern.test(content)) {
    throw new PoolError(
      'loopback_token_missing',
      `${loopbackTokenPath(home)} is damaged: delete it and start the agent again`,
    );
  }
  return new Secret(content);
}
