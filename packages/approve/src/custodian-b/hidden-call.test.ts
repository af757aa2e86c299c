// A contract call whose transaction the co-signer does not show is approved before it is built, and never when it is signed.
import { encodeApproveCall } from '@pool/policy';
import { Transaction } from 'ethers';
import { expect, it } from 'vitest';
import { approvalBody } from '../fixtures/bodies.ts';
import { openCallbackGate, signerId, vaultAccount } from '../fixtures/callback-gate.ts';
import { fundFile, pool, token } from '../fixtures/payroll.ts';

const call = { txId: 'tx-1', operation: 'CONTRACT_CALL' };

async function openFor(status: string | undefined) {
  const gate = openCallbackGate(() => ({
    id: 'tx-1',
    operation: 'CONTRACT_CALL',
    ...(status === undefined ? {} : { status }),
    source: { type: 'VAULT_ACCOUNT', id: vaultAccount },
    createdBy: signerId,
    destinationAddress: token,
    extraParameters: { contractCallData: encodeApproveCall(pool, 300n) },
  }));
  await gate.intake.post(fundFile());
  return gate;
}

it('is approved while it waits for its authorisation', async () => {
  const gate = await openFor('PENDING_AUTHORIZATION');
  expect(await gate.ask({ requestId: 'one', ...call })).toMatchObject({ action: 'APPROVE' });
});

it.each(['QUEUED', 'PENDING_SIGNATURE', 'A_NEW_STATUS', undefined])(
  'is rejected in the status %s, with and without a digest',
  async (status) => {
    const gate = await openFor(status);
    for (const rawTx of [undefined, [{ payload: '07'.repeat(32) }]]) {
      expect(await gate.ask({ requestId: 'one', ...call, ...(rawTx && { rawTx }) })).toMatchObject({
        action: 'REJECT',
        rejectionReason: expect.stringMatching(/its fees are unknown/) as string,
      });
    }
    expect(gate.ledger.status()).toMatchObject({ votes: 0 });
  },
);

it('is approved at the signing stage once its transaction is shown, within the limit of fees', async () => {
  const gate = await openFor('PENDING_SIGNATURE');
  const ask = async (requestId: string, maxFeePerGas: bigint) => {
    const { transaction } = approvalBody(pool, 300n, { maxFeePerGas });
    const { unsignedHash } = Transaction.from(transaction);
    const rawTx = [{ payload: unsignedHash.slice(2), rawTx: transaction.slice(2) }];
    const { action } = await gate.ask({ requestId, ...call, rawTx });
    return action;
  };
  expect(await ask('dear', 10n ** 15n)).toBe('REJECT');
  expect(await ask('cheap', 2_000_000_000n)).toBe('APPROVE');
});
