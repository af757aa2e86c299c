/**
 * Domain-separation tags of protocol §1. They prevent that a hash of one construction is valid in another. Vectors:
 * vectors/field.json, vectors/spend.json.
 *
 * @module
 */
import { computeTag, type Field, type SpendCircuit, spendCircuits } from '@pool/core';

export const walletTag = computeTag('WALLET');
export const ed25519WalletTag = computeTag('WALLET_ED');
export const nullifierTag = computeTag('NULLIFIER');
export const fundBaseTag = computeTag('FUND_BASE');

export const dummyTag = computeTag('DUMMY');
export const spendBaseTag = computeTag('SPEND_BASE');
export const operationTag = computeTag('OPERATION');
export const spendDigestTag = computeTag('D_SPEND');
/** The tag of an operation names its circuit, so an authorisation for one circuit is invalid in another. */
export const operationTags = Object.fromEntries(
  spendCircuits.map((circuit) => [circuit, computeTag(circuit.replace('spend-', 'OP_'))]),
) as Readonly<Record<SpendCircuit, Field>>;
