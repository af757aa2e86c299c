// The libraries of Solana and Stellar verify the signatures. Expected values: vectors/ed25519-funding.json, which stellar-base signed.
import { inspect } from 'node:util';
import { parseField, parseHex32, Secret } from '@pool/core';
import { getPublicKeyFromAddress } from '@solana/addresses';
import { verifySignature } from '@solana/keys';
import { Keypair } from '@stellar/stellar-base';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/ed25519-funding.json' with { type: 'json' };
import {
  createLocalEd25519Funder,
  type Ed25519FundRequest,
  type LocalEd25519FunderOptions,
} from './ed25519-funder.ts';

type Vector = (typeof vectors.authorizations)[number];

const [first, second] = vectors.authorizations as [Vector, Vector];

function requestOf({ place, authorization }: Vector): Ed25519FundRequest {
  return {
    kind: 'fund-authorization',
    expectedSigner: parseHex32(authorization.funder),
    payload: {
      genesisHash: parseHex32(place.genesisHash),
      pool: parseHex32(place.pool),
      authorization: {
        funder: parseHex32(authorization.funder),
        token: parseHex32(authorization.token),
        total: BigInt(authorization.total),
        batchRoot: parseField(authorization.batchRoot),
        batchNonce: parseField(authorization.batchNonce),
        sealedNotesHash: parseHex32(authorization.sealedNotesHash),
        deadline: BigInt(authorization.deadline),
      },
    },
  };
}

function submit(
  request: unknown,
  allow: LocalEd25519FunderOptions['allow'] = {},
): ReturnType<ReturnType<typeof createLocalEd25519Funder>['submit']> {
  const funder = createLocalEd25519Funder({ seed: new Secret(first.seed), allow });
  return Reflect.apply(funder.submit, undefined, [request]);
}

async function verify(vector: Vector, signature: string, message: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  return vector.family === 'solana'
    ? await verifySignature(
        await getPublicKeyFromAddress(vector.address as never),
        Uint8Array.from(bytes) as never,
        message,
      )
    : Keypair.fromPublicKey(vector.address).verify(Buffer.from(message), bytes);
}

describe('an ed25519 funder', () => {
  it.each(vectors.authorizations)(
    'signs a batch, and the library of the chain verifies it: $family, $network [variable.funder-ed25519]',
    async (vector) => {
      const funder = createLocalEd25519Funder({ seed: new Secret(vector.seed) });
      expect(funder.address(vector.family as 'solana' | 'stellar')).toBe(vector.address);
      expect(funder.publicKey()).toBe(vector.authorization.funder);
      const outcome = funder.submit(requestOf(vector));
      expect(outcome).toEqual({ state: 'signed', signature: vector.signature });
      const signature = outcome.state === 'signed' ? outcome.signature : '';
      const bytes = Uint8Array.from(Buffer.from(vector.bytes.slice(2), 'hex'));
      expect(await verify(vector, signature, bytes)).toBe(true);
      expect(
        await verify(
          vector,
          signature,
          bytes.map((byte, at) => byte ^ Number(at === 16)),
        ),
      ).toBe(false);
    },
  );

  it('signs a listed pool and token', () => {
    const { genesisHash, pool, authorization } = requestOf(first).payload;
    const pools = [{ genesisHash, pool, tokens: [authorization.token] }];
    expect(submit(requestOf(first), { pools })).toMatchObject({ state: 'signed' });
  });

  const good = requestOf(first);
  const { payload } = good;
  const { authorization } = payload;
  const listed = { ...payload, tokens: [authorization.token] };
  const other = parseHex32(`0x${'77'.repeat(32)}`);
  it.each<[string, unknown, string, LocalEd25519FunderOptions['allow']?]>([
    ['another kind', { ...good, kind: 'void' }, 'kind-not-allowed'],
    ['a digest', { ...good, kind: 'digest', payload: other }, 'kind-not-allowed'],
    ['the request of another wallet', requestOf(second), 'foreign-signer'],
    ['another expected signer', { ...good, expectedSigner: other }, 'foreign-signer'],
    [
      'another funder in the payload',
      { ...good, payload: { ...payload, authorization: { ...authorization, funder: other } } },
      'foreign-signer',
    ],
    [
      'a total that is no amount',
      { ...good, payload: { ...payload, authorization: { ...authorization, total: -1n } } },
      'malformed-payload',
    ],
    [
      'a total of another type',
      { ...good, payload: { ...payload, authorization: { ...authorization, total: '1' } } },
      'malformed-payload',
    ],
    [
      'a pool that is not hex',
      { ...good, payload: { ...payload, pool: 'x' } },
      'malformed-payload',
    ],
    ['any pool if none is listed', good, 'pool-not-listed', { pools: [] }],
    [
      'the pool of another network',
      good,
      'pool-not-listed',
      { pools: [{ ...listed, genesisHash: other }] },
    ],
    ['another pool', good, 'pool-not-listed', { pools: [{ ...listed, pool: other }] }],
    ['another token', good, 'token-not-listed', { pools: [{ ...listed, tokens: [other] }] }],
  ])('refuses %s', (_what, request, reason, allow) => {
    expect(submit(request, allow)).toEqual({
      state: 'refused',
      reason,
      message: expect.stringMatching(/^[a-z].{20,}[a-z]$/),
    });
  });

  it('says of itself what it does', () => {
    const funder = createLocalEd25519Funder({ seed: new Secret(first.seed) });
    expect(funder.capabilities).toEqual({
      deterministic: true,
      needsApprover: false,
      curves: ['ed25519'],
    });
    expect(funder.submit(good)).toEqual(funder.submit(good));
  });

  it('does not print its seed', () => {
    const funder = createLocalEd25519Funder({ seed: new Secret(first.seed) });
    const printed = `${inspect(funder, { depth: 9, showHidden: true })}${JSON.stringify(funder)}`;
    expect(printed).toContain('local-ed25519');
    expect(printed).not.toContain(first.seed.slice(2));
  });

  it.each(['', '0x', 'zz-canary-zz', `0x${'42'.repeat(31)}`, '42'.repeat(32)])(
    'refuses a seed of another form, and the error does not repeat it (%#)',
    (value) => {
      const create = (): unknown => createLocalEd25519Funder({ seed: new Secret(value) });
      expect(create).toThrow(expect.objectContaining({ code: 'invalid_configuration' }));
      try {
        create();
      } catch (error) {
        expect(inspect(error)).not.toContain(value.slice(2) || 'no value');
      }
    },
  );
});
