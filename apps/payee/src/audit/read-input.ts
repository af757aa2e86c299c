/**
 * What the auditor gives: a file and the nodes to ask. Pure.
 *
 * @module
 */
import { type EvidenceDomain, type EvmAddress, tryParseEvmAddress } from '@pool/core';
import type { DisclosureTerms, VerifierPlace } from './verify-by-nodes.ts';

/** As it was typed. */
export type AuditFields = {
  readonly rpcUrl: string;
  readonly secondRpcUrl: string;
  readonly pool: string;
  readonly challenge: string;
  readonly platform: string;
};

export type AuditField = keyof AuditFields;

export type AuditInput = {
  readonly place: VerifierPlace;
  readonly terms: Omit<DisclosureTerms, 'nowMs'>;
};

/** Largest file that is read. A batch of 256 with all its memos has less than 1 MB. */
export const maxFileBytes = 64_000_000;

/** What the fields say, or which of them cannot be used. */
export function readFields(
  fields: AuditFields,
): AuditInput | { readonly problems: ReadonlySet<AuditField> } {
  const problems = new Set<AuditField>();
  const rpcUrl = readNode(fields.rpcUrl);
  const second = fields.secondRpcUrl.trim() === '' ? undefined : readNode(fields.secondRpcUrl);
  const pool = readPool(fields.pool);
  const platform = readPlatform(fields.platform);
  const challenge = fields.challenge.trim();
  if (rpcUrl === undefined) problems.add('rpcUrl');
  // The same node twice would confirm nothing.
  if (fields.secondRpcUrl.trim() !== '' && (second === undefined || second === rpcUrl)) {
    problems.add('secondRpcUrl');
  }
  if (pool === undefined) problems.add('pool');
  if (fields.platform.trim() !== '' && platform === undefined) problems.add('platform');
  if (rpcUrl === undefined || pool === undefined || problems.size > 0) {
    return { problems };
  }
  return {
    place: { pool, rpcUrls: second === undefined ? [rpcUrl] : [rpcUrl, second] },
    terms: { challenge: challenge === '' ? undefined : challenge, evidenceDomain: platform },
  };
}

/** Undefined: not the address of a node that the page's policy lets it ask. */
function readNode(text: string): string | undefined {
  if (!URL.canParse(text.trim())) return undefined;
  const { protocol, hostname, username, password, href } = new URL(text.trim());
  const isOwn = protocol === 'http:' && (hostname === '127.0.0.1' || hostname === 'localhost');
  const isNode = (protocol === 'https:' || isOwn) && username === '' && password === '';
  return isNode ? href : undefined;
}

/** Without capital letters an address has no checksum: it is accepted, because another pool proves nothing. */
function readPool(text: string): EvmAddress | undefined {
  return tryParseEvmAddress(text.trim());
}

/** Sign-in texts name the host of a platform and its URL, letter for letter (EIP-4361). */
function readPlatform(text: string): EvidenceDomain | undefined {
  if (!URL.canParse(text.trim())) return undefined;
  const { protocol, host } = new URL(text.trim());
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb ? { domain: host, uri: text.trim() } : undefined;
}
