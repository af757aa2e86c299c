// A holder over a signer in another process: how long it waits.
import { parseWalletPub } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { funder, wallet } from '../fixtures/requests.ts';
import type { Outcome, Progress, Signer } from '../signer.ts';
import { createRemoteHolder } from './remote-holder.ts';

const walletPub = parseWalletPub(wallet.signingKey.compressedPublicKey);
const providerId = 'enclave:1';
const waiting: Progress = { state: 'awaiting-approval', providerId };

/** A fake signer that answers with each step in turn, and with the last one from then on. */
function createHolder(steps: readonly (Progress | Outcome)[]) {
  let reads = 0;
  const slept = { ms: 0 };
  const next = async (): Promise<Progress | Outcome> => {
    const step = steps[Math.min(reads, steps.length - 1)] ?? waiting;
    reads += 1;
    return step;
  };
  const signer: Signer = {
    name: 'enclave',
    capabilities: { deterministic: true, needsApprover: false, curves: ['secp256k1'] },
    address: async () => funder,
    publicKey: async () => walletPub,
    submit: next,
    read: next,
    find: async () => undefined,
  };
  const sleep = async (milliseconds: number): Promise<void> => {
    slept.ms += milliseconds;
  };
  return {
    holder: createRemoteHolder({ name: 'enclave', signer, walletPub, pollMs: 2_000, sleep }),
    slept,
  };
}

describe('the viewing-key text of a signer in another process', () => {
  it('waits for a signature', async () => {
    const signature = `0x${'11'.repeat(64)}1b` as const;
    const { holder } = createHolder([waiting, { state: 'signed', providerId, signature }]);
    const signed = await holder.signViewingKeyText('pool.example');
    expect(signed.reveal()).toEqual(new Uint8Array(64).fill(0x11));
  });

  it('ends after 30 seconds without one, and names the policy', async () => {
    const { holder, slept } = createHolder([waiting]);
    await expect(holder.signViewingKeyText('pool.example')).rejects.toMatchObject({
      code: 'holder_unavailable',
      retryable: true,
      message: expect.stringMatching(/enclave:1: awaiting-approval.*30 seconds.*policy/),
    });
    expect(slept.ms).toBe(30_000);
  });
});
