/**
 * `disburse-agent viewing-key new`: makes a viewing key, prints it once, and stores nothing. Its owner keeps it: it cannot be derived
 * again.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { bigintToHex32, PoolError } from '@pool/core';
import { computeEncryptionPublicKey, computeX25519PublicKey, createViewingKey } from '@pool/notes';
import { exitCodes } from '@pool/pay-run';
import type { Output } from '../../terminal/command-output.ts';

export type ViewingKeyOptions = {
  /** An age recipient, `age1…`: the document is printed encrypted to it. */
  readonly encryptTo?: string;
};

/** @returns the exit code */
export async function printNewViewingKey(
  { encryptTo }: ViewingKeyOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const entropy = randomBytes(48);
  const viewingKey = createViewingKey(entropy);
  entropy.fill(0);
  const document = JSON.stringify(
    {
      scalar: bigintToHex32(viewingKey),
      encryptionPublicKeys: {
        babyjubjub: computeEncryptionPublicKey(viewingKey),
        x25519: computeX25519PublicKey(viewingKey),
      },
    },
    null,
    2,
  );
  out(encryptTo === undefined ? document : await encryptForRecipient(`${document}\n`, encryptTo));
  return exitCodes.ok;
}

/** The text as an age file (age-encryption.org/v1), armoured. */
async function encryptForRecipient(text: string, recipient: string): Promise<string> {
  const { armor, Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  try {
    encrypter.addRecipient(recipient);
  } catch {
    // The cause is dropped on purpose: it may be the private key of age, in the wrong place.
    throw new PoolError(
      'invalid_request',
      '--encrypt-to must be an age recipient, the public key that begins with age1; nothing was made',
    );
  }
  return armor.encode(await encrypter.encrypt(text)).trimEnd();
}
