/**
 * Every key of the sandbox follows from one public seed, so that a roster can name its recipients before the
 * sandbox exists. **Public, therefore worthless**: none of these keys may ever hold anything of value.
 *
 * @module
 */
import { type Hex, parseHex, Secret } from '@pool/core';
import { anvilMnemonic } from '@pool/testkit';
import { HDNodeWallet, id } from 'ethers';

/** Wallets that a full sandbox enrols: enough for a batch of 64 and some to spare. */
export const defaultHolderCount = 70;

/** Accounts that anvil funds at start, by what the sandbox uses them for. */
const roles = { deployer: 0, relayer: 1, publisher: 2, guardian: 3 } as const;

/** Private key of a role that pays gas. */
export function deriveRoleKey(role: keyof typeof roles): Secret<Hex> {
  const path = `m/44'/60'/0'/0/${roles[role]}`;
  return new Secret(parseHex(HDNodeWallet.fromPhrase(anvilMnemonic, '', path).privateKey, 32));
}

/** Private key of the employer who funds batches. */
export function deriveEmployerKey(): Secret<Hex> {
  return new Secret(parseHex(id('pool sandbox: employer'), 32));
}

/** Private key of the holder with this index, from 0. */
export function deriveHolderKey(index: number): Secret<Hex> {
  return new Secret(parseHex(id(`pool sandbox: holder ${index}`), 32));
}
