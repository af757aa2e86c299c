/**
 * The kinds of value that only the gate's variables hold.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { accept, type Kind, matching, reject } from '@pool/configuration';
import { isLoopbackHost, Secret } from '@pool/core';

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

/** The id of something at the provider: a wallet, a user, a policy. */
export const providerId = matching(
  'id',
  (text) => /^[\x21-\x7e]{1,128}$/.test(text),
  'must be an id of the custodian: 1 to 128 printable ASCII characters without spaces',
);

export const headerPrefix = matching(
  'prefix of headers',
  (text) => /^x-(?:[a-z0-9-]{0,30}-)?$/.test(text),
  'must begin with x- and end with a hyphen, in lower case',
);

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
