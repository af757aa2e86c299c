/**
 * What a signer in a browser needs of this package: requests, their digests, and what a signer refuses. Without a module of Node.
 *
 * @module
 */

export { findRefusal, type SignerAllow } from './find-refusal.ts';
export { computeRequestDigest, createSignRequest } from './request-digest.ts';
