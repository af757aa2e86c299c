/**
 * The tables of the ledger. What limits future approvals is only ever added to; people and seeds of a manifest are erased.
 *
 * @module
 */
import { parseEncryptionPublicKey, parseEvmAddress, parseHex32 } from '@pool/core';
import type { RosterRelease } from '../history/ledger-history.ts';
import type { StoredManifest } from '../history/ledger-view.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import type { SignKind } from '../requests/requests.ts';
import {
  createTable,
  flag,
  integer,
  optional,
  type RowOf,
  text,
  textOf,
  unionText,
} from './table.ts';

/** Written into the file. A file with another number is refused. */
export const ledgerVersion = 1;

const hex32 = textOf(parseHex32);
const address = textOf(parseEvmAddress);
const amount = textOf(BigInt);
const kind = unionText<SignKind>();
const reason = unionText<DecisionReason>();

/** Undefined for a spend. */
const batchColumns = {
  funder: optional(address),
  employerId: optional(text),
  jobKey: optional(text),
  attempt: optional(integer),
  batchNonce: optional(hex32),
  batchId: optional(hex32),
  total: optional(amount),
  voidDigest: optional(hex32),
  rosterDigest: optional(hex32),
};

const manifestColumns = {
  manifestDigest: hex32,
  kind: unionText<StoredManifest['kind']>(),
  chainId: integer,
  pool: address,
  token: address,
  digest: hex32,
  deadline: integer,
  receivedAtMs: integer,
  // Secret, and NULL once it was erased. Read as empty where it is there, so that no query reads people by accident.
  file: { ...optional(text), select: 'substr(file, 1, 0) AS file' },
  ...batchColumns,
};

export const manifestTable = createTable(
  'manifest',
  ['manifestDigest'],
  manifestColumns,
  'UNIQUE (employer_id, job_key, attempt)',
);

export function readManifest(row: RowOf<typeof manifestColumns>): StoredManifest {
  const entries = Object.entries(row);
  const batch = entries.filter(([field]) => field in batchColumns);
  const { file, ...common } = Object.fromEntries(
    entries.filter((entry) => !batch.includes(entry)),
  ) as Pick<typeof row, Exclude<keyof typeof row, keyof typeof batchColumns>>;
  return {
    ...common,
    isErased: file === undefined,
    batch: row.kind === 'fund' ? (Object.fromEntries(batch) as StoredManifest['batch']) : undefined,
  };
}

export const guardTable = createTable('guard', ['id'], {
  id: text,
  kind,
  digest: hex32,
  firstAtMs: integer,
  isConflicted: flag,
});

export const countTable = createTable('counted', ['guardId', 'scope', 'day'], {
  guardId: text,
  day: text,
  scope: text,
  amount,
  atMs: integer,
});

export const pinTable = createTable('pin', ['walletKey'], {
  walletKey: hex32,
  encryptionPublicKey: textOf(parseEncryptionPublicKey),
  issuedAtMs: integer,
});

export const payeeTable = createTable('payee', ['payeeKey'], { payeeKey: hex32 });

export const rosterTable = createTable('roster', ['rosterDigest', 'guardId'], {
  rosterDigest: hex32,
  guardId: text,
  label: text,
  approvedAtMs: integer,
});

export const nullifierTable = createTable('nullifier', ['nullifier', 'manifestDigest'], {
  nullifier: hex32,
  manifestDigest: hex32,
  deadline: integer,
});

/** Every statement of a person stays: a denial is of the roster, and outlives its batch. */
export const releaseTable = createTable(
  'released',
  ['rosterDigest', 'manifestDigest', 'publicKey', 'decision', 'issuedAt', 'signature'],
  {
    manifestDigest: hex32,
    publicKey: text,
    decision: unionText<RosterRelease['decision']>(),
    total: text,
    token: address,
    issuedAt: text,
    signature: text,
    rosterDigest: hex32,
  },
);

/** The id of a vote that gets its number when it is written. */
export const nextId = 0;

const voteColumns = {
  /** From 1, in the order of decisions. */
  id: {
    sql: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    read: Number,
    write: (id: number) => (id === nextId ? null : id),
  },
  requestId: { ...text, sql: 'TEXT NOT NULL UNIQUE' },
  kind,
  /** What the guard compares. Undefined: the payload has none, so it was refused. */
  digest: optional(hex32),
  value: unionText<'approve' | 'deny'>(),
  /** Undefined for an approval. */
  reason: optional(reason),
  manifestDigest: optional(hex32),
  decidedAtMs: integer,
  /** Undefined: it was not sent, as far as is known. */
  sentAtMs: optional(integer),
  /** Undefined: the custodian did not show it yet. It is sent again until it does. */
  seenAtMs: optional(integer),
  /** Undefined: none was known when it was decided, and none was noted since. */
  transactionId: optional(text),
};
export const voteTable = createTable('vote', [], voteColumns);
/** A decision that must reach the custodian. It is stored before it is sent. */
export type Vote = RowOf<typeof voteColumns>;

const waitingColumns = {
  requestId: text,
  kind,
  manifestDigest: optional(hex32),
  reason,
  message: text,
  sinceMs: integer,
  transactionId: optional(text),
};
export const waitingTable = createTable('waiting', ['requestId'], waitingColumns);
/** A request that has to wait. */
export type WaitingRequest = RowOf<typeof waitingColumns>;

export const policySignatureTable = createTable(
  'policy_signature',
  ['sha256', 'previous', 'number', 'publicKey', 'issuedAt', 'signature'],
  {
    sha256: text,
    previous: text,
    number: integer,
    issuedAt: text,
    publicKey: text,
    signature: text,
  },
);

const auditColumns = {
  /** From 1, without gaps. */
  seq: integer,
  atMs: integer,
  event: text,
  /** JSON object. Confidential. */
  data: text,
  /** SHA-256 over the previous hash and this entry. */
  hash: hex32,
};
export const auditTable = createTable('audit', ['seq'], auditColumns);
export type AuditEntry = RowOf<typeof auditColumns>;

export const policyTable = createTable('policy', ['sha256'], { sha256: text, text });

/** The policy with the greatest number is in effect. */
export const appliedTable = createTable('policy_applied', ['number'], {
  number: integer,
  sha256: text,
  atMs: integer,
  /** Put in effect by "policy apply", and its file was not seen yet. */
  awaitsFile: flag,
});

const tables = [
  manifestTable,
  guardTable,
  countTable,
  pinTable,
  payeeTable,
  rosterTable,
  nullifierTable,
  releaseTable,
  voteTable,
  waitingTable,
  policySignatureTable,
  auditTable,
  policyTable,
  appliedTable,
];

export const ledgerSchema = `
  -- One row: identity of this ledger, number of its last write, and whether it is older than what was voted.
  CREATE TABLE ledger (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    ledger_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    restored_because TEXT,
    -- Number of the process that votes. One with an earlier number was replaced, and writes nothing.
    voter INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  ${tables.map(({ sql }) => sql).join('\n')}
  CREATE INDEX manifest_by_digest ON manifest (digest);
  CREATE INDEX manifest_by_batch ON manifest (batch_nonce);
  CREATE INDEX guard_by_digest ON guard (kind, digest);
  CREATE INDEX counted_by_day ON counted (scope, day);
  CREATE INDEX counted_by_time ON counted (scope, at_ms);
  CREATE INDEX vote_by_manifest ON vote (manifest_digest);
  PRAGMA user_version = ${String(ledgerVersion)};
`;
