/**
 * Labels of pay runs (docs/decisions/0008). Labels that look alike are one label, because two labels are two
 * payments.
 *
 * @module
 */
import { PoolError } from '@pool/core';

/** A label in the normal form. Blanks are between words only. */
const labelPattern = /^[a-z0-9](?:[a-z0-9._ -]{0,62}[a-z0-9._-])?$/;

/** Labels that earlier versions accepted as typed. Their keys derive from that spelling. */
const earlierPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * The normal form of a label: without upper case, accents, compatibility forms, invisible characters, and leading, trailing
 * or repeated blanks. Only ASCII is left, so that two scripts cannot spell labels that look the same.
 * @throws PoolError `invalid_pay_run`
 */
export function parsePayRun(label: string): string {
  const normal = label
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
  if (!labelPattern.test(normal)) {
    throw new PoolError('invalid_pay_run', `--pay-run: ${describeProblem(normal)}`);
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

/**
 * Spellings under which an earlier version may have paid this label: as it is typed now, and as it is usually written.
 * Does not contain the normal form.
 * @param typed - as typed, before {@link parsePayRun}
 */
export function listEarlierSpellings(label: string, typed: string = label): readonly string[] {
  const spellings = [
    typed.trim(),
    label.toUpperCase(),
    label.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    label.replace(/[a-z]+/g, (word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`),
  ];
  return [...new Set(spellings)].filter(
    (spelling) => spelling !== label && earlierPattern.test(spelling),
  );
}

/** True where a spelling that an earlier version accepted names this label. */
export function isSpellingOf(spelling: string, label: string): boolean {
  return spelling === label || (earlierPattern.test(spelling) && parsePayRun(spelling) === label);
}
