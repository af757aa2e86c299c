/**
 * Inputs of a proof on their way to a prover. They contain salaries, so they are encrypted to the key of the fleet (age, X25519), and
 * neither the database nor its backups have them in clear.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import { Decrypter, Encrypter } from 'age-encryption';

/** Digits of the largest number that a circuit takes. */
const digits = 78;

/**
 * @param recipient - public key of the fleet, `age1…`
 * @param input - decimal strings by signal name, in arrays nested like the signal
 * @returns base64. Its length depends on the circuit alone: every number has the same width, so that neither amounts nor the number of
 *   payees show in it
 */
export async function sealInput(
  recipient: string,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  const text = JSON.stringify(input, (_name, value: unknown) =>
    typeof value === 'string' ? value.padStart(digits, '0') : value,
  );
  return Buffer.from(await encrypter.encrypt(text)).toString('base64');
}

/** @returns whatever was sealed; the prover judges its form. @throws whatever `age-encryption` throws for another key, or no age file */
export async function openInput(identity: Secret, sealed: string): Promise<unknown> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity.reveal());
  return JSON.parse(await decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text'));
}
