// A callback that carries a digest alone: it is judged as the document that a stored manifest gives for exactly this digest.
import { expect, it } from 'vitest';
import { fundBody } from '../fixtures/bodies.ts';
import { openCallbackGate, signerId, vaultAccount } from '../fixtures/callback-gate.ts';
import { typedMessage } from '../fixtures/custodian-b.ts';
import { fundFile, recipient } from '../fixtures/payroll.ts';

it.each([
  ['deadline', (file: ReturnType<typeof fundFile>) => ({ ...file, deadline: file.deadline + 1 })],
  ['seed', (file: ReturnType<typeof fundFile>) => ({ ...file, seed: `0x${'77'.repeat(32)}` })],
])(
  'a second manifest with another %s does not turn an authorisation into a withdrawal',
  async (_what, change) => {
    const gate = openCallbackGate();
    // Not on the list, and above every limit.
    const file = fundFile({ recipients: [recipient(9, '999999')] });
    const { manifestDigest } = await gate.intake.post(file);
    const payload = gate.ledger.listManifests()[0]?.digest ?? '';
    const ask = (requestId: string) =>
      gate.ask({ requestId, operation: 'TYPED_MESSAGE', rawTx: [{ payload }] });
    expect(await ask('before')).toMatchObject({ action: 'REJECT' });
    await expect(gate.intake.post(change(file))).rejects.toMatchObject({
      code: 'manifest_conflict',
    });
    expect(await ask('after')).toMatchObject({ action: 'REJECT' });
    const votes = gate.ledger.listVotes(manifestDigest);
    expect(votes.filter(({ value }) => value === 'approve')).toEqual([]);
  },
);

it('keeps the transaction that a later callback of the same request shows', async () => {
  const file = fundFile();
  const gate = openCallbackGate(() => ({
    ...typedMessage(fundBody(file)),
    id: 'tx-1',
    status: 'PENDING_SIGNATURE',
    source: { type: 'VAULT_ACCOUNT', id: vaultAccount },
    createdBy: signerId,
  }));
  await gate.intake.post(file);
  const payload = gate.ledger.listManifests()[0]?.digest ?? '';
  const rawTx = [{ payload }];
  const call = { requestId: 'one', operation: 'TYPED_MESSAGE', rawTx };
  expect(await gate.ask(call)).toMatchObject({ action: 'APPROVE' });
  expect(gate.ledger.findVote('one')).toMatchObject({ transactionId: undefined });
  expect(await gate.ask({ ...call, txId: 'tx-1' })).toMatchObject({ action: 'APPROVE' });
  expect(gate.ledger.findVote('one')).toMatchObject({ transactionId: 'tx-1' });
});
