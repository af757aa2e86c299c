/**
 * Labels of pay runs (docs/decisions/0008). Labels that look alike are one label, because two labels are two
 * payments.
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** A label in the normal form. Blanks are between words only. */
const labelPattern = /^[a-z0-9](?:[a-z0-9._ -]{0,62}[a-z0-9._-])?$/;

/**
 * The normal form of a label: without upper case, accents, compatibility forms, invisible characters, and leading, trailing
 * or repeated blanks. Only ASCII is left, so that two scripts cannot spell labels that look the same.
 * @throws PoolError `invalid_request`
 */
export function parsePayRun(label: string): string {
  const normal = label
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
  if (!labelPattern.test(normal)) {
    throw new PoolError('invalid_request', `--pay-run: ${describeProblem(normal)}`);
  }
  return normal;
}

function describeProblem(normal: string): string {
  const rule =
    'a label has 1 to 64 letters, digits, dots, dashes, underscores or blanks, and begins with a letter or digit, for example 2026-11';
  const stranger = /[^a-z0-9._ -]/u.exec(normal)?.[0];
  if (normal === '') {
    return `the label is empty; ${rule}`;
  }
  return stranger === undefined
    ? rule
    : `the label contains ${describeCharacter(stranger)}, which labels cannot have; ${rule}`;
}

function describeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /\p{C}/u.test(character) ? `U+${code}` : `"${character}" (U+${code})`;
}
