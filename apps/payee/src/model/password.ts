/**
 * Whether a password is strong enough for a file that anybody may search offline: scrypt makes each guess slow, and length makes them many.
 *
 * @module
 */
import { minPassphrase } from '@pool/wallet';

const fewestDifferent = 8;

export type PasswordProblem = 'too-short' | 'too-plain' | 'not-repeated';

/** @returns undefined for one that may be used */
export function findPasswordProblem(
  password: string,
  repeated: string,
): PasswordProblem | undefined {
  const characters = [...password.normalize('NFC')];
  if (characters.length < minPassphrase) return 'too-short';
  if (new Set(characters).size < fewestDifferent) return 'too-plain';
  return password === repeated ? undefined : 'not-repeated';
}
