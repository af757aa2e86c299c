/**
 * The kinds of value a variable may hold: each knows how to say what it is and how to read it. Messages say what
 * is expected and never what was found, since that may be a secret in the wrong place.
 *
 * @module
 */
import { isIP } from 'node:net';
import { isAmountString, Secret } from '@pool/core';
import { parseServiceUrl } from '@pool/platform-client';
import { normalizeEmployerId } from '../services/tenancy-pin.ts';

/** A value, or what is wrong with the text: a phrase that follows the name of the variable. */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] };

export type Kind<T> = {
  /** For the README: what the variable holds. */
  readonly label: string;
  /** @param text - trimmed, not empty */
  readonly parse: (text: string) => Parsed<T>;
};

export function accept<T>(value: T): Parsed<T> {
  return { kind: 'value', value };
}

export function reject(...problems: readonly string[]): Parsed<never> {
  return { kind: 'wrong', problems };
}

function matching(label: string, isGood: (text: string) => boolean, problem: string): Kind<string> {
  return { label, parse: (text) => (isGood(text) ? accept(text) : reject(problem)) };
}

export const text: Kind<string> = { label: 'text', parse: accept };
export const path: Kind<string> = { label: 'path', parse: accept };

export const serviceUrl: Kind<string> = {
  label: 'URL',
  parse(value) {
    try {
      parseServiceUrl(value, 'the URL');
      return accept(value);
    } catch {
      return reject('must be an https URL (http only on loopback), without credentials');
    }
  },
};

export function integer(min: number, max: number): Kind<number> {
  return {
    label: `whole number, ${min} to ${max}`,
    parse(value) {
      const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max
        ? accept(number)
        : reject(`must be a whole number from ${min} to ${max}`);
    },
  };
}

export function choice<T extends string>(allowed: readonly T[]): Kind<T> {
  return {
    label: allowed.map((value) => `\`${value}\``).join(', '),
    parse(value) {
      const known = allowed.find((candidate) => candidate === value);
      return known === undefined ? reject(`must be one of ${allowed.join(', ')}`) : accept(known);
    },
  };
}

/** A choice of which this build has only a part: it says so instead of "unknown". */
export function partialChoice<T extends string>(input: {
  readonly available: readonly T[];
  /** By value: why it cannot be chosen here. */
  readonly missing: Readonly<Record<string, string>>;
  /** By value that people try, though it is no choice anywhere: why. */
  readonly impossible?: Readonly<Record<string, string>>;
  /** What to write instead. */
  readonly expected: string;
}): Kind<T> {
  const { available, missing, impossible, expected } = input;
  const reasons = new Map(Object.entries({ ...missing, ...impossible }));
  return {
    label: [...available, ...Object.keys(missing)].map((value) => `\`${value}\``).join(', '),
    parse(value) {
      const known = available.find((candidate) => candidate === value);
      if (known !== undefined) {
        return accept(known);
      }
      return reject(reasons.get(value) ?? expected);
    },
  };
}

/** An IP address, with or without brackets, or a host name; no scheme and no port. */
export const listenHost: Kind<string> = {
  label: 'host',
  parse(value) {
    const bare = value.replace(/^\[(.*)\]$/, '$1');
    return isIP(bare) !== 0 || isHostName(value)
      ? accept(bare)
      : reject('must be an IP address or a host name, without a scheme and without a port');
  },
};

export const hostNames: Kind<readonly string[]> = {
  label: 'host names, comma separated',
  parse(value) {
    const names = value.split(',').map((name) => name.trim().toLowerCase());
    const isGood = (name: string): boolean =>
      isHostName(name) || isIP(name) !== 0 || isIP(name.replace(/^\[(.*)\]$/, '$1')) === 6;
    const present = names.filter((name) => name !== '');
    return present.every(isGood)
      ? accept(present)
      : reject('must be host names separated by commas, without scheme, port or wildcard');
  },
};

function isHostName(value: string): boolean {
  const label = '[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';
  // Four numbers that are no IP address are a mistyped one.
  return (
    value.length <= 253 &&
    new RegExp(`^${label}(?:\\.${label})*$`).test(value) &&
    !/^[0-9.]+$/.test(value)
  );
}

export const chainKey = matching(
  'chain key',
  (value) => /^[a-z0-9][a-z0-9-]{0,31}$/.test(value),
  'must be a chain key: lower-case letters, digits and hyphens',
);

export const tokenSymbol = matching(
  'token symbol',
  (value) => /^(?!0x)[A-Za-z0-9.]{1,16}$/.test(value),
  'must be a token symbol, never an address',
);

/** A ceiling in base units. */
export const baseUnits: Kind<bigint> = {
  label: 'base units',
  parse: (value) =>
    isAmountString(value)
      ? accept(BigInt(value))
      : reject(
          'must be a positive whole number of base units, without sign, point or leading zero; unset it for no ceiling',
        ),
};

export const jobStore = matching(
  '`sqlite:<path>` or `memory:`',
  (value) => /^(?:sqlite:.+|memory:)$/.test(value),
  'must be sqlite:<path> or memory: in this build',
);

export const publicKeyHex = matching(
  '32 bytes of hex',
  (value) => /^0x[0-9a-f]{64}$/.test(value),
  'must be 32 bytes of lower-case hex with 0x',
);

/** In lower case, as it is compared and hashed. */
export const uuid: Kind<string> = {
  label: 'UUID',
  parse(value) {
    const id = normalizeEmployerId(value);
    return id === undefined ? reject('must be a UUID') : accept(id);
  },
};

/** Wraps a kind of text: the value leaves only as a {@link Secret}. */
function secret(kind: Kind<string>): Kind<Secret> {
  return {
    label: `secret, ${kind.label}`,
    parse(value) {
      const parsed = kind.parse(value);
      return parsed.kind === 'value' ? accept(new Secret(parsed.value)) : parsed;
    },
  };
}

/** Something to send as a bearer. @param minLength - 20 or more where people choose it themselves */
export function bearerSecret(minLength: number): Kind<Secret> {
  const pattern = new RegExp(`^[\\x21-\\x7e]{${minLength},256}$`);
  return secret(
    matching(
      'token',
      (value) => pattern.test(value),
      `must be ${minLength} to 256 printable ASCII characters without spaces`,
    ),
  );
}

export const privateKey = secret(
  matching(
    'private key',
    (value) => /^0x[0-9a-f]{64}$/.test(value),
    'must be a private key: 32 bytes of lower-case hex with 0x',
  ),
);

export const secretBytes = secret(
  matching(
    '32 bytes of hex',
    (value) => /^0x[0-9a-f]{64}$/.test(value),
    'must be 32 bytes of lower-case hex with 0x',
  ),
);

export const opaqueSecret = secret(text);
