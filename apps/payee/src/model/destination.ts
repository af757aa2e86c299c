/**
 * The address that a person typed or pasted for a withdrawal, with what may be wrong about it. A withdrawal cannot be undone.
 *
 * @module
 */
import { type EvmAddress, tryParseEvmAddress } from '@pool/core';

/** An address that the payee knows, with a name for it. */
export type KnownAddress = { readonly address: EvmAddress; readonly name: string };

export type DestinationWarning =
  /** In lower case an address has no checksum: a typing error is not noticed. */
  | { readonly kind: 'no-checksum' }
  /** Its ends are those of a known address, and its middle is not: attackers make such addresses and hope that they are copied. */
  | { readonly kind: 'looks-like'; readonly known: KnownAddress }
  | { readonly kind: 'new-address' };

export type Destination =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'address';
      readonly address: EvmAddress;
      readonly warnings: readonly DestinationWarning[];
    }
  | { readonly kind: 'mistake'; readonly problem: DestinationProblem };

export type DestinationProblem =
  /** Letters of another script, or characters that nobody sees. */
  | 'foreign-characters'
  | 'wallet-public-key'
  | 'wrong-checksum'
  | 'wrong-length'
  | 'not-an-address'
  | 'pool-contract';

/** @param contracts - of the deployment: what they receive by a withdrawal is lost */
export function readDestination(
  text: string,
  known: readonly KnownAddress[],
  contracts: readonly EvmAddress[],
): Destination {
  const typed = text.trim();
  if (typed === '') return { kind: 'empty' };
  const address = tryParseEvmAddress(typed);
  if (address === undefined) return { kind: 'mistake', problem: findProblem(typed) };
  if (contracts.includes(address)) return { kind: 'mistake', problem: 'pool-contract' };
  if (known.some((one) => one.address === address)) {
    return { kind: 'address', address, warnings: [] };
  }
  const twin = known.find((one) => endsOf(one.address) === endsOf(address));
  return {
    kind: 'address',
    address,
    warnings: [
      twin === undefined ? { kind: 'new-address' } : { kind: 'looks-like', known: twin },
      ...(typed === typed.toLowerCase() ? [{ kind: 'no-checksum' } as const] : []),
    ],
  };
}

function findProblem(typed: string): DestinationProblem {
  if (/[^!-~]/.test(typed)) return 'foreign-characters';
  if (/^0x0[23][0-9a-f]{64}$/i.test(typed)) return 'wallet-public-key';
  if (!/^0x[0-9a-f]*$/i.test(typed)) return 'not-an-address';
  if (typed.length !== 42) return 'wrong-length';
  return /^0x0+$/.test(typed) ? 'not-an-address' : 'wrong-checksum';
}

/** What people compare of an address. */
function endsOf(address: string): string {
  return `${address.slice(2, 6)}${address.slice(-4)}`.toLowerCase();
}
