// The phase of a job: every combination of stored facts has exactly one phase or is refused, and jobs move along the table.
import { bigintToHex32, type DisbursementResult, parseHex } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../../fixtures/fake-world.ts';
import { assertTransition, type PhaseKind, phaseOf, transitions } from './phase.ts';
import { type DisbursementRecord, deserializeRecord, serializeRecord } from './record.ts';

const word = bigintToHex32(1n);
const refused = { code: 'erc20-insufficient-balance', message: 'm' };
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

function createResult(status: DisbursementResult['status']): DisbursementResult {
  return { status, batches: [], notes: [], skipped: [], allowance: { state: 'unknown' } };
}

/** The facts that a record can contain, each in its stored form. */
const facts = {
  proved: {
    proved: {
      eligibilityRoot: word,
      digest: word,
      proof: {
        a: [word, word],
        b: [
          [word, word],
          [word, word],
        ],
        c: [word, word],
      },
    },
  },
  signature: { signature: parseHex(`0x${'11'.repeat(65)}`, 65) },
  permit: {
    permit: { nonce: '0', wire: { value: '1', deadline: 1, v: 27, r: word, s: word } },
  },
  approval: {
    approvals: [{ value: '1', rawTransaction: '0x00', txHash: word, nonce: 0, mined: false }],
  },
  released: { releasedAtMs: 1 },
  abandoned: { abandoned: refused },
  latestDeadline: { latestDeadline: 1 },
  revert: { revert: { txHash: word, error: refused } },
  lastRefusal: { lastRefusal: refused },
  eligibilityLoss: { eligibilityLoss: refused },
  refusal: { refusal: refused },
  voidSignature: { voidSignature: '0x00' },
  settlement: { settlement: { txHash: word, blockNumber: 1 } },
  remainder: { remainder: 'm' },
  completed: { result: createResult('completed') },
  partial: { result: createResult('partial') },
  error: { error: refused },
} as const satisfies Record<string, Partial<DisbursementRecord>>;
type Fact = keyof typeof facts;

const names = Object.keys(facts).filter((name): name is Fact => Object.hasOwn(facts, name));
const late: Fact[] = [
  'latestDeadline',
  'revert',
  'lastRefusal',
  'eligibilityLoss',
  'refusal',
  'voidSignature',
];
const paid: Fact[] = ['settlement', 'remainder'];
const ended: Fact[] = ['completed', 'partial', 'error', ...paid];
const allowance: Fact[] = ['permit', 'approval'];

/** The specification: which facts a phase needs, and which it cannot have. It may have all others. */
const rows: Record<
  PhaseKind,
  {
    readonly needs: Fact[];
    readonly excludes: Fact[];
    /** Needed if the batch was released. */
    readonly onceReleased?: Fact[];
  }
> = {
  accepted: {
    needs: [],
    excludes: ['proved', 'signature', ...allowance, 'released', 'abandoned', ...late, ...ended],
  },
  proved: {
    needs: ['proved'],
    excludes: ['signature', ...allowance, 'released', 'abandoned', ...late, ...ended],
  },
  signed: {
    needs: ['proved', 'signature'],
    excludes: ['released', 'abandoned', ...late, ...ended],
  },
  released: { needs: ['proved', 'signature', 'released'], excludes: ['abandoned', ...ended] },
  abandoned: { needs: ['proved', 'abandoned'], excludes: ended, onceReleased: ['signature'] },
  recovered: { needs: ['released'], excludes: ['signature', 'abandoned', ...ended] },
  completed: { needs: ['completed'], excludes: ['partial', 'error'] },
  reverted: { needs: ['partial'], excludes: ['completed', 'error', ...paid] },
  failed: { needs: ['error'], excludes: ['completed', 'partial', ...paid] },
};

const plain: DisbursementRecord = {
  version: 1,
  employerId: 'employer',
  key: 'run-1',
  chain: 'anvil',
  tokenSymbol: 'USDC',
  requestDigest: word,
  recipients: [],
  skipped: [],
  stageSeconds: {},
  approvals: [],
};

function phaseKindOf(record: DisbursementRecord): PhaseKind | undefined {
  try {
    return phaseOf(record).kind;
  } catch (error) {
    expect(error).toMatchObject({ code: 'job_unreadable' });
    return undefined;
  }
}

describe('the phase of a record', () => {
  it('is exactly one for every combination of facts, or the combination is refused', () => {
    const counts = new Map<PhaseKind | undefined, number>();
    for (let bits = 0; bits < 2 ** names.length; bits += 1) {
      const present = names.filter((_name, index) => (bits & (2 ** index)) !== 0);
      // Both are the same field.
      if (present.includes('completed') && present.includes('partial')) {
        continue;
      }
      const matching = kinds.filter(
        (kind) =>
          rows[kind].needs.every((name) => present.includes(name)) &&
          (!present.includes('released') ||
            (rows[kind].onceReleased ?? []).every((name) => present.includes(name))) &&
          rows[kind].excludes.every((name) => !present.includes(name)),
      );
      const record = Object.assign({ ...plain }, ...present.map((name) => facts[name]));
      const found = phaseKindOf(record);
      if (matching.length > 1 || found !== matching[0]) {
        throw new Error(`${present.join(', ')}: ${matching.join(', ')}, found ${found}`);
      }
      counts.set(found, (counts.get(found) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([...kinds, undefined].sort());
  });

  it.each([
    ['a signature without a proof', ['signature']],
    ['an allowance without a signature', ['proved', 'approval']],
    ['a refusal without a release', ['proved', 'signature', 'refusal']],
    ['a result and an error', ['completed', 'error']],
    ['a settlement without a payment', ['error', 'settlement']],
  ] satisfies [string, Fact[]][])('makes a stored job with %s unreadable', (_what, present) => {
    const record = Object.assign({ ...plain }, ...present.map((name) => facts[name]));
    expect(() => deserializeRecord(serializeRecord(record))).toThrow(
      expect.objectContaining({
        code: 'job_unreadable',
        message: expect.stringContaining('contradicts itself'),
      }),
    );
  });
});

describe('the transitions', () => {
  it('reach every phase from accepted, and start from no final phase', () => {
    const reached = new Set<PhaseKind>(['accepted']);
    for (const kind of reached) {
      for (const next of transitions[kind]) {
        reached.add(next);
      }
    }
    expect([...reached].sort()).toEqual([...kinds].sort());
    const ends = kinds.filter((kind) => transitions[kind].length === 0);
    expect(ends).toEqual(['completed', 'reverted', 'failed']);
  });

  it('are the only changes that a write accepts', () => {
    for (const from of kinds) {
      for (const to of kinds) {
        const isAllowed = from === to || transitions[from].includes(to);
        const take = () => assertTransition(from, to);
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
          const { kind } = phaseOf(deserializeRecord(args[1]));
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

function didPass(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
