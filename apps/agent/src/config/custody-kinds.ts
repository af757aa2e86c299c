/**
 * The kinds of value of the custody variables: pins of an enclave, and keys of a custodian's service account.
 *
 * @module
 */

import type { Kind } from '@pool/configuration';
import { type EvmAddress, isPoolError, parseEvmAddress, Secret } from '@pool/core';
import { type AttestationPins, parsePcrPins, parseRootSha256 } from '@pool/signers';
import { serviceUrl } from './kinds.ts';

/** The address of a signer, pinned: what the signer says about itself is not believed. */
export const evmAddress: Kind<EvmAddress> = {
  label: 'address',
  parse(text) {
    try {
      return { kind: 'value', value: parseEvmAddress(text) };
    } catch (error) {
      const why = isPoolError(error) ? `: ${error.message}` : '';
      return { kind: 'wrong', problems: [`must be an EVM address${why}`] };
    }
  },
};

/** The origin of a URL as a browser writes it, without a path and without a slash at the end. */
export const urlOrigin: Kind<string> = {
  label: 'URL',
  parse(text) {
    const parsed = serviceUrl.parse(text);
    return parsed.kind === 'value'
      ? { kind: 'value', value: new URL(parsed.value).origin }
      : parsed;
  },
};

/** What the names of a provider's own headers begin with. */
export const headerPrefix: Kind<string> = {
  label: 'prefix of headers',
  parse: (text) =>
    /^x-(?:[a-z0-9-]{0,30}-)?$/.test(text)
      ? { kind: 'value', value: text }
      : {
          kind: 'wrong',
          problems: ['must begin with x- and end with a hyphen, in lower case'],
        },
};

/** SHA-256 of the DER of a root certificate. */
export const rootSha256: Kind<Uint8Array> = parsing('SHA-256, 64 hex digits', parseRootSha256);

/** PCR0, PCR1 and PCR2, 48 bytes each, none zero. */
export const pcrPins: Kind<AttestationPins['pcrs']> = parsing(
  '`0=<hex>,1=<hex>,2=<hex>`',
  parsePcrPins,
);

/** @param parse - its messages begin with "the … must be" and quote no value */
function parsing<T>(label: string, parse: (text: string) => T): Kind<T> {
  return {
    label,
    parse(text) {
      try {
        return { kind: 'value', value: parse(text) };
      } catch (error) {
        const why = isPoolError(error) ? error.message : 'it cannot be read';
        return { kind: 'wrong', problems: [`is wrong: ${why}`] };
      }
    },
  };
}

/** A private key as PKCS#8 in PEM. In one line, `\n` stands for a line break. */
export const privateKeyPem: Kind<Secret> = {
  label: 'secret, private key in PEM (PKCS#8)',
  parse(text) {
    const pem = text.replaceAll('\\n', '\n').trim();
    return /^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=\s]+\n-----END PRIVATE KEY-----$/.test(pem)
      ? { kind: 'value', value: new Secret(`${pem}\n`) }
      : {
          kind: 'wrong',
          problems: [
            'must be a private key in PEM that begins with -----BEGIN PRIVATE KEY-----; name its file with the _FILE form',
          ],
        };
  },
};
