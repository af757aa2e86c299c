/**
 * An id that finds the log lines of one job, in agent and platform alike, without revealing its key. It is neither a
 * secret nor a proof: anyone who guesses a key can compute it.
 *
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const tag = utf8ToBytes('pool/v1/trace');
const idBytes = 8;

/**
 * The first 8 bytes of SHA-256("pool/v1/trace" ‖ key), 16 hex digits.
 * @param key - the job's Idempotency-Key, bare
 */
export function deriveTraceId(key: string): string {
  return bytesToHex(sha256(concatBytes(tag, utf8ToBytes(key))).slice(0, idBytes));
}
