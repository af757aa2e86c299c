/**
 * The kinds of value that a variable of the gate can hold. A kind describes itself for documents and parses text. Its problems say
 * what is expected and never quote the text: it may be a secret in the wrong place.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopbackHost, Secret } from '@pool/core';

/** A value, or a phrase that follows the name of the variable. */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'wrong'; readonly problem: string };

export type Kind<T> = {
  /** For documents: the type of the value. */
  readonly label: string;
  /** @param text - trimmed, not empty */
  readonly parse: (text: string) => Parsed<T>;
};

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

function accept<T>(value: T): Parsed<T> {
  return { kind: 'value', value };
}

function reject(problem: string): Parsed<never> {
  return { kind: 'wrong', problem };
}

/** A kind whose parser throws for a wrong text. */
function parsedBy<T>(label: string, parse: (text: string) => T, problem: string): Kind<T> {
  return {
    label,
    parse(text) {
      try {
        return accept(parse(text));
      } catch {
        return reject(problem);
      }
    },
  };
}

function matching(label: string, pattern: RegExp, problem: string): Kind<string> {
  return { label, parse: (text) => (pattern.test(text) ? accept(text) : reject(problem)) };
}

export const path: Kind<string> = { label: 'path', parse: accept };

/** The id of something at the provider: a wallet, a user, a policy. */
export const providerId = matching(
  'id',
  /^[\x21-\x7e]{1,128}$/,
  'must be an id of the custodian: 1 to 128 printable ASCII characters without spaces',
);

export const headerPrefix = matching(
  'prefix of headers',
  /^x-(?:[a-z0-9-]{0,30}-)?$/,
  'must begin with x- and end with a hyphen, in lower case',
);

export function integer(min: number, max: number): Kind<number> {
  const problem = `must be a whole number from ${min} to ${max}`;
  return {
    label: `whole number, ${min} to ${max}`,
    parse(text) {
      const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= max ? accept(number) : reject(problem);
    },
  };
}

export function choice<T extends string>(allowed: readonly T[]): Kind<T> {
  return {
    label: allowed.map((value) => `\`${value}\``).join(', '),
    parse(text) {
      const known = allowed.find((candidate) => candidate === text);
      return known === undefined ? reject(`must be one of ${allowed.join(', ')}`) : accept(known);
    },
  };
}

export const serviceUrl: Kind<URL> = {
  label: 'URL',
  parse(text) {
    const problem =
      'must be an https URL (http only on loopback), without credentials, query or fragment';
    if (!URL.canParse(text)) {
      return reject(problem);
    }
    const url = new URL(text);
    const isSafe =
      url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
    const isPlain =
      url.username === '' && url.password === '' && url.search === '' && url.hash === '';
    url.pathname = url.pathname.replace(/\/+$/, '');
    return isSafe && isPlain ? accept(url) : reject(problem);
  },
};

export const listenHost: Kind<string> = {
  label: 'host',
  parse(text) {
    const bare = text.replace(/^\[(.*)\]$/, '$1');
    const isName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(bare);
    return isIP(bare) !== 0 || (isName && !/^[0-9.]+$/.test(bare))
      ? accept(bare)
      : reject('must be an IP address or a host name, without a scheme and without a port');
  },
};

export const hostNames: Kind<readonly string[]> = {
  label: 'host names, comma separated',
  parse(text) {
    const names = text
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== '');
    return names.every((name) => listenHost.parse(name).kind === 'value')
      ? accept(names)
      : reject('must be host names separated by commas, without scheme, port or wildcard');
  },
};

/** @param minLength - 20 or more for a token that people choose themselves */
export function bearerSecret(minLength: number): Kind<Secret> {
  const pattern = new RegExp(`^[\\x21-\\x7e]{${minLength},2048}$`);
  const problem = `must be at least ${minLength} printable ASCII characters without spaces`;
  return {
    label: 'secret, token',
    parse: (text) => (pattern.test(text) ? accept(new Secret(text)) : reject(problem)),
  };
}

/** `\n` written as two characters counts as a line end: a flat file has no other way to hold a PEM. */
function unfoldPem(text: string): string {
  return text.replaceAll('\\n', '\n');
}

/** A private key that stays text, for a library that parses it itself. @param types - of the key, as node:crypto names them */
export function privateKeyPem(types: readonly string[]): Kind<Secret> {
  return parsedBy(
    'secret, PEM of a PKCS#8 private key',
    (text) => {
      parsePrivateKey(text, types);
      return new Secret(unfoldPem(text));
    },
    describePrivateKey(types),
  );
}

/** @param types - of the key, as node:crypto names them */
export function privateKey(types: readonly string[]): Kind<Secret<KeyObject>> {
  return parsedBy(
    'secret, PEM of a PKCS#8 private key',
    (text) => new Secret(parsePrivateKey(text, types)),
    describePrivateKey(types),
  );
}

function parsePrivateKey(text: string, types: readonly string[]): KeyObject {
  const key = createPrivateKey(unfoldPem(text));
  if (!types.includes(key.asymmetricKeyType ?? '')) {
    throw new TypeError('another kind of key');
  }
  return key;
}

function describePrivateKey(types: readonly string[]): string {
  return `must be a PKCS#8 PEM of a private key, ${types.join(' or ')}; name its file with the _FILE form`;
}

export const rsaPublicKey: Kind<KeyObject> = parsedBy(
  'PEM of an RSA public key',
  (text) => {
    const key = createPublicKey(unfoldPem(text));
    if (key.asymmetricKeyType !== 'rsa' || text.includes('PRIVATE KEY')) {
      throw new TypeError('another kind of key');
    }
    return key;
  },
  'must be an SPKI PEM of an RSA public key; name its file with the _FILE form',
);
