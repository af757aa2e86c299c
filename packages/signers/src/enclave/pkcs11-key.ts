/**
 * A key in a PKCS#11 token (an HSM, a smart card, SoftHSM2), through OpenSC's `pkcs11-tool`: no native module in this process, and any token
 * that Debian supports. The key never leaves the token.
 *
 * **Not deterministic**: a token draws a fresh nonce for each signature. So no viewing key is derived from it, and a spend is signed once; an
 * answer that is lost costs a new spend with a new manifest (protocol §7).
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, encodeWalletPub, hexToBytes, type Secret, type WalletPub } from '@pool/core';
import { extendEnvironment, invalidConfiguration } from '../config.ts';
import type { SigningKey } from '../signing-key.ts';

export type Pkcs11Options = {
  /** Path of the token's module, for example `/usr/lib/softhsm/libsofthsm2.so`. */
  readonly module: string;
  readonly tokenLabel: string;
  /** CKA_ID of the secp256k1 key pair in the token, hex. `pkcs11-tool` signs with the first key it finds if it gets a label only. */
  readonly keyId: string;
  /** The user's PIN. It reaches the tool in its environment, never on its command line. */
  readonly pin: Secret;
  /** Variables that the module reads, for example SOFTHSM2_CONF. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** DER of SubjectPublicKeyInfo before an uncompressed point of secp256k1. */
const publicKeyPrefix = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex');
const pinVariable = 'POOL_ENCLAVE_PKCS11_PIN';
const timeoutMs = 20_000;

/** @throws PoolError `invalid_configuration`: no tool, token, key or PIN that fits */
export function openPkcs11Key(options: Pkcs11Options): SigningKey {
  const { module, tokenLabel, keyId, pin, environment = {} } = options;
  const token = ['--module', module, '--token-label', tokenLabel];

  function run(args: readonly string[], input: Uint8Array, what: string): Buffer {
    const { status, stdout } = spawnSync('pkcs11-tool', [...token, ...args, '--id', keyId], {
      input,
      timeout: timeoutMs,
      maxBuffer: 4096,
      env: extendEnvironment({ ...environment, [pinVariable]: pin.reveal() }),
      // What the tool says may name objects of the token; the message below says what to check.
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    if (status !== 0) {
      throw invalidConfiguration(
        `pkcs11-tool could not ${what} the key ${keyId} of the token ${tokenLabel}; check that OpenSC is installed, and module, labels and PIN`,
      );
    }
    return stdout;
  }

  function readWalletPub(): WalletPub {
    const der = run(['--read-object', '--type', 'pubkey'], new Uint8Array(), 'read');
    const point = der.subarray(publicKeyPrefix.length);
    const isKey = der.subarray(0, publicKeyPrefix.length).equals(publicKeyPrefix);
    if (!isKey || point.length !== 65) {
      throw invalidConfiguration(`the key ${keyId} of the token ${tokenLabel} is not on secp256k1`);
    }
    return encodeWalletPub(secp256k1.Point.fromBytes(point).toAffine());
  }

  const login = ['--login', '--pin', `env:${pinVariable}`];
  return {
    walletPub: readWalletPub(),
    deterministic: false,
    sign(digest) {
      const args = [...login, '--sign', '--mechanism', 'ECDSA'];
      return bytesToHex(Uint8Array.from(run(args, hexToBytes(digest, 32), 'sign with')));
    },
  };
}
