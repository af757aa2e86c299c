/**
 * A ledger's history as a JSON file, for `approve ledger export` and `import`. It holds no people, but it links batches of one funder.
 *
 * @module
 */
import {
  canonicalJson,
  encryptionPublicKeySchema,
  hex32Schema,
  parseStrictJson,
  parseWire,
  unixSecondsSchema,
} from '@pool/core';
import * as v from 'valibot';
import { releaseSchema } from '../decide/release.ts';
import type { LedgerHistory } from './ledger.ts';

const timeSchema = v.pipe(v.number(), v.integer(), v.minValue(0));
const idSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(1024));
const kindSchema = v.picklist([
  'fund-authorization',
  'void',
  'permit',
  'token-approval',
  'sign-in',
  'viewing-key',
  'spend',
  'disclosure',
]);

const historyFileSchema = v.strictObject({
  version: v.literal(1),
  purpose: v.literal('pool/v1/ledger-history'),
  guards: v.array(
    v.strictObject({
      id: idSchema,
      kind: kindSchema,
      digest: hex32Schema,
      firstAtMs: timeSchema,
      isConflicted: v.boolean(),
    }),
  ),
  counts: v.array(
    v.strictObject({
      guardId: idSchema,
      scope: idSchema,
      day: v.pipe(v.string(), v.regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/)),
      amount: v.pipe(
        v.string(),
        v.regex(/^(?:0|[1-9][0-9]{0,38})$/),
        v.transform((value) => BigInt(value)),
      ),
      atMs: timeSchema,
    }),
  ),
  pins: v.array(
    v.strictObject({
      walletKey: hex32Schema,
      encryptionPublicKey: encryptionPublicKeySchema,
      issuedAtMs: timeSchema,
    }),
  ),
  payees: v.array(hex32Schema),
  rosters: v.array(
    v.strictObject({
      rosterDigest: hex32Schema,
      guardId: idSchema,
      label: v.pipe(v.string(), v.maxLength(255)),
      approvedAtMs: timeSchema,
    }),
  ),
  nullifiers: v.array(
    v.strictObject({
      nullifier: hex32Schema,
      manifestDigest: hex32Schema,
      deadline: unixSecondsSchema,
    }),
  ),
  releases: v.array(v.strictObject({ ...releaseSchema.entries, rosterDigest: hex32Schema })),
});

/** Canonical JSON. */
export function serializeHistory(history: LedgerHistory): string {
  const counts = history.counts.map((entry) => ({ ...entry, amount: String(entry.amount) }));
  return canonicalJson({ ...history, counts, version: 1, purpose: 'pool/v1/ledger-history' });
}

/** @throws PoolError `invalid_value`, `invalid_request` unless the text is an exported history */
export function parseHistory(text: string): LedgerHistory {
  const {
    version: _version,
    purpose: _purpose,
    ...history
  } = parseWire(historyFileSchema, parseStrictJson(text, 'the ledger history'), 'ledger history');
  return history;
}
