// The phases of a job: each has exactly its facts or is refused, and jobs move along the table.

import { bigintToHex32, type DisbursementResult } from '@pool/core';
import { assertMove, readPhase } from '@pool/idempotency/engine';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../../fixtures/fake-world.ts';
import { disbursementPhases, type Phase } from './phases.ts';
import { deserializeRecord } from './record.ts';

type PhaseKind = Phase['kind'];

const word = bigintToHex32(1n);
const refused = { code: 'erc20-insufficient-balance', message: 'm' };
const result: DisbursementResult = {
  ...{ status: 'completed', batches: [], notes: [], skipped: [] },
  allowance: { state: 'unknown' },
};
const kinds: PhaseKind[] = [
  'accepted',
  'proved',
  'signed',
  'released',
  'abandoned',
  'recovered',
  'completed',
  'reverted',
  'failed',
];

/** The facts that a phase can have. What they hold is not looked at. */
const facts = {
  ...{ proved: { eligibilityRoot: word }, signature: '0x11', votes: [], outage: refused },
  ...{ permit: { nonce: '0' }, approvals: [], approvalRequest: { value: '1' } },
  ...{ releasedAtMs: 1, cause: refused, latestDeadline: 1, revert: { txHash: word } },
  ...{ lastRefusal: refused, eligibilityLoss: refused, refusal: refused, voidSignature: '0x00' },
  ...{ settlement: { txHash: word }, remainder: 'm', result, error: refused },
  before: { kind: 'accepted' },
};
type Fact = keyof typeof facts;

const names = Object.keys(facts).filter((name): name is Fact => Object.hasOwn(facts, name));
const asked: Fact[] = ['votes', 'outage'];
const late: Fact[] = [
  'latestDeadline',
  'revert',
  'lastRefusal',
  'eligibilityLoss',
  'refusal',
  'voidSignature',
];
const allowance: Fact[] = ['permit', 'approvals', 'approvalRequest'];

/** The specification: which facts a phase needs, and which it can have. It has no others. */
const rows: Record<PhaseKind, { readonly needs: Fact[]; readonly allows: Fact[] }> = {
  accepted: { needs: [], allows: [] },
  proved: { needs: ['proved', 'votes'], allows: asked },
  signed: {
    needs: ['proved', 'signature', 'votes', 'approvals'],
    allows: [...asked, ...allowance],
  },
  released: {
    needs: ['proved', 'signature', 'releasedAtMs', 'votes', 'approvals'],
    allows: [...asked, ...allowance, ...late],
  },
  abandoned: {
    needs: ['proved', 'cause', 'votes', 'approvals'],
    allows: ['signature', 'releasedAtMs', ...asked, ...allowance, ...late],
  },
  recovered: { needs: ['releasedAtMs', 'votes'], allows: [...asked, ...late] },
  completed: { needs: ['result', 'settlement'], allows: ['remainder', 'before'] },
  reverted: { needs: ['result'], allows: ['before'] },
  failed: { needs: ['error'], allows: ['before'] },
};

function isPhase(kind: PhaseKind, present: readonly Fact[]): boolean {
  const phase = { kind, ...Object.fromEntries(present.map((name) => [name, facts[name]])) };
  return didPass(() => readPhase<Phase>(disbursementPhases, phase));
}

/** The facts without some, and with others. */
function toggle(present: readonly Fact[], changed: readonly Fact[]): Fact[] {
  return names.filter((name) => present.includes(name) !== changed.includes(name));
}

describe('the phase of a record', () => {
  it.each(kinds)('%s has exactly its facts, or is refused', (kind) => {
    const { needs, allows } = rows[kind];
    for (const base of [needs, [...new Set([...needs, ...allows])]]) {
      for (const one of names) {
        for (const other of names) {
          const present = toggle(base, [one, other]);
          const isAllowed =
            needs.every((name) => present.includes(name)) &&
            present.every((name) => needs.includes(name) || allows.includes(name));
          expect([present, isPhase(kind, present)]).toEqual([present, isAllowed]);
        }
      }
    }
  });

  it.each([
    ['a signature without a proof', 'signed', ['signature', 'votes', 'approvals']],
    ['an allowance without a signature', 'proved', ['proved', 'votes', 'approvals']],
    ['a refusal without a release', 'signed', [...rows.signed.needs, 'refusal']],
    ['a result and an error', 'completed', [...rows.completed.needs, 'error']],
    ['a settlement without a payment', 'failed', ['error', 'settlement']],
  ] satisfies [string, PhaseKind, Fact[]][])(
    'makes a stored job with %s unreadable',
    async (_what, kind, present) => {
      const world = await createWorld();
      const phase = { kind, ...Object.fromEntries(present.map((name) => [name, facts[name]])) };
      const stored = JSON.stringify({ ...(await world.accept()).stored(), phase });
      expect(() => deserializeRecord(stored)).toThrow(
        expect.objectContaining({
          code: 'job_unreadable',
          message: expect.stringContaining('contradicts itself'),
        }),
      );
    },
  );
});

describe('the transitions', () => {
  it('reach every phase from accepted, and start from no final phase', () => {
    const reached = new Set<PhaseKind>(['accepted']);
    for (const kind of reached) {
      for (const next of disbursementPhases[kind].next) {
        reached.add(next);
      }
    }
    expect([...reached].sort()).toEqual([...kinds].sort());
    const ends = kinds.filter((kind) => disbursementPhases[kind].next.length === 0);
    expect(ends).toEqual(['completed', 'reverted', 'failed']);
  });

  it('are the only changes that a write accepts', () => {
    for (const from of kinds) {
      for (const to of kinds) {
        const isAllowed = from === to || isListed(from, to);
        const take = () => assertMove<PhaseKind>(disbursementPhases, from, to);
        expect([from, to, isAllowed]).toEqual([from, to, didPass(take)]);
      }
    }
  });

  it.each([true, false])('are those of a run that pays (permit: %s)', async (permit) => {
    const world = await createWorld({ permit, finalityBlocks: 5 });
    const job = await world.accept();
    const seen: PhaseKind[] = [];
    const watched = {
      ...job,
      journal: {
        ...job.journal,
        async save(...args: Parameters<typeof job.journal.save>) {
          const { kind } = deserializeRecord(args[1]).phase;
          if (seen.at(-1) !== kind) {
            seen.push(kind);
          }
          await job.journal.save(...args);
        },
      },
    };
    await world.run(watched);
    expect(seen).toEqual(['accepted', 'proved', 'signed', 'released', 'completed']);
  });

  it('do not lead out of a job that has ended', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await world.run(job);
    const before = job.payload();
    await expect(world.run(job)).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(job.payload()).toBe(before);
    expect(world.chain.funds).toBe(1);
  });
});

function isListed(from: PhaseKind, to: PhaseKind): boolean {
  return disbursementPhases[from].next.some((next) => next === to);
}

function didPass(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
