// The output on a terminal and in a pipe while a job waits.

import { expect, it } from 'vitest';
import type { JobTrace } from '../ports.ts';
import { createProgressView } from './progress-view.ts';

const refused: JobTrace = {
  timings: [],
  prover: { kind: 'cpu', detail: '' },
  refusal: { code: 'erc20-insufficient-balance', message: 'The balance is too small.' },
};

it.each([true, false])('prints once why a settlement is refused (terminal: %s)', (isTty) => {
  const written: string[] = [];
  const view = createProgressView({ isTty, write: (text) => written.push(text) });
  view.show('submitted', 'settling', { ...refused, refusal: undefined });
  expect(written.join('')).not.toContain('refused');
  view.show('submitted', 'settlement-refused', refused);
  view.show('submitted', 'settlement-refused', refused);
  const lines = written.join('').split('settlement refused: ');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain('erc20-insufficient-balance: The balance is too small.');
  expect(lines[1]).toContain('disburse-agent cancel <key>');
});

it('prints once why nobody can sign, and nothing of a settlement', () => {
  const written: string[] = [];
  const view = createProgressView({ isTty: false, write: (text) => written.push(text) });
  const { refusal: _, ...waiting } = refused;
  const outage = { code: 'approver_refused', message: 'the token is wrong' };
  view.show('submitted', 'awaiting-approval', { ...waiting, outage });
  view.show('submitted', 'awaiting-approval', { ...waiting, outage });
  expect(
    written.join('').split('no signature yet: approver_refused: the token is wrong'),
  ).toHaveLength(2);
  expect(written.join('')).toContain('asked again until the deadline');
  expect(written.join('')).not.toContain('settlement');
});

it('prints below an insufficient allowance that no action is needed', () => {
  let written = '';
  const view = createProgressView({
    isTty: true,
    write: (text) => {
      written += text;
    },
  });
  view.show('submitted', 'proving', { ...refused, refusal: undefined, allowance: 'insufficient' });
  expect(written).toContain('allowance: insufficient at the pre-proof check\n');
  expect(written).toContain(
    '(no action needed: the agent grants exactly what the payment needs)\n',
  );
});
