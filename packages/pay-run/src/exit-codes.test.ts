import { expect, it } from 'vitest';
import { exitCodeOfError } from './exit-codes.ts';

it.each([
  ['invalid_roster', 2],
  ['pay_run_conflict', 2],
  ['pay_run_job_lost', 2],
  ['idempotency_conflict', 2],
  ['invalid-chain', 2],
  ['batch-too-large', 2],
  ['duplicate-recipient', 2],
  ['unregistered-recipient', 2],
  ['payment_declined', 2],
  ['payment_blocked', 6],
  ['ceiling_exceeded', 2],
  ['unpinned_destination', 2],
  ['unknown_token', 2],
  ['settlement_expired', 3],
  ['note_already_spent', 3],
  ['insufficient_funds', 6],
  ['consolidation_required', 6],
  ['spend_unfinished', 8],
  ['spend_unknown', 8],
  ['spend_unreadable', 8],
  ['agent_unreachable', 1],
  ['store_damaged', 1],
])('%s ends a command with %i [command.unknown-outcome]', (code, exitCode) => {
  expect(exitCodeOfError(code)).toBe(exitCode);
});
