/**
 * A kernel in TypeScript, beside those in WebAssembly. It opens boxes on a kernel thread with well-maintained implementations of
 * HKDF, SHA-256 and XChaCha20-Poly1305. The cipher checks the tag before it decrypts, so another holder's box costs no
 * decryption.
 *
 * @module
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Kernel } from './instantiate-kernels.ts';

const keyBytes = 32;
const secretBytes = 32;
const nonceBytes = 24;
/** Bytes of the Poly1305 tag at the end of a box. */
export const tagBytes = 16;

// One key opens one box, because it depends on the box's own point. The nonce can therefore be constant.
const zeroNonce = new Uint8Array(nonceBytes);

/** The plaintext. Undefined if the tag does not match the key. */
function openBox(key: Uint8Array, box: Uint8Array): Uint8Array | undefined {
  try {
    return xchacha20poly1305(key, zeroNonce).decrypt(box);
  } catch {
    return undefined;
  }
}

/**
 * `boxes_open(count, secrets, opened, salts, saltBytes, info, infoBytes, boxes, boxBytes, plain)`. For each item whose `opened`
 * byte is 1: key = HKDF-SHA256(secret, salt, info). Either the box is decrypted to `plain`, or the `opened` byte is cleared. All
 * arguments are addresses or numbers. The secrets are erased.
 */
export function createBoxKernels(memory: WebAssembly.Memory): ReadonlyMap<string, Kernel> {
  const open: Kernel = (...numbers) => {
    const [count = 0, secrets = 0, opened = 0, salts = 0, saltBytes = 0] = numbers;
    const [info = 0, infoBytes = 0, boxes = 0, boxBytes = 0, plain = 0] = numbers.slice(5);
    const bytes = new Uint8Array(memory.buffer);
    // Private copies: bytes that are read twice must not change in between.
    const copy = (address: number, length: number) => bytes.slice(address, address + length);
    const context = copy(info, infoBytes);
    for (let item = 0; item < count; item += 1) {
      if (bytes[opened + item] !== 1) continue;
      const secret = copy(secrets + item * secretBytes, secretBytes);
      const salt = copy(salts + item * saltBytes, saltBytes);
      const key = hkdf(sha256, secret, salt, context, keyBytes);
      const content = openBox(key, copy(boxes + item * boxBytes, boxBytes));
      key.fill(0);
      secret.fill(0);
      bytes[opened + item] = content === undefined ? 0 : 1;
      if (content !== undefined) bytes.set(content, plain + item * (boxBytes - tagBytes));
      content?.fill(0);
    }
    bytes.fill(0, secrets, secrets + count * secretBytes);
  };
  return new Map([['boxes_open', open]]);
}
