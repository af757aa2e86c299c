/**
 * Domain-separation tags of protocol §1. They prevent that a hash of one construction is valid in another. Vectors:
 * vectors/field.json.
 *
 * @module
 */
import { computeTag } from '@pool/core';

export const walletTag = computeTag('WALLET');
export const nullifierTag = computeTag('NULLIFIER');
export const fundBaseTag = computeTag('FUND_BASE');
