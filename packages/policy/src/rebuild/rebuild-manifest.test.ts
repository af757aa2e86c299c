// Batches and spends rebuilt from the shared vectors, and what each change of a payee's keys or evidence does.
import { readFileSync } from 'node:fs';
import {
  type EvidenceDomain,
  type FundFile,
  fieldToHex,
  fundManifestSchema,
  parseHex32,
  parseWire,
  type SpendFile,
  spendManifestSchema,
} from '@pool/core';
import { describe, expect, it } from 'vitest';
import { parsePayRunLabel, type Rebuild, rebuildManifest } from './rebuild-manifest.ts';

type BatchVector = Record<string, unknown> & { readonly total: string };
type SpendVector = Record<string, unknown> & {
  readonly name: string;
  readonly dummies: readonly { nullifier: string }[];
};

function readVectors<T>(name: string): T {
  return JSON.parse(
    readFileSync(new URL(`../../../../vectors/${name}`, import.meta.url), 'utf8'),
  ) as T;
}

const [batch] = readVectors<{ batches: BatchVector[] }>('fund-batch.json').batches;
const { spends } = readVectors<{ spends: SpendVector[] }>('spend.json');
const domain: EvidenceDomain = { domain: 'pool.example', uri: 'https://pool.example' };

const fundFile: FundFile = {
  version: 1,
  manifest: parseWire(fundManifestSchema, batch?.['manifest'], 'vector'),
  seed: parseHex32(batch?.['seed']),
  deadline: 1_900_000_000,
};

/** The batch with another first recipient. */
function changeRecipient(change: Partial<FundFile['manifest']['recipients'][number]>): FundFile {
  const [first, ...others] = fundFile.manifest.recipients;
  if (first === undefined) {
    throw new TypeError('the vector has no recipient');
  }
  const recipients = [{ ...first, ...change }, ...others];
  return { ...fundFile, manifest: { ...fundFile.manifest, recipients } };
}

const second = fundFile.manifest.recipients[1];

describe('a batch', () => {
  it('is rebuilt to what independent implementations computed', () => {
    const rebuilt = rebuildManifest(fundFile, domain);
    if (rebuilt.kind !== 'rebuilt' || rebuilt.manifest.kind !== 'fund') {
      throw new TypeError('the batch was not rebuilt');
    }
    const { manifest } = rebuilt;
    expect({
      manifestDigest: manifest.manifestDigest,
      total: String(manifest.total),
      batchNonce: fieldToHex(manifest.batchNonce),
      batchId: fieldToHex(manifest.batchId),
      batchRoot: fieldToHex(manifest.authorization.batchRoot),
      sealedNotesHash: manifest.authorization.sealedNotesHash,
    }).toEqual({
      manifestDigest: batch?.['manifestDigest'],
      total: batch?.total,
      batchNonce: batch?.['batchNonce'],
      batchId: batch?.['batchId'],
      batchRoot: batch?.['batchRoot'],
      sealedNotesHash: batch?.['sealedNotesHash'],
    });
    expect(manifest.authorization.deadline).toBe(1_900_000_000n);
    expect(manifest.payees.map(({ amount }) => String(amount))).toEqual(
      fundFile.manifest.recipients.map(({ amount }) => amount),
    );
  });

  it.each([
    [
      'the right W with another P',
      changeRecipient({ encryptionPublicKey: second?.encryptionPublicKey ?? ('' as never) }),
      /not the one that the wallet signed for/,
    ],
    [
      'another W',
      changeRecipient({ walletPub: second?.walletPub ?? '0x' }),
      /not the one that signed/,
    ],
    [
      'another address',
      changeRecipient({ address: second?.address ?? '' }),
      /belongs to another address/,
    ],
    [
      'the evidence of another wallet',
      changeRecipient({ evidence: second?.evidence ?? ({} as never) }),
      /not the one that signed/,
    ],
    [
      'a changed text',
      changeRecipient({
        evidence: {
          message:
            fundFile.manifest.recipients[0]?.evidence.message.replace('Nonce: ', 'Nonce: x') ?? '',
          signature: fundFile.manifest.recipients[0]?.evidence.signature ?? '0x',
        },
      }),
      /evidence refused/,
    ],
  ])('is refused with %s', (_title, file, message) => {
    expect(rebuildManifest(file, domain)).toMatchObject({
      kind: 'refused',
      reason: 'evidence-invalid',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    { ...domain, domain: 'other.example' },
    { ...domain, uri: 'https://pool.example/' },
  ])('is refused with evidence for another platform: %o', (expected) => {
    expect(rebuildManifest(fundFile, expected)).toMatchObject({ reason: 'evidence-invalid' });
  });

  it.each([
    [
      'a recipient twice',
      {
        ...fundFile,
        manifest: {
          ...fundFile.manifest,
          recipients: [...fundFile.manifest.recipients, ...fundFile.manifest.recipients],
        },
      },
    ],
    ['an unknown field', { ...fundFile, manifest: { ...fundFile.manifest, note: 'x' } }],
    ['an amount of zero', changeRecipient({ amount: '0' })],
  ])('is refused with %s', (_title, file) => {
    expect(rebuildManifest(file as never, domain)).toMatchObject({ reason: 'manifest-invalid' });
  });
});

describe('a spend', () => {
  it('is rebuilt to what independent implementations computed', () => {
    const vector = spends.find(
      ({ manifest }) => (manifest as { circuit: string }).circuit === 'spend-2x4',
    );
    const file = {
      version: 1,
      manifest: parseWire(spendManifestSchema, vector?.['manifest'], 'vector'),
      seed: parseHex32(vector?.['seed']),
      dummyNullifiers: vector?.dummies.map(({ nullifier }) => parseHex32(nullifier)) ?? [],
    } satisfies SpendFile;
    const rebuilt: Rebuild = rebuildManifest(file, domain);
    expect(rebuilt).toMatchObject({
      kind: 'rebuilt',
      manifest: {
        kind: 'spend',
        manifestDigest: vector?.['manifestDigest'],
        digest: vector?.['digest'],
      },
    });
  });
});

describe('the label of a job key', () => {
  it.each([
    ['2026-11-0123456789abcdef0123456789abcdef', '2026-11'],
    ['2026-11-2of3-0123456789abcdef0123456789abcdef', '2026-11'],
    ['free text', undefined],
    ['-0123456789abcdef0123456789abcdef', undefined],
    ['2026-11-0123456789ABCDEF0123456789abcdef', undefined],
  ])('of %s is %s', (key, label) => {
    expect(parsePayRunLabel(key)).toBe(label);
  });
});
