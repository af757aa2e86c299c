// What a ledger on a disk does: one transaction for each vote, crashes at every write point, restores, one voter, private files.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hex32Schema, parseWire } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeBatch, makeTokenPolicy, nowMs } from '../fixtures/batches.ts';
import { decideAs } from '../fixtures/ledgers.ts';
import { fundRequest, voidRequest } from '../fixtures/requests.ts';
import { computeCountScope, computeDay } from '../history/guard-id.ts';
import { type LedgerHistory, parseHistory, serializeHistory } from '../history/ledger-history.ts';
import { createSignedHistory } from '../history/signed-history.ts';
import { type Ledger, openLedger } from './open-ledger.ts';

let folder: string;
let path: string;
const opened: Ledger[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-ledger-'));
  path = join(folder, 'approve', 'ledger.db');
});
afterEach(() => {
  for (const ledger of opened.splice(0)) {
    ledger.close();
  }
  rmSync(folder, { recursive: true });
});

function open(options: Partial<Parameters<typeof openLedger>[0]> = {}): Ledger {
  const ledger = openLedger({ path, role: 'voter', ...options });
  opened.push(ledger);
  return ledger;
}

function closeAll(): void {
  for (const ledger of opened.splice(0)) {
    ledger.close();
  }
}

/** The files as a killed process leaves them. */
function copyTo(name: string): string {
  mkdirSync(join(folder, name), { recursive: true });
  const target = join(folder, name, 'ledger.db');
  for (const suffix of ['', '-wal', '.generation']) {
    if (existsSync(`${path}${suffix}`)) {
      copyFileSync(`${path}${suffix}`, `${target}${suffix}`);
    }
  }
  return target;
}

const batch = makeBatch();
const store = { kind: 'store' } as const;

function askFor(ledger: Ledger, one = batch, requestId = one.jobKey) {
  const request = fundRequest(one);
  return ledger.decide({ requestId, request, nowMs }, decideAs({ request, manifest: one }));
}

describe('a vote', () => {
  it('is stored with everything that it limits, and is not decided twice', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    const first = askFor(ledger);
    expect(first).toMatchObject({
      kind: 'vote',
      isRepeated: false,
      vote: { id: 1, value: 'approve' },
    });
    expect(askFor(ledger)).toMatchObject({ isRepeated: true, vote: { id: 1, value: 'approve' } });
    expect(ledger.exportHistory()).toMatchObject({
      guards: [{ kind: 'fund-authorization', digest: batch.fundDigest }],
      counts: [{ amount: 500n, day: '2026-11-23' }],
      payees: [expect.anything()],
    });
    expect(ledger.listOpenVotes()).toHaveLength(1);
    ledger.markSent(1, nowMs + 1);
    expect(ledger.listOpenVotes()).toMatchObject([{ sentAtMs: nowMs + 1, seenAtMs: undefined }]);
    ledger.markSeen(1, nowMs + 2);
    expect(ledger.listOpenVotes()).toEqual([]);
  });

  it('does not hold for another content under the same id', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    const other = makeBatch({ batchRoot: 12n });
    expect(askFor(ledger, other)).toMatchObject({
      isRepeated: true,
      vote: { value: 'deny', reason: 'request-changed' },
    });
    expect(askFor(ledger)).toMatchObject({ vote: { value: 'approve' } });
  });

  it('is not given while a request waits, and the wait is written once', () => {
    const ledger = open();
    expect(askFor(ledger)).toMatchObject({ kind: 'later', reason: 'manifest-missing' });
    const { generation } = ledger.status();
    expect(askFor(ledger)).toMatchObject({ kind: 'later' });
    expect(ledger.status().generation).toBe(generation);
    expect(ledger.listWaiting()).toMatchObject([{ requestId: batch.jobKey, sinceMs: nowMs }]);
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    expect(ledger.listWaiting()).toEqual([]);
  });

  it.each([
    ['vote.decided', 0],
    ['vote.recorded', 0],
    ['vote.committed', 1],
  ] as const)('stands entirely or not at all after a kill at %s', (point, votes) => {
    let image = '';
    const ledger = open({
      passFaultPoint(reached) {
        if (reached === point) {
          image = copyTo('image');
        }
      },
    });
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    closeAll();

    const restarted = open({ path: image });
    expect(restarted.status()).toMatchObject({ isRestored: false, votes });
    const history = restarted.exportHistory();
    expect([history.guards.length, history.counts.length, history.payees.length]).toEqual([
      votes,
      votes,
      votes,
    ]);
    // The request is asked again: one vote, counted once.
    askFor(restarted);
    expect(restarted.status().votes).toBe(1);
    const day = computeDay(nowMs);
    expect(restarted.read((view) => view.sumOfDay(computeCountScope(batch), day))).toBe(500n);
    expect(restarted.verifyAudit().kind).toBe('intact');
  });

  it('is taken back when the decision fails', () => {
    const ledger = open();
    const request = fundRequest(batch);
    const fail = () => {
      throw new Error('the disk is full');
    };
    expect(() => ledger.decide({ requestId: 'x', request, nowMs }, fail)).toThrow(
      'the disk is full',
    );
    expect(ledger.status().votes).toBe(0);
    ledger.storeManifest(batch, nowMs, () => store);
    expect(askFor(ledger)).toMatchObject({ vote: { value: 'approve' } });
  });
});

describe('a ledger from a backup', () => {
  it('votes nothing until it is re-baselined, and then knows what was signed meanwhile', () => {
    const policy = makeTokenPolicy({ maxPerDay: '900' });
    const ledger = open();
    const later = makeBatch({ jobKey: 'later' });
    ledger.storeManifest(batch, nowMs, () => store);
    ledger.storeManifest(later, nowMs, () => store);
    const yesterday = copyTo('yesterday');
    const request = fundRequest(batch);
    ledger.decide(
      { requestId: 'a', request, nowMs },
      decideAs({ request, manifest: batch, policy }),
    );
    closeAll();
    copyFileSync(yesterday, path);
    copyFileSync(`${yesterday}-wal`, `${path}-wal`);

    const restored = open();
    expect(restored.status()).toMatchObject({ isRestored: true });
    expect(restored.status().restoredBecause).toMatch(/write 3 was made/);
    const next = fundRequest(later);
    const askNext = (ask: Ledger) =>
      ask.decide(
        { requestId: 'b', request: next, nowMs },
        decideAs({ request: next, manifest: later, policy }),
      );
    expect(askNext(restored)).toMatchObject({ kind: 'later', reason: 'ledger-restored' });
    // It stays so after a restart.
    closeAll();
    const again = open();
    expect(askNext(again)).toMatchObject({ reason: 'ledger-restored' });
    const signed = createSignedHistory([{ kind: 'request', request, atMs: nowMs }]);
    expect(again.rebaseline(signed, { by: 'operator', isComplete: false }, nowMs)).toBe(false);
    expect(again.status().isRestored).toBe(true);
    expect(again.rebaseline(signed, { by: 'operator', isComplete: true }, nowMs)).toBe(true);
    // 500 of 900 were signed before the restore.
    expect(askNext(again)).toMatchObject({ vote: { value: 'deny', reason: 'day-limit' } });
    closeAll();
    expect(open().status().isRestored).toBe(false);
  });

  it.each([
    ['its marker is missing', () => rmSync(`${path}.generation`), /marker is missing/],
    ['the database is missing', () => rmSync(path), /database is missing/],
  ])('is noticed when %s', (_title, damage, reason) => {
    open().writeAudit('test', {}, nowMs);
    closeAll();
    damage();
    expect(open().status().restoredBecause).toMatch(reason);
  });

  it('is noticed by an approval that only the custodian knows', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    const known = createSignedHistory([
      { kind: 'request', request: fundRequest(batch), atMs: nowMs },
    ]);
    expect(ledger.compareHistory(known, nowMs)).toEqual({ missing: [] });
    expect(ledger.status().isRestored).toBe(false);
    const unknown = createSignedHistory([
      { kind: 'request', request: voidRequest(batch), atMs: nowMs },
      { kind: 'spend-digest', digest: batch.fundDigest, atMs: nowMs },
    ]);
    expect(ledger.compareHistory(unknown, nowMs).missing).toHaveLength(2);
    expect(ledger.status().isRestored).toBe(true);
  });

  it('is not noticed by another content of an id that is conflicted', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    const signed = createSignedHistory([
      { kind: 'request', request: fundRequest(batch), atMs: nowMs },
    ]);
    const another = parseWire(hex32Schema, `0x${'ff'.repeat(32)}`, 'a digest');
    const changed = {
      ...signed,
      guards: signed.guards.map((entry) => ({ ...entry, digest: another })),
    };
    expect(ledger.compareHistory(changed, nowMs).missing).toHaveLength(1);
    ledger.rebaseline(changed, { by: 'operator', isComplete: true }, nowMs);
    expect(ledger.compareHistory(changed, nowMs).missing).toEqual([]);
    expect(ledger.status().isRestored).toBe(false);
  });
});

describe('a ledger file', () => {
  it('has one voter, and operator commands beside it', () => {
    const voter = open();
    expect(() => open()).toThrow(expect.objectContaining({ code: 'ledger_in_use' }));
    open({ role: 'operator' }).writeAudit('operator', {}, nowMs);
    expect(voter.listAudit(0, 10)).toMatchObject([{ event: 'operator' }]);
    closeAll();
    expect(open().status().isRestored).toBe(false);
  });

  it('can be read by its owner only', () => {
    open().writeAudit('test', {}, nowMs);
    for (const suffix of ['', '-wal', '.generation', '.lock']) {
      expect(statSync(`${path}${suffix}`).mode & 0o077).toBe(0);
    }
  });

  it('of another version, or that is no database, is refused', () => {
    open();
    closeAll();
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => open()).toThrow(expect.objectContaining({ code: 'ledger_unreadable' }));
  });
});

describe('the audit log', () => {
  it('is verified entry by entry', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    ledger.markSeen(1, nowMs);
    expect(ledger.verifyAudit()).toMatchObject({ kind: 'intact', entries: 3 });
    expect(ledger.listAudit(1, 1)).toMatchObject([{ seq: 2, event: 'vote.decided' }]);
    const database = new DatabaseSync(path);
    database.exec(`UPDATE audit SET data = '{}' WHERE seq = 2`);
    expect(ledger.verifyAudit()).toMatchObject({ kind: 'broken', seq: 2 });
    database.exec('DELETE FROM audit WHERE seq = 2');
    expect(ledger.verifyAudit()).toMatchObject({ kind: 'broken', seq: 2 });
    database.close();
  });
});

describe('a manifest', () => {
  it('is stored once, and another one for its attempt is refused', () => {
    const ledger = open();
    expect(ledger.storeManifest(batch, nowMs, () => store).kind).toBe('stored');
    expect(ledger.storeManifest(batch, nowMs + 1, () => store).kind).toBe('known');
    expect(ledger.storeManifest(makeBatch({ batchRoot: 12n }), nowMs, () => store)).toMatchObject({
      kind: 'refused',
      reason: 'job-has-other-manifest',
    });
    // The digest of the manifest does not cover the deadline.
    const later = makeBatch({ deadline: batch.file.deadline + 1 });
    expect(
      ledger.storeManifest({ ...later, manifestDigest: batch.manifestDigest }, nowMs, () => store),
    ).toMatchObject({
      kind: 'refused',
    });
    expect(ledger.readFile(batch.manifestDigest)).toEqual(batch.file);
    expect(ledger.findManifestFor(fundRequest(batch))).toMatchObject({ receivedAtMs: nowMs });
  });

  it('of more than 2 MiB is refused', () => {
    const manifest = { ...batch.file.manifest, jobKey: 'x'.repeat(2 ** 21) };
    const large = { ...batch, file: { ...batch.file, manifest } };
    expect(open().storeManifest(large, nowMs, () => store)).toMatchObject({
      reason: 'manifest-too-large',
    });
  });

  it('loses people and seed after its deadline, and its guard stays', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    expect(ledger.eraseManifests(nowMs + 1, nowMs)).toBe(0);
    expect(ledger.eraseManifests(nowMs + 1, nowMs + 7_200_000)).toBe(1);
    expect(ledger.readFile(batch.manifestDigest)).toBeUndefined();
    expect(ledger.listManifests()).toMatchObject([{ isErased: true }]);
    expect(ledger.exportHistory().guards).toHaveLength(1);
    expect(ledger.storeManifest(makeBatch({ batchRoot: 12n }), nowMs, () => store).kind).toBe(
      'refused',
    );
  });
});

describe('manifests that nobody approves', () => {
  const other = makeBatch({ jobKey: 'other' });

  it('are erased by their date of receipt, unless a request waits for them', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    ledger.storeManifest(other, nowMs, () => store);
    const request = fundRequest(other);
    const question = { requestId: 'r', request, manifestDigest: other.manifestDigest, nowMs };
    ledger.decide(question, decideAs({ request, manifest: other, facts: {} }));
    expect(ledger.listWaiting()).toHaveLength(1);
    expect(ledger.eraseManifests(nowMs, nowMs)).toBe(0);
    expect(ledger.eraseManifests(nowMs + 1, nowMs, 'an operator')).toBe(1);
    expect(ledger.readFile(batch.manifestDigest)).toBeUndefined();
    expect(ledger.readFile(other.manifestDigest)).toBeDefined();
    expect(ledger.listAudit(0, -1).at(-1)).toMatchObject({
      event: 'manifests.erased',
      data: '{"by":"an operator","count":1}',
    });
  });

  it('have their file again when it is sent again before their deadline', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    ledger.eraseManifests(nowMs + 1, nowMs);
    expect(ledger.storeManifest(batch, nowMs, () => store)).toMatchObject({
      kind: 'known',
      manifest: { isErased: false },
    });
    expect(ledger.readFile(batch.manifestDigest)).toEqual(batch.file);
    const lateMs = 1000 * batch.file.deadline;
    ledger.eraseManifests(lateMs + 1, lateMs + 1000);
    ledger.storeManifest(batch, lateMs + 1000, () => store);
    expect(ledger.readFile(batch.manifestDigest)).toBeUndefined();
  });

  it('fill the ledger only until their deadlines pass', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    fill(10_000);
    expect(ledger.storeManifest(other, nowMs, () => store)).toMatchObject({
      kind: 'later',
      reason: 'ledger-full',
    });
    const lateMs = 1000 * (batch.file.deadline + 1);
    expect(ledger.storeManifest(other, lateMs, () => store).kind).toBe('stored');
    expect(ledger.listManifests().filter(({ isErased }) => isErased)).toHaveLength(10_000);
  });

  /** Copies of the only row, until there are this many. */
  function fill(count: number): void {
    const database = new DatabaseSync(path);
    database.exec(
      `INSERT INTO manifest SELECT m.manifest_digest || n.value, kind, chain_id, pool, token, digest, deadline, received_at_ms, '{}',
         funder, employer_id, job_key || n.value, attempt, batch_nonce, batch_id, total, void_digest, roster_digest
       FROM manifest m, (WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < ${count - 1})
         SELECT value FROM c) n`,
    );
    database.exec(
      `UPDATE manifest SET manifest_digest = '0x' || printf('%064d', rowid) WHERE length(manifest_digest) > 66`,
    );
    database.close();
  }
});

describe('a history', () => {
  it('goes to another ledger as JSON, and what was counted there stays counted', () => {
    const ledger = open();
    ledger.storeManifest(batch, nowMs, () => store);
    askFor(ledger);
    const history: LedgerHistory = parseHistory(serializeHistory(ledger.exportHistory()));
    const other = open({ path: join(folder, 'other', 'ledger.db') });
    other.importHistory(history, nowMs);
    other.importHistory(history, nowMs);
    expect(other.exportHistory()).toEqual(ledger.exportHistory());
  });

  it.each(['no JSON', '{}', '{"version":1,"purpose":"pool/v1/ledger-history","guards":[{}]}'])(
    'is refused: %s',
    (text) => {
      expect(() => parseHistory(text)).toThrow(expect.objectContaining({ name: 'PoolError' }));
    },
  );
});
