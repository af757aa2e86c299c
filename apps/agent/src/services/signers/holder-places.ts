/**
 * What a holder's configuration must agree with: chains.json, and its own keys. Checked at the start, before anybody asks for a payment.
 *
 * @module
 */
import { type ChainsFile, PoolError } from '@pool/core';
import { computeHolderEncryptionKey, holderRole, parseSecretKey } from '@pool/signers';
import type { HolderConfig } from '../../config/holder-config.ts';
import { variables } from '../../config/variables.ts';

/** @throws PoolError `invalid_configuration`, `viewing_key_mismatch` */
export function assertHolderAgrees(
  holder: HolderConfig,
  { chains }: Pick<ChainsFile, 'chains'>,
): void {
  assertDestinations(holder, chains);
  assertSymbol(holder, chains);
  assertOwnKey(holder);
}

/** The contract refuses such a withdrawal, and the notes would be locked until the spend is dead. */
function assertDestinations(
  { sendDestinations }: HolderConfig,
  chains: ChainsFile['chains'],
): void {
  for (const [label, address] of sendDestinations) {
    for (const [key, { pool, tokens }] of Object.entries(chains)) {
      const contracts = [pool, ...Object.values(tokens).map((token) => token.address)];
      if (contracts.some((contract) => contract.toLowerCase() === address.toLowerCase())) {
        throw invalid(
          `${variables.sendDestinations.name}: ${label} is the pool or a token of chain ${key}, which cannot receive a withdrawal`,
        );
      }
    }
  }
}

/** Symbols are compared letter by letter, so every request with the default would be refused. */
function assertSymbol(
  { tokenSymbol, balanceToken, transferToken, sendToken }: HolderConfig,
  chains: ChainsFile['chains'],
): void {
  const symbols = Object.values(chains).flatMap(({ tokens }) => Object.keys(tokens));
  const hasRole = [balanceToken, transferToken, sendToken].some((token) => token !== undefined);
  const meant = symbols.find((symbol) => symbol.toLowerCase() === tokenSymbol.toLowerCase());
  if (hasRole && meant !== undefined && !symbols.includes(tokenSymbol)) {
    throw invalid(
      `${variables.tokenSymbol.name} is ${tokenSymbol}, and chains.json has ${meant}: write it as there`,
    );
  }
}

/** A derived key is compared when the holder is opened: it needs the signer. */
function assertOwnKey({ signer, viewingKey, encryptionPublicKey }: HolderConfig): void {
  if (viewingKey === undefined || encryptionPublicKey === undefined) {
    return;
  }
  const { curve } = holderRole(signer);
  if (computeHolderEncryptionKey(curve, parseSecretKey(viewingKey)) !== encryptionPublicKey) {
    throw new PoolError(
      'viewing_key_mismatch',
      `${variables.holderViewingKey.name} does not give the encryption key of ${variables.holderEncryptionPublicKey.name}; restore the viewing key of the enrolled P, or correct the variable`,
    );
  }
}

function invalid(message: string): PoolError {
  return new PoolError('invalid_configuration', message);
}
