/**
 * Codes of 503 answers of the agent that several routes share.
 *
 * @module
 */
import { edgeTokenRefused, platformInvalidResponse } from '@pool/core';

/** Of every route that asks the platform. */
export const unavailable = [
  'verification_unavailable',
  'platform_unreachable',
  edgeTokenRefused,
  platformInvalidResponse,
  'disk_full',
] as const;

/** Of the routes that read the holder's notes. */
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
