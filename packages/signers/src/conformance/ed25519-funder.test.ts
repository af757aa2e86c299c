// What the suite asks of a signer, where it applies to the funder's ed25519 key. The libraries of both chains verify its signatures in
// ed25519-funder.test.ts.
import { parseField, parseHex32, Secret } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/ed25519-funding.json' with { type: 'json' };
import { createLocalEd25519Funder } from '../ed25519-funder/ed25519-funder.ts';
import { expectNoSecret } from '../fixtures/conformance/signer-bench.ts';
import { createWitness, spellKey } from '../fixtures/conformance/witness.ts';

const witness = createWitness();

function open([vector, other] = vectors.authorizations) {
  if (vector === undefined || other === undefined) {
    throw new Error('the vectors have no authorisations');
  }
  const { authorization, place } = vector;
  const request = {
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
  } as const;
  return {
    vector,
    request,
    stranger: parseHex32(other.authorization.funder),
    create: () => witness.note(createLocalEd25519Funder({ seed: new Secret(vector.seed) })),
  };
}

describe('the signer local-ed25519 of a funder', () => {
  it('has the configured address, and says of itself what is true', () => {
    const { vector, create } = open();
    const funder = create();
    expect(funder.publicKey()).toBe(vector.authorization.funder);
    expect(funder.address(vector.family as 'solana' | 'stellar')).toBe(vector.address);
    expect(funder.capabilities).toEqual({
      deterministic: true,
      needsApprover: false,
      curves: ['ed25519'],
    });
  });

  it('repeats its signature exactly if it says so', () => {
    const { create, request } = open();
    const outcomes = [create(), create()].map((funder) => witness.note(funder.submit(request)));
    expect(outcomes[0]).toMatchObject({ state: 'signed' });
    expect(outcomes[0]).toEqual(outcomes[1]);
  });

  it('refuses a request for the signature of another wallet', () => {
    const { create, request, stranger } = open();
    const outcome = witness.note(create().submit({ ...request, expectedSigner: stranger }));
    expect(outcome).toMatchObject({ state: 'refused', reason: 'foreign-signer' });
  });

  it('shows no secret in any output or error', async () => {
    const { vector } = open();
    const short = vector.seed.slice(0, -2);
    await witness.caught((async () => createLocalEd25519Funder({ seed: new Secret(short) }))());
    expectNoSecret(witness, [...spellKey(vector.seed), short.slice(2)]);
  });
});
