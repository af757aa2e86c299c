/**
 * Domain-separation tags of protocol §1: one hash construction can never be mistaken for another.
 * Vectors: vectors/field.json.
 *
 * @module
 */
import { computeTag } from '@pool/core';

export const walletTag = computeTag('WALLET');
export const nullifierTag = computeTag('NULLIFIER');
export const fundBaseTag = computeTag('FUND_BASE');
