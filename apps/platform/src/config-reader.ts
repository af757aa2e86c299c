/**
 * Reads variables of the environment: each problem is kept with the variable's name, never with its value, and all are
 * reported at once.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { readChainsFile } from '@pool/configuration';
import {
  type ChainsFile,
  createConfigurationError,
  isPoolError,
  PoolError,
  parseServiceUrl,
  Secret,
} from '@pool/core';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Reader = ReturnType<typeof createReader>;

export function createReader(env: Environment) {
  const problems: string[] = [];
  const problem = (name: string, what: string): void => {
    problems.push(`${name} ${what}`);
  };
  const optional = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  };
  const text = (name: string): string => {
    const value = optional(name);
    if (value === undefined) {
      problem(name, 'is required');
    }
    return value ?? '';
  };
  const file = (name: string, path: string): string | undefined => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      problem(name, 'names a file that cannot be read');
      return undefined;
    }
  };
  // Every secret has a `_FILE` form, which takes precedence over the inline one.
  const secret = (name: string): Secret => {
    const path = optional(`${name}_FILE`);
    if (path === undefined) {
      return new Secret(text(name));
    }
    const content = file(`${name}_FILE`, path);
    if (content !== undefined && isReadByOthers(path)) {
      problem(`${name}_FILE`, 'names a file that every user of this machine may read: chmod 600');
    }
    if (content === '') {
      problem(`${name}_FILE`, 'names an empty file');
    }
    return new Secret(content ?? '');
  };
  const chainsFile = (name: string, path: string): ChainsFile | undefined => {
    try {
      return readChainsFile(path, { variable: name, name, allowInsecureRpc: true });
    } catch (error) {
      problem(name, isPoolError(error) ? error.message.slice(name.length + 1) : 'is malformed');
      return undefined;
    }
  };
  return {
    problem,
    optional,
    text,
    file,
    secret,
    privateKey(name: string): Secret {
      const value = secret(name);
      if (value.reveal() !== '' && !isPrivateKey(value.reveal())) {
        problem(name, 'must be 32 bytes of hex with 0x');
      }
      return value;
    },
    /** One or more, separated by commas or lines. */
    privateKeys(name: string): readonly Secret[] {
      const keys = splitList(secret(name).reveal());
      if (!keys.every(isPrivateKey)) {
        problem(name, 'must be 32 bytes of hex with 0x; several are separated by commas or lines');
      }
      if (new Set(keys.map((key) => key.toLowerCase())).size < keys.length) {
        problem(name, 'has the same key twice');
      }
      return keys.map((key) => new Secret(key));
    },
    integer(name: string, fallback: number, min: number, max: number): number {
      const value = optional(name);
      if (value === undefined) {
        return fallback;
      }
      const parsed = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (!(parsed >= min && parsed <= max)) {
        problem(name, `must be a whole number from ${min} to ${max}`);
        return fallback;
      }
      return parsed;
    },
    /** Separated by commas, or by lines in a file. */
    list(name: string): string[] {
      const path = optional(`${name}_FILE`);
      const items = path === undefined ? optional(name) : file(`${name}_FILE`, path);
      return splitList(items ?? '');
    },
    logLevel(name: string): string {
      const value = optional(name) ?? 'info';
      if (!['silent', 'fatal', 'error', 'warn', 'info', 'debug'].includes(value)) {
        problem(name, 'must be silent, fatal, error, warn, info or debug');
      }
      return value;
    },
    serviceUrl(name: string, value: string): void {
      try {
        parseServiceUrl(value, name);
      } catch (error) {
        problem(
          name,
          error instanceof PoolError ? error.message.slice(name.length + 1) : 'is wrong',
        );
      }
    },
    chains(name: string): ChainsFile | undefined {
      const path = text(name);
      return path === '' ? undefined : chainsFile(name, path);
    },
    chainsFile,
    finish(): void {
      if (problems.length > 0) {
        throw createConfigurationError(problems);
      }
    },
    /** After {@link finish}: a value whose absence was reported as a problem. */
    present<T>(value: T | undefined): T {
      if (value === undefined) {
        throw new PoolError('invalid_configuration', 'configuration is incomplete');
      }
      return value;
    },
  };
}

function isPrivateKey(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text);
}

function splitList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

// On Windows access lists decide, and the mode does not show them.
function isReadByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o004) !== 0;
}
