/**
 * The pinned destinations of `send`: `label=address,label2=address2`. A label is the only way to name one, so a
 * label must not be readable as an address.
 *
 * @module
 */
import { isPoolError, parseEvmAddress } from '@pool/core';
import { accept, type Kind, reject } from './kinds.ts';

const label = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/** Checksummed addresses by label. Problems name an entry by its position: what stands there may be anything. */
export const destinations: Kind<ReadonlyMap<string, string>> = {
  label: '`label=address`, comma separated',
  parse(text) {
    const found = new Map<string, string>();
    const problems: string[] = [];
    for (const [index, entry] of text.split(',').entries()) {
      const problem = readEntry(entry.trim(), found);
      if (problem !== undefined) {
        problems.push(`entry ${index + 1} ${problem}`);
      }
    }
    return problems.length === 0 ? accept(found) : reject(...problems);
  },
};

function readEntry(entry: string, found: Map<string, string>): string | undefined {
  if (entry === '') {
    return 'is empty: write label=address pairs with one comma between two';
  }
  const [name = '', address = '', ...rest] = entry.split('=').map((part) => part.trim());
  if (address === '' || rest.length > 0) {
    return 'must be label=address';
  }
  if (!label.test(name)) {
    return 'needs a label of up to 32 letters, digits, dots, hyphens or underscores that begins with a letter';
  }
  if (found.has(name)) {
    return 'repeats the label of an earlier entry';
  }
  try {
    found.set(name, parseEvmAddress(address));
    return undefined;
  } catch (error) {
    return isPoolError(error) ? `has an address that does not hold: ${error.message}` : 'is wrong';
  }
}
