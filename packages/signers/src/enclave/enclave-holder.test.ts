// The holder's adapter against processes behind a real socket: one that is the pinned enclave, and ones that are not.
import { hexToBytes } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDevelopmentRoot } from '../attestation/development-attestation.ts';
import {
  createFakeEnclave,
  createStage,
  nowMs,
  pins,
  type Stage,
  walletPub,
  watchEnclave,
} from '../fixtures/fake-enclave.ts';
import { computeKeyWalletPub } from '../signing-key.ts';
import { createDevelopmentAttester } from './attester.ts';
import { createEnclaveHolder } from './enclave-signer.ts';
import { createSigningKey } from './sealed-key.ts';

const publicKey = hexToBytes(walletPub, 33);

let stage: Stage;

beforeEach(() => {
  stage = createStage();
});
afterEach(() => stage.close());

describe('createEnclaveHolder', () => {
  function createHolder() {
    return createEnclaveHolder({
      socketPath: stage.socketPath,
      walletPub,
      pins,
      nowMs: () => nowMs,
      pollMs: 1,
      sleep: async () => undefined,
    });
  }

  it('is a holder whose viewing-key signature repeats', async () => {
    await stage.serve(createFakeEnclave());
    const holder = createHolder();
    expect(holder.deterministic).toBe(true);
    expect(await holder.walletPub()).toBe(walletPub);
    const first = await holder.signViewingKeyText('pool.example');
    const second = await holder.signViewingKeyText('pool.example');
    expect(first.reveal()).toEqual(second.reveal());
  });

  it('is probed over a new connection after each close, and is asked for no signature', async () => {
    const { enclave, calls } = watchEnclave(createFakeEnclave());
    await stage.serve(enclave);
    const holder = createHolder();
    for (const _time of [1, 2]) {
      await holder.probe?.();
      holder.close?.();
    }
    expect(calls).toEqual(['attest', 'attest']);
  });

  it.each([
    [
      'another key than W',
      { walletPub: computeKeyWalletPub(createSigningKey()) },
      /holds another key/,
    ],
    [
      'the attestation of another root',
      {
        attest: (nonce: Uint8Array) =>
          createDevelopmentAttester(createDevelopmentRoot(nowMs), () => nowMs).attest({
            nonce,
            publicKey,
          }),
      },
      /is refused/,
    ],
  ])('fails its probe with %s', async (_what, change, message) => {
    await stage.serve(createFakeEnclave(change));
    await expect(createHolder().probe?.()).rejects.toMatchObject({
      code: 'enclave_not_attested',
      message: expect.stringMatching(message),
    });
  });

  it('fails its probe while nothing answers', async () => {
    await expect(createHolder().probe?.()).rejects.toMatchObject({ code: 'enclave_unreachable' });
  });
});
