/**
 * Kinds of value that name things of the domain: services, wallets, keys.
 *
 * @module
 */
import {
  type EvmAddress,
  isPoolError,
  parseEvmAddress,
  parseServiceUrl,
  parseWalletPub,
  type WalletPub,
} from '@pool/core';
import { accept, type Kind, matching, reject, secret, text } from './kinds.ts';

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

/** The address of a signer, pinned: what the signer says about itself is not believed. */
export const evmAddress: Kind<EvmAddress> = {
  label: 'address',
  parse(value) {
    try {
      return accept(parseEvmAddress(value));
    } catch (error) {
      return reject(`must be an EVM address${isPoolError(error) ? `: ${error.message}` : ''}`);
    }
  },
};

/** W of an EVM wallet. */
export const walletPub: Kind<WalletPub> = {
  label: '33 bytes of hex',
  parse(value) {
    try {
      return accept(parseWalletPub(value));
    } catch {
      return reject(
        'must be W, a compressed wallet public key: 33 bytes of lower-case hex with 0x, not an address',
      );
    }
  },
};

export const privateKey = secret(
  matching(
    'private key',
    (value) => /^0x[0-9a-f]{64}$/.test(value),
    'must be a private key: 32 bytes of lower-case hex with 0x',
  ),
);

export const opaqueSecret = secret(text);
