// The last step before money moves (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { createApproval } from '../../../../packages/pay-run/src/check/confirm-payment.ts';
import { sameRosterHours } from '../../../../packages/pay-run/src/ledger/same-roster.ts';
import { createTestPayRun, type TestPayRun } from './test-pay-run.ts';

const hourMs = 3_600_000;

/** @param answers - of the person at the terminal; undefined: there is no terminal */
function createDesk(test: TestPayRun, answers?: readonly (string | undefined)[]) {
  const questions: string[] = [];
  const lines: string[] = [];
  const left = [...(answers ?? [])];
  const approve = createApproval({
    ledger: test.ledger(),
    client: test.client,
    nowMs: () => test.state.nowMs,
    decimals: 6,
    terminal: { isTty: false, write: (text) => lines.push(text.trimEnd()) },
    ask:
      answers === undefined
        ? undefined
        : async (question) => {
            questions.push(question);
            return left.shift();
          },
  });
  const plan = { chain: 'anvil', token: 'USDC', payRun: 'june', entries: test.entries };
  return {
    questions,
    lines,
    approve: (payRun = plan.payRun, entries = test.entries) =>
      approve({ ...plan, payRun, entries }, { ...plan, payRun, entries, skipped: [], parts: 1 }),
  };
}

describe('a payment that is about to be sent', () => {
  it('is printed in token units, and only a yes confirms it', async () => {
    for (const yes of ['y', 'Y', 'yes', ' Yes ']) {
      const desk = createDesk(createTestPayRun(), [yes]);
      await desk.approve();
      expect(desk.questions).toEqual(['Send this payment? [y/N] ']);
      expect(desk.lines[0]).toBe('pay run june on anvil: 5 recipient(s), 0.00501 USDC in total');
    }
    for (const no of ['', 'n', 'no', 'yess', 'ja', undefined]) {
      const desk = createDesk(createTestPayRun(), [no]);
      await expect(desk.approve(), String(no)).rejects.toMatchObject({ code: 'payment_declined' });
    }
  });

  it('is printed without a question if nobody can answer', async () => {
    const desk = createDesk(createTestPayRun());
    await desk.approve();
    expect(desk.lines).toHaveLength(2);
  });
});

describe('a roster that was paid under another label', () => {
  it('is named with that label and its time for 72 hours, and needs a separate yes', async () => {
    const test = createTestPayRun({ people: 2 });
    test.state.nowMs = Date.UTC(2026, 10, 20, 9, 30);
    await test.whole({ payRun: 'may' });
    test.state.nowMs += sameRosterHours * hourMs;
    const asked = createDesk(test, ['n']);
    await expect(asked.approve()).rejects.toMatchObject({ code: 'payment_declined' });
    expect(asked.questions).toEqual(['Pay everybody on it again, under june? [y/N] ']);
    expect(asked.lines.at(-1)).toBe(
      'warning: the same roster was sent under the label may at 2026-11-20 09:30 UTC; under another label it is paid once more',
    );
    const script = createDesk(test);
    await script.approve();
    expect(script.lines.at(-1)).toContain('under the label may at');

    // Next month the roster is usually the same.
    test.state.nowMs += 1;
    const later = createDesk(test, ['y']);
    await later.approve();
    expect(later.questions).toEqual(['Send this payment? [y/N] ']);
  });

  it('is not named under its own label, in another amount, or if nothing was paid', async () => {
    const test = createTestPayRun({ people: 2 });
    await test.whole({ payRun: 'may' });
    for (const [payRun, entries] of [
      ['MAY', test.entries],
      ['june', test.entries.map((entry) => ({ ...entry, amount: '7' }))],
    ] as const) {
      const desk = createDesk(test, ['y']);
      await desk.approve(payRun === 'MAY' ? 'may' : payRun, entries);
      expect(desk.questions).toHaveLength(1);
    }
    const failing = createTestPayRun({ people: 2 });
    failing.state.verdict = () => 'failed';
    await failing.whole({ payRun: 'may' });
    const desk = createDesk(failing, ['y']);
    await desk.approve();
    expect(desk.questions).toHaveLength(1);
  });

  it('is found if it was paid in parts', async () => {
    const test = createTestPayRun({ people: 5 });
    await test.split({ payRun: 'may' });
    const desk = createDesk(test);
    await desk.approve();
    expect(desk.lines.at(-1)).toContain('under the label may');
  });
});
