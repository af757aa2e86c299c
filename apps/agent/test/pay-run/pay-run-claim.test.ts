// A label belongs to one roster (README.md, "The command"; docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { describeUse } from '../../../../packages/pay-run/src/ledger/pay-run-claim.ts';
import { computePayRunDigest } from '../../../../packages/pay-run/src/ledger/pay-run-key.ts';
import { createTestPayRun, KilledError, type TestPayRun } from './test-pay-run.ts';

const conflict = expect.objectContaining({ code: 'pay_run_conflict' });

/** One amount changed: another roster. */
function edit({ entries }: TestPayRun): TestPayRun['entries'] {
  return entries.map((entry, index) => (index === 0 ? { ...entry, amount: '7' } : entry));
}

describe.each(['whole', 'split'] as const)('a label that was used, %s', (how) => {
  const create = (): TestPayRun =>
    createTestPayRun(how === 'whole' ? { people: 2 } : { people: 5 });

  it('is refused for an edited roster before anything is sent', async () => {
    const test = create();
    await test[how]();
    const before = [...test.state.submitted];
    for (const entries of [edit(test), test.entries.slice(1), test.entries.slice(0, 1)]) {
      await expect(test[how]({ entries })).rejects.toThrow(conflict);
      await expect(test.whole({ entries })).rejects.toThrow(conflict);
      await expect(test.split({ entries })).rejects.toThrow(conflict);
    }
    expect(test.state.submitted).toEqual(before);
    // The same roster and another label are still accepted.
    await test[how]();
    await test[how]({ payRun: 'other', entries: edit(test) });
    expect(test.state.submitted.length).toBe(2 * before.length);
  });

  it('stays taken while its jobs are open, and after they reverted', async () => {
    for (const verdict of ['open', 'partial', 'settled_elsewhere'] as const) {
      const test = create();
      test.state.verdict = () => {
        test.state.interrupt.abort();
        return verdict;
      };
      await test[how]();
      await expect(test[how]({ entries: edit(test) }), verdict).rejects.toThrow(conflict);
    }
  });

  it('is free again when all of its jobs failed', async () => {
    const test = create();
    test.state.verdict = () => 'failed';
    await test[how]();
    test.state.verdict = () => 'completed';
    const entries = edit(test);
    await test[how]({ entries });
    expect(test.state.paid.size).toBe(entries.length);
    // From then on the label belongs to the other roster.
    await expect(test[how]()).rejects.toThrow(conflict);
  });

  it('stays taken if the agent has lost the job that it had accepted', async () => {
    const test = create();
    await test[how]();
    const lost = createTestPayRun({ people: test.entries.length });
    const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
    const known = (await test.ledger().read(name))!;
    await lost.ledger().change(name, () => known);
    await expect(lost[how]({ entries: edit(test) })).rejects.toThrow(conflict);
    expect(lost.state.submitted).toEqual([]);
  });

  it('stays taken for ten minutes when it is unknown whether the agent got the request', async () => {
    const test = create();
    let calls = 0;
    const submit = test.state;
    // The command dies at its submission, before the agent has the request.
    for (calls = 1; ; calls += 1) {
      submit.calls = 0;
      submit.killAt = { call: calls, when: 'before' };
      const error: unknown = await test[how]().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(KilledError);
      const record = await test.ledger().read({ chain: 'anvil', token: 'USDC', payRun: '2026-11' });
      if (record?.parts[0]?.sent === 'sending') {
        break;
      }
    }
    submit.killAt = undefined;
    await expect(test[how]({ entries: edit(test) })).rejects.toThrow('ten minutes');
    submit.nowMs += 10 * 60_000 + 1;
    await test[how]({ entries: edit(test) });
    expect(submit.paid.get(test.entries[0]!.recipientAddress)).toEqual([7n]);
  });
});

describe('the label of a roster that is paid whole', () => {
  it('is free again when the agent refused the roster', async () => {
    const test = createTestPayRun({ people: 2 });
    const stranger = {
      recipientAddress: '0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE',
      amount: '1',
    };
    const entries = [test.entries[0]!, stranger];
    await expect(test.whole({ entries })).rejects.toMatchObject({ code: 'unregistered-recipient' });
    expect(await test.whole()).toMatchObject({ state: 'accepted' });
  });

  it('shows the original job for any order of lines', async () => {
    const test = createTestPayRun({ people: 2 });
    const first = await test.whole();
    const again = await test.whole({ entries: [...test.entries].reverse() });
    expect(again).toMatchObject({ key: first.key, state: 'done' });
  });

  it('is paid by a further attempt after its job failed, and then shows that attempt', async () => {
    const test = createTestPayRun({ people: 2 });
    test.state.verdict = (job) => (job === 1 ? 'failed' : 'completed');
    const failed = await test.whole();
    const { parts } = await test.split({ retry: [1] });
    expect(parts[0]?.key).not.toBe(failed.key);
    expect(await test.whole()).toMatchObject({ key: parts[0]?.key, state: 'done' });
    expect(test.state.submitted).toHaveLength(2);
  });

  it('does not pay a roster whole that was started in parts', async () => {
    const test = createTestPayRun({ people: 3 });
    await test.split();
    await expect(test.whole()).rejects.toThrow('--split');
    expect(test.state.submitted).toHaveLength(2);
  });

  it('is adopted from the agent when the ledger was lost', async () => {
    const test = createTestPayRun({ people: 2 });
    await test.whole();
    test.loseLedger();
    await test.whole();
    await expect(test.whole({ entries: edit(test) })).rejects.toThrow(conflict);
    expect(test.state.submitted).toHaveLength(1);
  });

  it('is also recognised in a dry run, which asks no agent', async () => {
    const test = createTestPayRun({ people: 2 });
    const base = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
    await test.whole();
    const record = await test.ledger().read(base);
    const own = computePayRunDigest({ ...base, entries: test.entries });
    expect(describeUse(record, own, false)).toContain('pays nobody again');
    const other = computePayRunDigest({ ...base, entries: edit(test) });
    expect(() => describeUse(record, other, false)).toThrow(conflict);
    expect(describeUse(undefined, other, false)).toBeUndefined();
    const unsent = { digest: other, parts: [{ attempt: 1, sent: 'no' as const, sinceMs: 0 }] };
    expect(describeUse(unsent, own, false)).toBeUndefined();
    const cut = { digest: own, parts: [...record!.parts, ...unsent.parts] };
    expect(() => describeUse(cut, own, false)).toThrow('--split');
    expect(describeUse(cut, own, true)).toBeUndefined();
  });
});
