// The adapter against processes behind a real socket: one that is the pinned enclave, and ones that are not.
import { createServer } from 'node:net';
import { type Hex, hexToBytes } from '@pool/core';
import { Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDevelopmentRoot } from '../attestation/development-attestation.ts';
import {
  address,
  createFakeEnclave,
  createStage,
  nowMs,
  pins,
  root,
  type Stage,
  walletPub,
  watchEnclave,
} from '../fixtures/fake-enclave.ts';
import { requests, stranger, wallet } from '../fixtures/requests.ts';
import { computeKeyWalletPub } from '../signing-key.ts';
import { createDevelopmentAttester } from './attester.ts';
import type { Enclave } from './enclave-core.ts';
import { createEnclaveSigner, type EnclaveSigner } from './enclave-signer.ts';
import { createSigningKey } from './sealed-key.ts';

let stage: Stage;
let signer: EnclaveSigner;

beforeEach(() => {
  stage = createStage();
  signer = createEnclaveSigner({
    socketPath: stage.socketPath,
    address,
    pins,
    nowMs: () => nowMs,
    timeoutMs: 2000,
  });
});

afterEach(async () => {
  signer.close();
  await stage.close();
});

const publicKey = hexToBytes(walletPub, 33);

describe('createEnclaveSigner', () => {
  it('attests once for each connection, before it sends a request', async () => {
    const { enclave, calls } = watchEnclave(createFakeEnclave());
    await stage.serve(enclave);
    expect(await signer.submit(requests.fund)).toMatchObject({ state: 'signed' });
    expect(await signer.submit(requests.void)).toMatchObject({ state: 'signed' });
    expect(calls).toEqual(['attest', 'sign', 'sign']);
    expect(await signer.publicKey()).toBe(walletPub);
  });

  it('attests again after the enclave was restarted, and gets the same signature', async () => {
    await stage.serve(createFakeEnclave());
    const before = await signer.submit(requests.spend);
    const { enclave, calls } = watchEnclave(createFakeEnclave());
    await stage.serve(enclave);
    expect(await signer.submit(requests.spend)).toEqual(before);
    expect(calls).toEqual(['attest', 'sign']);
  });

  it('connects and attests once more if the enclave dies in the middle of a request', async () => {
    const { enclave, calls } = watchEnclave(createFakeEnclave());
    let deaths = 1;
    await stage.serve({
      ...enclave,
      sign(value) {
        if (deaths > 0) {
          deaths -= 1;
          // Killed: connections end, and a supervisor starts it again.
          void stage.serve(enclave);
        }
        return enclave.sign(value);
      },
    });
    expect(await signer.submit(requests.fund)).toMatchObject({ state: 'signed' });
    expect(calls.filter((call) => call === 'attest')).toHaveLength(2);
  });

  it('makes one new connection for all the requests that lost theirs', async () => {
    const { enclave, calls } = watchEnclave(createFakeEnclave());
    let deaths = 1;
    await stage.serve({
      ...enclave,
      sign(value) {
        if (deaths > 0) {
          deaths -= 1;
          void stage.serve(enclave);
        }
        return enclave.sign(value);
      },
    });
    const answers = await Promise.all(
      [requests.fund, requests.void, requests.spend, requests.fund, requests.void].map((request) =>
        signer.submit(request),
      ),
    );
    expect(answers.map(({ state }) => state)).toEqual(answers.map(() => 'signed'));
    expect(calls.filter((call) => call === 'attest')).toHaveLength(2);
  });

  it('sends nothing to a process that took over the socket', async () => {
    await stage.serve(createFakeEnclave());
    await signer.submit(requests.fund);
    const thief = createDevelopmentAttester(createDevelopmentRoot(nowMs), () => nowMs);
    const { enclave, calls } = watchEnclave(
      createFakeEnclave({ attest: (nonce) => thief.attest({ nonce, publicKey }) }),
    );
    await stage.serve(enclave);
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'failed',
      code: 'enclave_not_attested',
      retryable: false,
    });
    expect(calls).toEqual(['attest']);
  });

  const attester = createDevelopmentAttester(root, () => nowMs);
  const otherKey = computeKeyWalletPub(createSigningKey());
  const recorded = attester.attest({ nonce: new Uint8Array(32).fill(1), publicKey });
  it.each<[string, Partial<Enclave>, RegExp]>([
    ['a recorded attestation', { attest: () => recorded }, /nonce-mismatch/],
    [
      'an attestation of another key',
      { attest: (nonce) => attester.attest({ nonce, publicKey: hexToBytes(otherKey, 33) }) },
      /public-key-mismatch/,
    ],
    [
      'an attestation of an hour ago',
      {
        attest: (nonce) =>
          createDevelopmentAttester(root, () => nowMs - 3_500_000).attest({ nonce, publicKey }),
      },
      /timestamp-old/,
    ],
    ['no attestation', { attest: () => new Uint8Array() }, /cbor-malformed/],
  ])('does not use a process with %s', async (_what, overrides, message) => {
    const { enclave, calls } = watchEnclave(createFakeEnclave(overrides));
    await stage.serve(enclave);
    const outcome = await signer.submit(requests.fund);
    expect(outcome).toMatchObject({ state: 'failed', code: 'enclave_not_attested' });
    expect('message' in outcome && outcome.message).toMatch(message);
    expect(calls).not.toContain('sign');
  });

  it('refuses to use an enclave with another key than that of the configured address', async () => {
    const { enclave, calls } = watchEnclave(createFakeEnclave({ walletPub: otherKey }));
    await stage.serve(enclave);
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'refused',
      reason: 'foreign-signer',
      message: expect.stringMatching(/holds another key/),
    });
    await expect(signer.publicKey()).rejects.toMatchObject({ code: 'enclave_not_attested' });
    expect(calls).toEqual([]);
  });

  it('refuses PCRs that are not the pinned ones', async () => {
    await stage.serve(createFakeEnclave());
    const [pcr0, pcr1] = pins.pcrs;
    const strict = createEnclaveSigner({
      socketPath: stage.socketPath,
      address,
      pins: { ...pins, pcrs: [pcr0, pcr1, new Uint8Array(48).fill(9)] },
      nowMs: () => nowMs,
    });
    const outcome = await strict.submit(requests.fund);
    expect('message' in outcome && outcome.message).toMatch(/pcr2-mismatch/);
    strict.close();
  });

  it.each([
    ['another key', new Wallet(`0x${'43'.repeat(32)}`).signingKey.sign(`0x${'01'.repeat(32)}`)],
    ['another digest', wallet.signingKey.sign(`0x${'01'.repeat(32)}`)],
  ])('accepts no signature of %s', async (_what, { serialized }) => {
    const signature = serialized as Hex;
    await stage.serve(createFakeEnclave({ sign: () => ({ state: 'signed', signature }) }));
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'failed',
      code: 'signature_rejected',
      retryable: false,
    });
  });

  it('reports a refusal with its reason, and a policy’s reason as a vote of no', async () => {
    for (const [reason, shown] of [
      ['pool-not-listed', 'pool-not-listed'],
      ['day-limit', 'denied'],
    ] as const) {
      await stage.serve(
        createFakeEnclave({ sign: () => ({ state: 'refused', reason, message: 'why' }) }),
      );
      expect(await signer.submit(requests.fund)).toMatchObject({
        state: 'refused',
        providerId: `enclave:${requests.fund.externalId}`,
        reason: shown,
        message: `${reason}: why`,
      });
    }
  });

  it('reports a spend that was signed before as a failure, because a refusal would free its notes', async () => {
    await stage.serve(
      createFakeEnclave({
        sign: () => ({ state: 'refused', reason: 'spend-signed-before', message: 'o\u001b[2Jnce' }),
      }),
    );
    expect(await signer.submit(requests.spend)).toMatchObject({
      state: 'failed',
      retryable: false,
      code: 'enclave_failed',
      message: expect.stringMatching(/its answer was lost \(spend-signed-before\): o \[2Jnce$/),
    });
  });

  it.each(['outside-working-hours', 'facts-unavailable'])(
    'refuses at once what the enclave would sign later (%s): nobody votes on it',
    async (reason) => {
      const real = createFakeEnclave();
      await stage.serve({ ...real, sign: () => ({ state: 'later', reason, message: 'why' }) });
      expect(await signer.submit(requests.fund)).toEqual({
        state: 'refused',
        providerId: `enclave:${requests.fund.externalId}`,
        reason: 'denied',
        message: `${reason}: why`,
      });
      // The refusal is not kept: the same request is signed once the enclave signs it.
      await stage.serve(real);
      expect(await signer.submit(requests.fund)).toMatchObject({ state: 'signed' });
    },
  );

  it.each(['ledger-restored', 'ledger-full', 'clock-differs', 'clock-behind-ledger'])(
    'reports %s, which only the operator ends, as a failure that can be repeated',
    async (reason) => {
      await stage.serve(
        createFakeEnclave({ sign: () => ({ state: 'later', reason, message: 'why' }) }),
      );
      expect(await signer.submit(requests.fund)).toMatchObject({
        state: 'failed',
        code: 'enclave_failed',
        retryable: true,
        message: expect.stringContaining(`(${reason}): why`),
      });
    },
  );

  it('reports a failure inside the enclave, without what failed', async () => {
    await stage.serve(
      createFakeEnclave({
        sign() {
          throw new Error('disk full at 0x4242');
        },
      }),
    );
    expect(await signer.submit(requests.fund)).toEqual({
      state: 'failed',
      retryable: false,
      code: 'enclave_failed',
      message: 'the enclave failed: something went wrong inside; read its own log',
    });
  });

  it('says that nothing answers, and works as soon as something does', async () => {
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'failed',
      code: 'enclave_unreachable',
      retryable: true,
    });
    await stage.serve(createFakeEnclave());
    expect(await signer.submit(requests.fund)).toMatchObject({ state: 'signed' });
  });

  it('sends no request for another wallet, with another id, or of an unknown kind', async () => {
    const { enclave, calls } = watchEnclave(createFakeEnclave());
    await stage.serve(enclave);
    for (const [change, reason] of [
      [{ expectedSigner: stranger }, 'foreign-signer'],
      [{ externalId: 'p1-0' }, 'external-id-mismatch'],
      [{ kind: 'digest' }, 'kind-not-allowed'],
      [{ payload: {} }, 'malformed-payload'],
    ] as const) {
      const request = { ...requests.fund, ...change } as unknown as typeof requests.fund;
      expect(await signer.submit(request)).toMatchObject({ state: 'refused', reason });
    }
    expect(calls).toEqual([]);
  });
});

describe('a silent or talkative process', () => {
  /** A process that takes what it gets and answers with these bytes. */
  async function answerWith(bytes: Uint8Array): Promise<() => Promise<void>> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => bytes.length > 0 && socket.write(bytes));
    });
    await new Promise<void>((resolve) => server.listen(stage.socketPath, resolve));
    return () =>
      new Promise((resolve) => {
        signer.close();
        server.close(() => resolve());
      });
  }

  it('is given up after the time-out', async () => {
    const close = await answerWith(new Uint8Array());
    const impatient = createEnclaveSigner({
      socketPath: stage.socketPath,
      address,
      pins,
      timeoutMs: 30,
    });
    const outcome = await impatient.submit(requests.fund);
    expect(outcome).toMatchObject({ code: 'enclave_unreachable', retryable: true });
    expect('message' in outcome && outcome.message).toMatch(/within 30 ms/);
    impatient.close();
    await close();
  });

  it('is given up at an abort', async () => {
    const close = await answerWith(new Uint8Array());
    const controller = new AbortController();
    const submitted = signer.submit(requests.fund, { signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(submitted).rejects.toThrow('stop');
    await expect(signer.submit(requests.fund, { signal: controller.signal })).rejects.toThrow(
      'stop',
    );
    await close();
  });

  it.each([
    ['a frame of 4 GiB', Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
    ['text', Buffer.from('HTTP/1.1 200 OK\r\n\r\n')],
    ['a frame of another protocol', Buffer.from('\u0000\u0000\u0000\u0002{}')],
  ])('is not believed with %s', async (_what, bytes) => {
    const close = await answerWith(bytes);
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'failed',
      code: 'enclave_failed',
    });
    await close();
  });
});
