import { bytesToHex, type Hex, hexToBytes } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createSlotSalt } from './key-slots.ts';
import { createPasskey, type PasskeyContainer, readPasskey } from './passkey.ts';

type Create = Parameters<PasskeyContainer['create']>[0]['publicKey'];
type Get = Parameters<PasskeyContainer['get']>[0]['publicKey'];

const rp = { id: 'pool.example', name: 'Pool' };
const phone: Hex = '0x0102fbff';
const stick: Hex = '0xa1';
const prf = Uint8Array.from({ length: 32 }, (_, index) => index + 1);

function answer(credentialId: Hex, extension: object | undefined) {
  return {
    rawId: Uint8Array.from(hexToBytes(credentialId)).buffer,
    getClientExtensionResults: () => (extension === undefined ? {} : { prf: extension }),
  };
}

function failWith(name: string): () => never {
  return () => {
    throw new DOMException('secret text of a browser', name);
  };
}

/** Credentials of a browser that answers with one value, and keeps what it was asked. */
function fakeCredentials(result: () => unknown) {
  const asked: { create: Create[]; get: Get[]; signals: unknown[] } = {
    ...{ create: [], get: [], signals: [] },
  };
  const credentials: PasskeyContainer = {
    async create({ publicKey, signal }) {
      asked.create.push(publicKey);
      asked.signals.push(signal);
      return result();
    },
    async get({ publicKey, signal }) {
      asked.get.push(publicKey);
      asked.signals.push(signal);
      return result();
    },
  };
  return { credentials, asked };
}

describe('making a passkey', () => {
  function create(result: () => unknown, exclude?: readonly Hex[], signal?: AbortSignal) {
    const { credentials, asked } = fakeCredentials(result);
    const created = createPasskey({
      ...{ credentials, rp, accountName: 'Pool 0x12…34' },
      ...(exclude === undefined ? {} : { exclude }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { created, asked };
  }

  it('asks for a discoverable passkey with verification of the person and the PRF', async () => {
    const { signal } = new AbortController();
    const { created, asked } = create(() => answer(phone, { enabled: true }), [stick], signal);
    expect(await created).toEqual({ state: 'created', credentialId: phone });
    expect(asked.create).toMatchObject([
      {
        rp,
        user: { name: 'Pool 0x12…34', displayName: 'Pool 0x12…34' },
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        attestation: 'none',
        extensions: { prf: {} },
        excludeCredentials: [{ type: 'public-key', id: hexToBytes(stick) }],
      },
    ]);
    expect(asked.create[0]?.pubKeyCredParams.map(({ alg }) => alg)).toContain(-7);
    expect(asked.signals).toEqual([signal]);
  });

  it('never reuses a user id, which would replace another passkey', async () => {
    const { credentials, asked } = fakeCredentials(() => answer(phone, { enabled: true }));
    await createPasskey({ credentials, rp, accountName: 'one' });
    await createPasskey({ credentials, rp, accountName: 'one' });
    const [first, second] = asked.create;
    expect(first?.user.id).toHaveLength(32);
    expect(first?.user.id).not.toEqual(second?.user.id);
    expect(first?.challenge).not.toEqual(second?.challenge);
  });

  it.each([
    ['a browser without the extension', () => answer(phone, undefined), 'no-prf'],
    ['an authenticator without it', () => answer(phone, { enabled: false }), 'no-prf'],
    ['a person who says no', failWith('NotAllowedError'), 'cancelled'],
    ['a page that gives up', failWith('AbortError'), 'cancelled'],
    ['an authenticator that has one', failWith('InvalidStateError'), 'already-registered'],
  ])('answers for %s', async (_, result, state) => {
    expect(await create(result).created).toEqual({ state });
  });

  it.each([
    ['another origin', failWith('SecurityError'), /the browser refused \(SecurityError\)/],
    ['null', () => null, /answered with something else/],
  ])('fails for %s', async (_, result, message) => {
    await expect(create(result).created).rejects.toMatchObject({
      code: 'passkey_failed',
      message: expect.stringMatching(message),
    });
  });
});

describe('reading a passkey', () => {
  const slots = [phone, stick].map((credentialId) => ({ credentialId, salt: createSlotSalt() }));

  function read(result: () => unknown) {
    const { credentials, asked } = fakeCredentials(result);
    return { answered: readPasskey({ credentials, rpId: rp.id, slots }), asked };
  }

  it('asks each passkey with the salt of its own slot, and says which one answered', async () => {
    const { answered, asked } = read(() =>
      answer(stick, { results: { first: prf.slice().buffer } }),
    );
    expect(await answered).toEqual({ state: 'read', credentialId: stick, prf });
    expect(asked.get).toMatchObject([
      {
        rpId: 'pool.example',
        userVerification: 'required',
        allowCredentials: slots.map(({ credentialId }) => ({
          ...{ type: 'public-key', id: hexToBytes(credentialId) },
        })),
        extensions: {
          prf: {
            evalByCredential: {
              AQL7_w: { first: hexToBytes(slots[0]!.salt) },
              oQ: { first: hexToBytes(slots[1]!.salt) },
            },
          },
        },
      },
    ]);
  });

  it('gives the memory of the browser, so that wiping leaves no copy', async () => {
    const memory = Uint8Array.from([9, ...prf, 9]);
    const first = memory.subarray(1, 33);
    const answered = await read(() => answer(phone, { results: { first } })).answered;
    expect(answered).toMatchObject({ state: 'read', prf });
    if (answered.state === 'read') answered.prf.fill(0);
    expect(bytesToHex(memory)).toBe(`0x09${'00'.repeat(32)}09`);
  });

  it('wipes the output of a passkey that was not asked', async () => {
    const first = prf.slice();
    const { answered } = read(() => answer('0xbb', { results: { first: first.buffer } }));
    expect(await answered).toEqual({ state: 'other-credential' });
    expect(first).toEqual(new Uint8Array(32));
  });

  it.each([
    ['a browser without the PRF', () => answer(phone, undefined), 'no-prf'],
    ['an authenticator without it', () => answer(phone, { enabled: false }), 'no-prf'],
    ['a person who says no', failWith('NotAllowedError'), 'cancelled'],
    ['a page that gives up', failWith('AbortError'), 'cancelled'],
  ])('answers for %s', async (_, result, state) => {
    expect(await read(result).answered).toEqual({ state });
  });

  it('fails for an error that is no answer, without the text of the browser', async () => {
    for (const name of ['SecurityError', 'InvalidStateError', 'constructor']) {
      const { answered } = read(failWith(name));
      await expect(answered).rejects.toMatchObject({ code: 'passkey_failed' });
      await expect(answered).rejects.not.toThrow(/secret text/);
    }
  });

  it('does not ask for any passkey of the domain', async () => {
    const { credentials, asked } = fakeCredentials(() => answer(phone, undefined));
    await expect(readPasskey({ credentials, rpId: rp.id, slots: [] })).rejects.toMatchObject({
      code: 'invalid_value',
    });
    expect(asked.get).toEqual([]);
  });
});
