// The kind `disclosure` (docs/disclosure.md): signed as by the reference, by its own party only, and under no other kind.
import {
  computeDisclosureData,
  type DisclosureContent,
  disclosureSchema,
  type EvmAddress,
  parseEvmAddress,
  parseWire,
  Secret,
} from '@pool/core';
import {
  computeRequestExternalId,
  createSignRequest,
  type DisclosureRequest,
  type SignerAllow,
  type SignKind,
  type SignRequest,
} from '@pool/policy';
import { Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../vectors/disclosure.json' with { type: 'json' };
import { requests } from './fixtures/requests.ts';
import { createLocalKeyHolder } from './holder/local-key-holder.ts';
import { createLocalKeySigner } from './local-key.ts';

type Vector = (typeof vectors.disclosures)[number];

const [byFunder] = vectors.disclosures as [Vector];
const stranger = new Wallet(`0x${'43'.repeat(32)}`);

function contentOf({ document }: Vector): DisclosureContent {
  const { signature: _, ...content } = parseWire(disclosureSchema, document, 'vector');
  return content;
}

function requestOf(
  vector: Vector,
  content = contentOf(vector),
  expectedSigner: EvmAddress = content.discloser,
): DisclosureRequest {
  const unnamed = { kind: 'disclosure', payload: { content }, expectedSigner } as const;
  try {
    return createSignRequest(unnamed);
  } catch {
    return { ...unnamed, externalId: 'none' };
  }
}

async function submit(
  request: SignRequest,
  { privateKey, nowMs }: Pick<Vector, 'privateKey' | 'nowMs'> = byFunder,
  allow: SignerAllow = {},
) {
  const signer = createLocalKeySigner({
    privateKey: new Secret(privateKey),
    nowMs: () => nowMs,
    allow,
  });
  return await signer.submit(request);
}

describe('a disclosure', () => {
  it.each(vectors.disclosures)('$name: is signed as by the reference', async (vector) => {
    expect(await submit(requestOf(vector), vector)).toMatchObject({
      state: 'signed',
      signature: vector.document.signature,
    });
    const { domain, types, message } = computeDisclosureData(contentOf(vector));
    const theirs = await new Wallet(vector.privateKey).signTypedData(domain, types, message);
    expect(theirs).toBe(vector.document.signature);
  });

  it('is signed by a holder’s signer', async () => {
    for (const vector of vectors.disclosures.slice(1)) {
      const holder = createLocalKeyHolder({
        privateKey: new Secret(vector.privateKey),
        nowMs: () => vector.nowMs,
      });
      expect(await holder.signDisclosure(contentOf(vector))).toBe(vector.document.signature);
      await expect(holder.signDisclosure(contentOf(byFunder))).rejects.toMatchObject({
        code: 'signer_refused',
      });
    }
  });

  it('is refused for another signer', async () => {
    const other = { ...byFunder, privateKey: stranger.privateKey };
    expect(await submit(requestOf(byFunder), other)).toMatchObject({ reason: 'foreign-signer' });
    const address = parseEvmAddress(stranger.address);
    const request = requestOf(byFunder, contentOf(byFunder), address);
    expect(await submit(request, other)).toMatchObject({ reason: 'foreign-signer' });
  });

  it.each<[string, (content: DisclosureContent) => void]>([
    ['a discloser who is not the payer', (content) => (content.discloser = content.pool)],
    ['the role of a payee', (content) => (content.role = 'payee')],
    ['no payment', (content) => (content.insertions = [])],
    ['another token', (content) => (content.token = content.pool)],
    ['an unknown field', (content) => Object.assign(content, { note: 'x' })],
    ['a signature', (content) => Object.assign(content, { signature: `0x${'00'.repeat(65)}` })],
    ['version 2', (content) => Object.assign(content, { version: 2 })],
  ])('is refused with %s', async (_what, change) => {
    const content = structuredClone(contentOf(byFunder));
    change(content);
    const signer = parseEvmAddress(new Wallet(byFunder.privateKey).address);
    expect(await submit(requestOf(byFunder, content, signer))).toMatchObject({
      reason: 'malformed-payload',
    });
  });

  it('is refused before its date and after it has expired', async () => {
    const { issuedAt, expiresAt } = byFunder.document;
    for (const nowMs of [1000 * (issuedAt - 301), 1000 * expiresAt + 1]) {
      expect(await submit(requestOf(byFunder), { ...byFunder, nowMs })).toMatchObject({
        reason: 'stale-disclosure',
        message: expect.stringContaining('make it again'),
      });
    }
  });

  it('is refused for a pool or token that is not listed, and if the kind is not', async () => {
    const { chainId, pool, token } = contentOf(byFunder);
    const listed = (pools: SignerAllow['pools']): SignerAllow => ({ ...(pools && { pools }) });
    const request = requestOf(byFunder);
    for (const [allow, reason] of [
      [listed([]), 'pool-not-listed'],
      [listed([{ chainId: 1, pool, tokens: [token] }]), 'pool-not-listed'],
      [listed([{ chainId, pool, tokens: [] }]), 'token-not-listed'],
      [{ kinds: ['fund-authorization', 'spend', 'sign-in'] }, 'kind-not-allowed'],
    ] as const) {
      expect(await submit(request, byFunder, allow)).toMatchObject({ reason });
    }
    const allow = listed([{ chainId, pool, tokens: [token] }]);
    expect(await submit(request, byFunder, allow)).toMatchObject({ state: 'signed' });
  });

  it('is refused under every other kind, and its kind signs nothing else', async () => {
    const { disclosure: _, ...others } = requests;
    const kinds = Object.values(others).map(({ kind }) => kind);
    const { payload, expectedSigner } = requestOf(byFunder);
    for (const kind of kinds satisfies SignKind[]) {
      const disguised = { kind, payload, expectedSigner, externalId: 'none' };
      // `viewing-key` has a fixed text: the rest of the payload is ignored.
      const outcome = Reflect.apply(submit, undefined, [disguised]);
      await expect(outcome).resolves.toMatchObject({ state: 'refused' });
    }
    for (const { payload: foreign } of Object.values(others)) {
      const disguised = { kind: 'disclosure', payload: foreign, expectedSigner, externalId: 'x' };
      const outcome = Reflect.apply(submit, undefined, [disguised]);
      await expect(outcome).resolves.toMatchObject({
        state: 'refused',
        reason: 'malformed-payload',
      });
    }
  });

  it('has an id that differs for each content', () => {
    const ids = vectors.disclosures.map((vector) => computeRequestExternalId(requestOf(vector)));
    expect(new Set(ids).size).toBe(ids.length);
    const request = { ...requestOf(byFunder), externalId: ids[1] ?? '' };
    return expect(submit(request)).resolves.toMatchObject({ reason: 'external-id-mismatch' });
  });
});
