// The commands of an operator beside a running gate, on the same files.
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readData } from '@pool/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { makePerson, type Run, runCommand } from '../fixtures/command-line.ts';
import { createWorldA, funderWallet, type WorldA } from '../fixtures/custodian-a.ts';
import { type ServedGate, serveTestGate } from '../fixtures/gate-home.ts';
import { fundFile, policyJson, recipient } from '../fixtures/payroll.ts';

const treasurer = makePerson('Treasurer');
const head = makePerson('Head of payroll');
const stranger = makePerson('Nobody');
const humanRelease = {
  people: [treasurer.entry, head.entry, { ...treasurer.entry, name: 'Treasurer, again' }],
  required: 2,
  newPayee: false,
};

let world: WorldA;
let served: ServedGate;

/** Base units above which a batch waits. */
function policyWith(changes: Readonly<Record<string, unknown>>, holdAbove = '500') {
  const { initiator } = world.organisation;
  const policy = policyJson({ funderWallet, initiator: initiator.userId }, changes);
  const pools = policy.pools.map((pool) => ({
    ...pool,
    tokens: pool.tokens.map((rule) => ({ ...rule, holdAbove })),
  }));
  return { ...policy, pools };
}

beforeEach(async () => {
  world = await createWorldA();
  world.home.writePolicy(policyWith({ humanRelease }));
  served = await serveTestGate(world.home);
  await served.gate.examine();
});

afterEach(async () => {
  await served.close();
  await world.close();
});

async function run(...argv: readonly string[]): Promise<Run> {
  return await runCommand({ home: world.home.path }, argv);
}

/** A batch above the threshold: asked for, and held. */
async function holdBatch() {
  const file = fundFile({ recipients: [recipient(1, '300'), recipient(2, '300')] });
  const { body } = await served.post(file);
  const { manifestDigest } = body as { readonly manifestDigest: string };
  const id = await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  expect(world.votesOf(id)).toEqual([]);
  expect(await served.post(file)).toMatchObject({ body: { state: 'held', reason: 'hold-amount' } });
  return { manifestDigest, id };
}

describe('approve release', () => {
  it('needs the keys of two people, of whom one may not count twice', async () => {
    const { manifestDigest, id } = await holdBatch();
    expect((await run('pending')).out).toMatch(
      /people must release the batch\. 0 of 2 released it\. \(hold-amount\)/,
    );

    expect(await run('release', manifestDigest, '--key-file', treasurer.keyFile)).toMatchObject({
      code: 0,
    });
    await run('release', manifestDigest, '--key-file', treasurer.keyFile);
    await served.gate.poll();
    expect(world.votesOf(id)).toEqual([]);

    expect(
      (await run('release', manifestDigest.slice(0, 14), '--key-file', head.keyFile)).out,
    ).toMatch(/^Head of payroll released/);
    await served.gate.poll();
    expect(world.statusOf(id)).toBe('Signed');
    expect((await run('manifests', '--json')).out).toContain('"state":"approved"');
  });

  it('refuses a key that the policy does not list, and a file that is no key', async () => {
    const { manifestDigest } = await holdBatch();
    expect(await run('release', manifestDigest, '--key-file', stranger.keyFile)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/invalid_release: .*not that of a person of the policy/) as string,
    });
    const noKey = join(world.home.path, 'policy.json');
    expect((await run('release', manifestDigest, '--key-file', noKey)).err).toMatch(/Ed25519/);
    expect((await run('release', `0x${'07'.repeat(32)}`, '--key-file', head.keyFile)).code).toBe(2);
  });

  it('takes a statement that a person signed on another machine', async () => {
    const { manifestDigest, id } = await holdBatch();
    const { out } = await run('statement', manifestDigest);
    const statement = join(mkdtempSync(join(tmpdir(), 'person-')), 'statement.json');
    writeFileSync(statement, `${out}\n`);
    const signOf = (person: { readonly keyFile: string }) =>
      sign(null, readFileSync(statement), readFileSync(person.keyFile, 'utf8')).toString('hex');
    const give = async (decision: string, signature: string) =>
      await run(decision, manifestDigest, '--statement', statement, '--signature', signature);

    expect((await give('release', signOf(stranger))).err).toMatch(
      /^invalid_release: .*not that of a person of the policy/,
    );
    expect((await give('deny', signOf(head))).err).toMatch(
      /^invalid_release: the statement says release about/,
    );
    expect((await give('release', 'ab')).err).toMatch(/64 bytes of hex/);
    expect((await run('release', manifestDigest, '--statement', statement)).err).toMatch(
      /--statement and --signature together/,
    );

    expect(await give('release', signOf(head))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Head of payroll released/) as string,
    });
    await run('release', manifestDigest, '--key-file', treasurer.keyFile);
    writeFileSync(statement, out);
    expect((await give('release', signOf(head))).err).toMatch(/byte for byte/);
    await served.gate.poll();
    expect(world.statusOf(id)).toBe('Signed');
  });

  it('takes a signed statement that denies', async () => {
    const { manifestDigest, id } = await holdBatch();
    const { out } = await run('statement', manifestDigest, '--deny');
    const statement = join(mkdtempSync(join(tmpdir(), 'person-')), 'statement.json');
    writeFileSync(statement, `${out}\n`);
    const key = readFileSync(head.keyFile, 'utf8');
    const signature = `0x${sign(null, readFileSync(statement), key).toString('hex')}`;
    expect(
      await run('deny', manifestDigest, '--statement', statement, '--signature', signature),
    ).toMatchObject({ code: 0 });
    await served.gate.poll();
    expect(world.statusOf(id)).toBe('Rejected');
  });

  it('does not count when somebody writes it into the database', async () => {
    const { manifestDigest, id } = await holdBatch();
    const database = new DatabaseSync(join(world.home.path, 'ledger.sqlite'));
    const forged = `0x${sign(null, Buffer.from('x'), readFileSync(stranger.keyFile, 'utf8')).toString('hex')}`;
    for (const { entry } of [treasurer, head]) {
      database
        .prepare(
          `INSERT INTO released (manifest_digest, public_key, decision, total, token, issued_at, signature, roster_digest)
           SELECT manifest_digest, ?, ?, ?, ?, ?, ?, roster_digest FROM manifest WHERE manifest_digest = ?`,
        )
        .run(
          entry.publicKey,
          'release',
          '600',
          policyToken(),
          new Date().toISOString(),
          forged,
          manifestDigest,
        );
    }
    database.close();
    await served.gate.poll();
    expect(world.votesOf(id)).toEqual([]);
  });

  function policyToken(): string {
    return policyWith({}).pools[0]?.tokens[0]?.token ?? '';
  }
});

it('approve deny refuses a batch for good', async () => {
  const { manifestDigest, id } = await holdBatch();
  expect((await run('deny', manifestDigest, '--key-file', head.keyFile)).code).toBe(0);
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Rejected');
  expect(world.reasonOf(id)).toMatch(/A person of the policy denied/);
});

it('approve check explains rule by rule, and votes nothing', async () => {
  const file = fundFile({ recipients: [recipient(1, '100'), recipient(9, '100')] });
  const { body } = await served.post(file);
  const { manifestDigest } = body as { readonly manifestDigest: string };
  const { code, out } = await run('check', manifestDigest);
  expect(code).toBe(2);
  expect(out).toMatch(/NO {4}recipient/);
  expect(out).toMatch(/ok {4}/);
  expect(out).toMatch(/The gate would deny it \(recipient-not-listed\)/);
  const { votes } = served.gate.ledger.status();
  expect(votes).toBe(0);
});

it('approve ledger exports its history, and imports it twice without a change', async () => {
  const file = fundFile();
  await served.post(file);
  await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  const path = join(world.home.path, 'history.json');
  expect((await run('ledger', 'export', '--out', path)).code).toBe(0);
  expect((await run('ledger', 'export', '--out', path)).err).toMatch(/file_not_written/);
  const before = (await run('ledger', 'export')).out;
  expect((await run('ledger', 'import', path)).code).toBe(0);
  expect((await run('ledger', 'import', path)).code).toBe(0);
  expect((await run('ledger', 'export')).out).toBe(before);
  expect((await run('ledger', 'import', join(world.home.path, 'policy.json'))).err).toMatch(
    /invalid_release/,
  );
  expect((await run('ledger')).out).toMatch(/^The ledger is current/);
});

it('approve ledger erase makes room, and says who decided it', async () => {
  await served.post(fundFile());
  expect((await run('ledger', 'erase', '--by', 'Head')).out).toMatch(/of 0 manifests/);
  expect((await run('ledger', 'erase', '--by', 'Head', '--older-than-hours', '-1')).err).toMatch(
    /invalid_configuration: --older-than-hours is -1/,
  );
  const { out } = await run('ledger', 'erase', '--by', 'Head', '--older-than-hours', '0', '--json');
  expect(readData(out)).toEqual({ erased: 1, by: 'Head' });
  expect((await run('audit', 'list')).out).toMatch(/"manifests.erased".*Head/);
});

it('approve audit verifies its log, and finds an entry that was changed', async () => {
  await holdBatch();
  const intact = await run('audit', 'verify', '--json');
  expect(intact.code).toBe(0);
  const { head: newest } = readData(intact.out) as { readonly head: string };
  expect((await run('audit', 'verify', '--head', newest)).code).toBe(0);
  expect((await run('audit', 'verify', '--head', `0x${'07'.repeat(32)}`)).out).toMatch(/cut off/);
  expect((await run('audit', 'list')).out).toContain('"event":"manifest.stored"');
  const database = new DatabaseSync(join(world.home.path, 'ledger.sqlite'));
  const triggers = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    .all() as { name: string }[];
  for (const { name } of triggers) {
    database.exec(`DROP TRIGGER "${name}"`);
  }
  database.exec("UPDATE audit SET data = '{}' WHERE seq = 2");
  database.close();
  expect(await run('audit', 'verify')).toMatchObject({
    code: 2,
    out: expect.stringMatching(/broken at entry 2/) as string,
  });
});

it('approve audit finds a daily sum that was lowered, and the gate votes nothing after its next start', async () => {
  const file = fundFile();
  await served.post(file);
  await world.ask(funderWallet, fundBody(file));
  await served.gate.poll();
  expect((await run('audit', 'verify')).code).toBe(0);
  await served.close();
  const database = new DatabaseSync(join(world.home.path, 'ledger.sqlite'));
  const { changes } = database.prepare("UPDATE counted SET amount = '1'").run();
  database.close();
  expect(changes).toBe(1);
  expect(await run('audit', 'verify')).toMatchObject({
    code: 2,
    out: expect.stringMatching(/sums of fund-authorization.* are not those of entry/) as string,
  });
  served = await serveTestGate(world.home);
  expect((await served.gate.examine()).checks).toContainEqual(
    expect.objectContaining({ name: 'audit-log', ok: false }),
  );
  const next = fundFile();
  await served.post(next);
  const id = await world.ask(funderWallet, fundBody(next));
  await served.gate.poll();
  expect(world.votesOf(id)).toEqual([]);
});

it('approve policy lint names what can never work', async () => {
  expect((await run('policy', 'lint')).code).toBe(0);
  world.home.writePolicy(policyWith({ deadline: { minSeconds: 600, maxSeconds: 600 } }));
  expect(await run('policy', 'lint')).toMatchObject({
    code: 2,
    out: expect.stringMatching(
      /error: pools\.0\.tokens\.0\.holdAbove: Nobody can release a batch/,
    ) as string,
  });
  world.home.writePolicy({ version: 1 });
  expect((await run('policy', 'lint')).err).toMatch(/invalid_policy: .*name: missing/);
});

it('keeps its policy when the new file is bad, and uses the next good one', async () => {
  world.home.writePolicy({ version: 1 });
  expect(served.gate.reloadPolicy()).toBe(false);
  const { id, manifestDigest } = await holdBatch();
  expect(manifestDigest).toMatch(/^0x/);
  world.home.writePolicy(policyWith({ humanRelease }, '900'));
  let reloads = 0;
  served.gate.onReload(() => {
    reloads += 1;
  });
  // An examination that began before has the earlier policy's wallets.
  const earlier = served.gate.examine();
  expect(served.gate.reloadPolicy()).toBe(true);
  await earlier;
  await served.gate.poll();
  expect([world.statusOf(id), reloads]).toEqual(['Pending', 1]);
  await served.gate.examine();
  await served.gate.poll();
  expect(world.statusOf(id)).toBe('Signed');
});

it('uses no policy with an error of the lint, at start or at a reload', async () => {
  // Nobody is listed who could release a batch above the threshold.
  world.home.writePolicy(policyWith({}));
  expect(served.gate.reloadPolicy()).toBe(false);
  expect((await run('audit', 'list')).out).toMatch(
    /"event":"policy-refused".*holdAbove: Nobody can release a batch/,
  );
  const { manifestDigest } = await holdBatch();
  expect((await run('release', manifestDigest, '--key-file', treasurer.keyFile)).err).toMatch(
    /^invalid_policy: /,
  );
  await served.close();
  await expect(serveTestGate(world.home)).rejects.toMatchObject({
    code: 'invalid_policy',
    message: expect.stringMatching(/- pools\.0\.tokens\.0\.holdAbove: /) as string,
  });
  world.home.writePolicy(policyWith({ humanRelease }));
  served = await serveTestGate(world.home);
});

it('votes nothing in a dry run', async () => {
  await served.close();
  served = await serveTestGate(world.home, { isDryRun: true });
  await served.gate.examine();
  const file = fundFile();
  await served.post(file);
  const ids = [
    await world.ask(funderWallet, fundBody(file)),
    await world.ask(funderWallet, { kind: 'Eip191', message: '0x41' }),
  ];
  await served.gate.poll();
  expect(ids.map((id) => world.votesOf(id))).toEqual([[], []]);
  expect(served.gate.ledger.status()).toMatchObject({ votes: 0 });
});

it('starts no second gate in the directory of a running one', async () => {
  await expect(serveTestGate(world.home)).rejects.toMatchObject({ code: 'ledger_in_use' });
});

describe('a file with a key twice', () => {
  /** The first value is what a person sees, the last is what JSON.parse keeps. */
  function doubled(value: unknown, key: string, first: string): string {
    const text = JSON.stringify(value);
    expect(text).toContain(`"${key}":`);
    return text.replace(`"${key}":`, `"${key}":${first},"${key}":`);
  }

  it('is no policy: at the lint, a reload and the start', async () => {
    const text = doubled(policyWith({ humanRelease }), 'maxPerDay', '"1"');
    writeFileSync(join(world.home.path, 'policy.json'), text);
    expect(await run('policy', 'lint')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^invalid_policy: .*policy\.json has a duplicate JSON key$/,
      ) as string,
    });
    expect(served.gate.reloadPolicy()).toBe(false);
    await served.close();
    await expect(serveTestGate(world.home)).rejects.toMatchObject({ code: 'invalid_policy' });
    world.home.writePolicy(policyWith({ humanRelease }));
    served = await serveTestGate(world.home);
  });

  it('is no chain settings, no manifest file and no export', async () => {
    const chains = join(world.home.path, 'chains.json');
    const sound = readFileSync(chains, 'utf8');
    writeFileSync(chains, doubled(JSON.parse(sound), 'chainId', '1'));
    expect((await run('policy', 'lint')).err).toMatch(
      /^invalid_configuration: .*chains\.json has a duplicate JSON key$/,
    );
    writeFileSync(chains, sound);
    const file = join(world.home.path, 'batch.json');
    writeFileSync(file, doubled(fundFile(), 'deadline', '1'));
    expect((await run('check', file)).err).toMatch(
      /^invalid_request: .*batch\.json has a duplicate JSON key; /,
    );
    const { out } = await run('ledger', 'export');
    writeFileSync(file, doubled(JSON.parse(out), 'guards', '[]'));
    expect((await run('ledger', 'import', file)).err).toMatch(
      /^invalid_release: .*the ledger history has a duplicate JSON key/,
    );
  });
});
