/**
 * Codes that the answers of several routes share.
 *
 * @module
 */
import { edgeTokenRefused, platformInvalidResponse } from '@pool/core';
import type { ApiErrorCode } from './route.ts';

export const foreign = ['forbidden_host', 'forbidden_origin'] as const;
export const limited = ['rate_limited'] as const;
export const tooLarge = ['payload_too_large'] as const;

/**
 * Of every route with a credential, and of those with a body.
 * @param forbidden - the codes of 403
 */
export function listErrors<const Codes extends readonly ApiErrorCode[]>(forbidden: Codes) {
  const reading = { 401: ['unauthorized'], 403: forbidden, 429: limited } as const;
  return { reading, writing: { ...reading, 413: tooLarge } } as const;
}

/** Of every route of the agent that asks the platform. */
export const unavailable = [
  'verification_unavailable',
  'platform_unreachable',
  edgeTokenRefused,
  platformInvalidResponse,
  'disk_full',
] as const;

/** Of the routes of the agent that read the holder's notes. */
export const holderUnavailable = [
  ...unavailable,
  'stopping',
  'employer_mismatch',
  'tenancy_unreadable',
  'holder_unavailable',
  'chain_unreachable',
  'wrong_chain',
  'note_history_changed',
  'note_history_incomplete',
  'note_cache_changed',
  'note_cache_unavailable',
] as const;
