/**
 * Verifies a file. The page loads this module, with the cryptography of the notes, once somebody verifies.
 *
 * @module
 */
import { isProved } from '@pool/notes';
import type { AuditInput } from './read-input.ts';
import { type NodeVerification, verifyByNodes } from './verify-by-nodes.ts';

export type AuditOutcome = AuditInput &
  NodeVerification & {
    readonly fileName: string;
    /** Existence and amount of every payment. */
    readonly isProved: boolean;
  };

/** @throws PoolError `wrong_chain`, `chain_unreachable`, `nodes_disagree` */
export async function verifyFile(
  { name: fileName, text }: { readonly name: string; readonly text: string },
  { place, terms }: AuditInput,
): Promise<AuditOutcome> {
  const verified = await verifyByNodes(parseJson(text), place, { ...terms, nowMs: Date.now() });
  return { fileName, place, terms, ...verified, isProved: isProved(verified.report) };
}

/** Undefined for what is not JSON, and so no disclosure. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
