// Turns of phrase that a reader must translate before understanding (CONTRIBUTING.md, "English"), in documents, comments,
// messages and test titles. A pattern is here because the phrase was common; the list is short on purpose.

interface Phrase {
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly instead: string;
}

const phrases: readonly Phrase[] = [
  { pattern: /\bstands? (?:in|against|nowhere|there|on)\b/i, instead: '"is in", "prevents"' },
  // EIP-4361 texts say "wants you to sign in".
  { pattern: /\bwants (?!you to sign in)/i, instead: '"requires", "asks for"' },
  { pattern: /\bnone of (?:ours|its business)\b/i, instead: '"unknown"' },
  { pattern: /\b(?:tells?|told) of\b/i, instead: '"reports"' },
  { pattern: /\bone an? (?!(?:time|day|hour|minute|second)\b)[a-z]+/i, instead: '"one per"' },
  { pattern: /\bwould else\b/i, instead: '"otherwise"' },
  { pattern: /\bhalf a character\b/i, instead: '"an unpaired surrogate"' },
  { pattern: /\b(?:hands?|handed) over\b/i, instead: '"sends", "passes"' },
  { pattern: /\bpoolless\b/i, instead: '"addressOnlyChains"' },
  { pattern: /\bheld by [`[]/i, instead: '"is tested by"' },
];

export interface CrookedPhrase {
  /** 1-based. */
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

/** Every line of a text with one of the phrases. */
export function findCrookedPhrases(text: string): CrookedPhrase[] {
  return text.split('\n').flatMap((line, index) =>
    phrases.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [{ line: index + 1, found, instead }];
    }),
  );
}
