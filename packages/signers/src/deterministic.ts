/**
 * A viewing key is derived from a signature (protocol §2). If the signer used a fresh nonce each time, every session would derive
 * another key, and notes sealed to the first key would be lost.
 *
 * @module
 */

/** Signs twice. Returns undefined if the two signatures differ. */
export async function signTwice(sign: () => Promise<string>): Promise<string | undefined> {
  const first = await sign();
  const second = await sign();
  return first === second ? first : undefined;
}
