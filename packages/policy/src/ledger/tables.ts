/**
 * The tables of the ledger. What limits future approvals is only ever added to; people and seeds of a manifest are erased.
 *
 * @module
 */
import { parseEncryptionPublicKey, parseEvmAddress, parseHex32 } from '@pool/core';
import type {
  CountEntry,
  EvidencePin,
  GuardEntry,
  NullifierEntry,
  RosterEntry,
  RosterRelease,
} from '../history/ledger-history.ts';
import type { StoredManifest } from '../history/ledger-view.ts';
import type { PolicySignature } from '../people/policy-change.ts';
import type { DecisionReason } from '../requests/reasons.ts';
import type { SignKind } from '../requests/requests.ts';
import type { AuditEntry, Vote, WaitingRequest } from './ledger.ts';
import { createTable, flag, integer, optional, text, textOf, unionText } from './table.ts';

/** Written into the file. A file with another number is refused. */
export const ledgerVersion = 5;

const hex32 = textOf(parseHex32);
const address = textOf(parseEvmAddress);
const amount = textOf(BigInt);
const kind = unionText<SignKind>();
const reason = unionText<DecisionReason>();

type Batch = NonNullable<StoredManifest['batch']>;

/** `file` is secret, and undefined once it was erased. A spend has no fields of a batch. */
export type ManifestRow = Omit<StoredManifest, 'isErased' | 'batch'> & {
  readonly file: string | undefined;
} & { readonly [TField in keyof Batch]: Batch[TField] | undefined };

/** Of a spend. */
export const noBatch: { readonly [TField in keyof Batch]: undefined } = {
  funder: undefined,
  employerId: undefined,
  jobKey: undefined,
  attempt: undefined,
  batchNonce: undefined,
  batchId: undefined,
  total: undefined,
  voidDigest: undefined,
  rosterDigest: undefined,
};

export const manifestTable = createTable<ManifestRow>(
  'manifest',
  ['manifestDigest'],
  {
    manifestDigest: hex32,
    kind: unionText(),
    chainId: integer,
    pool: address,
    token: address,
    digest: hex32,
    deadline: integer,
    receivedAtMs: integer,
    // Read as empty where it is there, so that no query reads people by accident.
    file: { ...optional(text), select: 'substr(file, 1, 0) AS file' },
    funder: optional(address),
    employerId: optional(text),
    jobKey: optional(text),
    attempt: optional(integer),
    batchNonce: optional(hex32),
    batchId: optional(hex32),
    total: optional(amount),
    voidDigest: optional(hex32),
    rosterDigest: optional(hex32),
  },
  'UNIQUE (employer_id, job_key, attempt)',
);

export function readManifest(row: ManifestRow): StoredManifest {
  const { file, funder, employerId, jobKey, attempt, batchNonce, ...rest } = row;
  const { batchId, total, voidDigest, rosterDigest, ...common } = rest;
  const batch = { funder, employerId, jobKey, attempt, batchNonce, batchId, total };
  return {
    ...common,
    isErased: file === undefined,
    batch: row.kind === 'fund' ? ({ ...batch, voidDigest, rosterDigest } as Batch) : undefined,
  };
}

export const guardTable = createTable<GuardEntry>('guard', ['id'], {
  id: text,
  kind,
  digest: hex32,
  firstAtMs: integer,
  isConflicted: flag,
});

export const countTable = createTable<CountEntry>('counted', ['guardId', 'scope', 'day'], {
  guardId: text,
  day: text,
  scope: text,
  amount,
  atMs: integer,
});

export const pinTable = createTable<EvidencePin>('pin', ['walletKey'], {
  walletKey: hex32,
  encryptionPublicKey: textOf(parseEncryptionPublicKey),
  issuedAtMs: integer,
});

export const payeeTable = createTable('payee', ['payeeKey'], { payeeKey: hex32 });

export const rosterTable = createTable<RosterEntry>('roster', ['rosterDigest', 'guardId'], {
  rosterDigest: hex32,
  guardId: text,
  label: text,
  approvedAtMs: integer,
});

export const nullifierTable = createTable<NullifierEntry>(
  'nullifier',
  ['nullifier', 'manifestDigest'],
  { nullifier: hex32, manifestDigest: hex32, deadline: integer },
);

/** Every statement of a person stays: a denial is of the roster, and outlives its batch. */
export const releaseTable = createTable<RosterRelease>(
  'released',
  ['rosterDigest', 'manifestDigest', 'publicKey', 'decision', 'issuedAt', 'signature'],
  {
    manifestDigest: hex32,
    publicKey: text,
    decision: unionText(),
    total: text,
    token: address,
    issuedAt: text,
    signature: text,
    rosterDigest: hex32,
  },
);

/** The id of a vote that gets its number when it is written. */
export const nextId = 0;

export const voteTable = createTable<Vote>('vote', [], {
  id: {
    sql: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    read: Number,
    write: (id) => (id === nextId ? null : id),
  },
  requestId: { ...text, sql: 'TEXT NOT NULL UNIQUE' },
  kind,
  digest: optional(hex32),
  value: unionText(),
  reason: optional(reason),
  manifestDigest: optional(hex32),
  decidedAtMs: integer,
  sentAtMs: optional(integer),
  seenAtMs: optional(integer),
  transactionId: optional(text),
});

export const waitingTable = createTable<WaitingRequest>('waiting', ['requestId'], {
  requestId: text,
  kind,
  manifestDigest: optional(hex32),
  reason,
  message: text,
  sinceMs: integer,
  transactionId: optional(text),
});

export const policySignatureTable = createTable<PolicySignature>(
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

export const auditTable = createTable<AuditEntry>('audit', ['seq'], {
  seq: integer,
  atMs: integer,
  event: text,
  data: text,
  hash: hex32,
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
  CREATE TABLE policy (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
  -- The policy with the greatest number is in effect. awaits_file 1: put in effect by "policy apply", and its file was not seen yet.
  CREATE TABLE policy_applied (
    number INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    awaits_file INTEGER NOT NULL
  ) STRICT;
  PRAGMA user_version = ${String(ledgerVersion)};
`;
