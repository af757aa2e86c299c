/**
 * The tables of the ledger. What limits future approvals is only ever added to; people and seeds of a manifest are erased.
 *
 * @module
 */

/** Written into the file. A file with another number is refused. */
export const ledgerVersion = 4;

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
  CREATE TABLE manifest (
    manifest_digest TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    chain_id INTEGER NOT NULL,
    pool TEXT NOT NULL,
    token TEXT NOT NULL,
    digest TEXT NOT NULL,
    deadline INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    -- Secret. NULL: erased.
    file TEXT,
    funder TEXT,
    employer_id TEXT,
    job_key TEXT,
    attempt INTEGER,
    batch_nonce TEXT,
    batch_id TEXT,
    total TEXT,
    void_digest TEXT,
    roster_digest TEXT,
    UNIQUE (employer_id, job_key, attempt)
  ) STRICT;
  CREATE INDEX manifest_by_digest ON manifest (digest);
  CREATE INDEX manifest_by_batch ON manifest (batch_nonce);
  CREATE TABLE guard (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    first_at_ms INTEGER NOT NULL,
    is_conflicted INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX guard_by_digest ON guard (kind, digest);
  CREATE TABLE counted (
    guard_id TEXT NOT NULL,
    day TEXT NOT NULL,
    scope TEXT NOT NULL,
    amount TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (guard_id, scope, day)
  ) STRICT;
  CREATE INDEX counted_by_day ON counted (scope, day);
  CREATE INDEX counted_by_time ON counted (scope, at_ms);
  CREATE TABLE pin (
    wallet_key TEXT PRIMARY KEY,
    encryption_public_key TEXT NOT NULL,
    issued_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE payee (payee_key TEXT PRIMARY KEY) STRICT;
  CREATE TABLE roster (
    roster_digest TEXT NOT NULL,
    guard_id TEXT NOT NULL,
    label TEXT NOT NULL,
    approved_at_ms INTEGER NOT NULL,
    PRIMARY KEY (roster_digest, guard_id)
  ) STRICT;
  CREATE TABLE nullifier (
    nullifier TEXT NOT NULL,
    manifest_digest TEXT NOT NULL,
    deadline INTEGER NOT NULL,
    PRIMARY KEY (nullifier, manifest_digest)
  ) STRICT;
  -- Every statement of a person stays: a denial is of the roster, and outlives its batch.
  CREATE TABLE released (
    manifest_digest TEXT NOT NULL,
    public_key TEXT NOT NULL,
    decision TEXT NOT NULL,
    total TEXT NOT NULL,
    token TEXT NOT NULL,
    issued_at TEXT NOT NULL,
    signature TEXT NOT NULL,
    roster_digest TEXT NOT NULL,
    PRIMARY KEY (roster_digest, manifest_digest, public_key, decision, issued_at, signature)
  ) STRICT;
  CREATE TABLE vote (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    -- NULL: the payload has none, so it was refused.
    digest TEXT,
    value TEXT NOT NULL,
    reason TEXT,
    manifest_digest TEXT,
    decided_at_ms INTEGER NOT NULL,
    sent_at_ms INTEGER,
    seen_at_ms INTEGER,
    -- The custodian's, where a request has an id of its own.
    transaction_id TEXT
  ) STRICT;
  CREATE INDEX vote_by_manifest ON vote (manifest_digest);
  CREATE TABLE waiting (
    request_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    manifest_digest TEXT,
    reason TEXT NOT NULL,
    message TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    transaction_id TEXT
  ) STRICT;
  CREATE TABLE policy (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE TABLE policy_signature (
    sha256 TEXT NOT NULL,
    previous TEXT NOT NULL,
    number INTEGER NOT NULL,
    issued_at TEXT NOT NULL,
    public_key TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (sha256, previous, number, public_key, issued_at, signature)
  ) STRICT;
  -- The policy with the greatest number is in effect.
  CREATE TABLE policy_applied (
    number INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    -- 1: put in effect by "policy apply", and its file was not seen yet.
    awaits_file INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = ${String(ledgerVersion)};
`;
