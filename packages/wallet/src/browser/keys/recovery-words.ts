/**
 * The recovery words of an account: 24 English words of BIP-39 that are the seed itself, 256 bits, with a checksum of 8 bits. They
 * need no password and no file. The seed of BIP-39's own derivation (PBKDF2) is not used.
 *
 * @module
 */
import { PoolError, Secret } from '@pool/core';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { revealSeed, type Seed } from './account.ts';

const wordCount = 24;
const known: ReadonlySet<string> = new Set(wordlist);

/** @returns 24 lower-case words with one space between two, secret. @throws PoolError `invalid_value` for a wiped seed */
export function formatRecoveryWords(seed: Seed): Secret {
  return new Secret(entropyToMnemonic(revealSeed(seed), wordlist));
}

/**
 * Reads words as a person types or pastes them: in any case, with any white space around and between them, in any Unicode form.
 *
 * @param text - secret
 * @throws PoolError `invalid_recovery_words`, which names the first wrong word by its place and never repeats a word
 */
export function parseRecoveryWords(text: string): Seed {
  const words = text.normalize('NFKD').toLowerCase().split(/\s+/u).filter(Boolean);
  if (words.length !== wordCount) {
    throw refuse(`there are ${words.length} words, and an account has ${wordCount}`);
  }
  const unknown = words.findIndex((word) => !known.has(word));
  if (unknown !== -1) {
    throw refuse(`word ${unknown + 1} is not a recovery word; compare its letters`, unknown + 1);
  }
  try {
    return new Secret(mnemonicToEntropy(words.join(' '), wordlist));
  } catch {
    // The cause is dropped on purpose: it may repeat words.
    throw refuse(
      'the checksum is wrong: at least one word is another one of the list, or two changed places; compare each with your copy',
    );
  }
}

/** @param word - place of the wrong word, from 1 */
function refuse(problem: string, word?: number): PoolError {
  const message = `recovery words: ${problem}`;
  return new PoolError(
    'invalid_recovery_words',
    message,
    word === undefined ? {} : { details: { word } },
  );
}
