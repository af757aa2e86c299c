/**
 * The kinds of value that any service's variables can hold, and the shape of a row in a table of variables. A kind describes
 * itself for the README and parses text. Its messages state what is expected and never quote the text: it may be a secret
 * in the wrong place.
 *
 * @module
 */
import { isIP } from 'node:net';
import { Secret } from '@pool/core';

/** A message about one variable, with its name and without its value. */
export type ConfigRemark = { readonly variable: string; readonly message: string };

/** @param phrase - what follows the name */
export function createRemark(variable: string, phrase: string): ConfigRemark {
  return { variable, message: `${variable} ${phrase}` };
}

export type ConfigVariable<T> = {
  readonly name: string;
  /** Who needs it: `all`, or parts of the service by name. */
  readonly role: string;
  /** For the README, in Markdown: one or two sentences without a full stop at the end. */
  readonly purpose: string;
  readonly kind: Kind<T>;
  /** The service does not start without it, if its role is needed. */
  readonly isRequired?: true;
  /** For the README: what an unset variable without a fallback means. */
  readonly whenUnset?: string;
  /** Value of an unset variable. @param home - the directory of the service */
  readonly fallback?: (home: string) => T;
  /** A secret: never shown, and has a `_FILE` form. */
  readonly credential?: CredentialForm;
};

/** A variable that always has a value. */
export type DefaultedVariable<T> = ConfigVariable<T> & {
  readonly fallback: (home: string) => T;
};

/** Where a credential is in the JSON document that its command printed. */
export type CredentialForm = {
  /** The document's field; the first that is present. */
  readonly fields: readonly string[];
  /** The file may also contain a JSON list of such secrets or documents. */
  readonly isList?: true;
  /** The secret has several lines, for example a key in PEM. */
  readonly isText?: true;
  /** The capability that the document must name, if it names one. */
  readonly capability?: string;
  /** What is wrong with the document of a secret. A phrase that follows the name of the variable. */
  readonly findProblem?: (
    document: Readonly<Record<string, unknown>>,
    secret: string,
  ) => string | undefined;
};

/** A value, or the problem of the text: a phrase that follows the name of the variable. */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] };

export type Kind<T> = {
  /** For the README: the type of the value. */
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

export function matching(
  label: string,
  isGood: (text: string) => boolean,
  problem: string,
): Kind<string> {
  return { label, parse: (text) => (isGood(text) ? accept(text) : reject(problem)) };
}

export const text: Kind<string> = { label: 'text', parse: accept };
export const path: Kind<string> = { label: 'path', parse: accept };

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

/** @param problem - of any other text */
export function choice<T extends string>(
  allowed: readonly T[],
  problem = `must be one of ${allowed.join(', ')}`,
): Kind<T> {
  return {
    label: allowed.map((value) => `\`${value}\``).join(', '),
    parse(value) {
      const known = allowed.find((candidate) => candidate === value);
      return known === undefined ? reject(problem) : accept(known);
    },
  };
}

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

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
  // Digits and dots that are not an IP address are a mistyped IP address.
  return (
    value.length <= 253 &&
    new RegExp(`^${label}(?:\\.${label})*$`).test(value) &&
    !/^[0-9.]+$/.test(value)
  );
}

/** Wraps a kind of text: the parsed value is a {@link Secret}. */
export function secret(kind: Kind<string>): Kind<Secret> {
  return {
    label: `secret, ${kind.label}`,
    parse(value) {
      const parsed = kind.parse(value);
      return parsed.kind === 'value' ? accept(new Secret(parsed.value)) : parsed;
    },
  };
}

/** A bearer token. @param minLength - 20 or more for a token that people choose themselves */
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
