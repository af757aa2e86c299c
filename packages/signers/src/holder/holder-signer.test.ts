// The signers of a holder, against ethers and node:crypto, and the keys that derive from them (protocol §2).
import { createPrivateKey, sign } from 'node:crypto';
import { inspect } from 'node:util';
import {
  bigintToHex32,
  chainFamilies,
  disclosureSchema,
  hexToBigint,
  hexToBytes,
  parseEncryptionPublicKey,
  parseEvmAddress,
  parseField,
  parseHex32,
  parseWire,
  recoverWalletPub,
  Secret,
  spendCircuits,
} from '@pool/core';
import {
  computeMaskedSigner,
  type SpendOperation,
  verifyMaskedSigner,
  viewingKeyMessage,
} from '@pool/notes';
import { Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import disclosures from '../../../../vectors/disclosure.json' with { type: 'json' };
import signInVectors from '../../../../vectors/ed25519-sign-in.json' with { type: 'json' };
import encryptionVectors from '../../../../vectors/encryption-key.json' with { type: 'json' };
import spends from '../../../../vectors/spend.json' with { type: 'json' };
import vectors from '../../../../vectors/viewing-key.json' with { type: 'json' };
import {
  funder,
  listKey,
  secretKey,
  signInAtMs,
  signInExpected,
  signInText,
  spendOperation,
  wallet,
} from '../fixtures/requests.ts';
import { computeHolderEncryptionKey, deriveHolderViewingKey } from './holder-keys.ts';
import type { HolderSigner } from './holder-signer.ts';
import { createLocalEd25519Holder } from './local-ed25519-holder.ts';
import { createLocalKeyHolder } from './local-key-holder.ts';

const holder = createLocalKeyHolder({ privateKey: secretKey, nowMs: () => signInAtMs });
const own = parseEncryptionPublicKey(`0x${'a1'.repeat(32)}`);
const foreign = parseEncryptionPublicKey(`0x${'a2'.repeat(32)}`);

function ed25519Of(seed: string): HolderSigner {
  return createLocalEd25519Holder({ privateKey: new Secret(seed) });
}

describe('local-key as the signer of a holder', () => {
  it('has the wallet key W of its private key', async () => {
    expect(holder).toMatchObject({ name: 'local-key', curve: 'secp256k1', deterministic: true });
    expect(await holder.walletPub()).toBe(wallet.signingKey.compressedPublicKey);
    expect(chainFamilies.evm.formatAddress(await holder.walletPub())).toBe(funder);
  });

  it('signs a sign-in text that lists no key, or the holder’s own', async () => {
    const plain = await holder.signIn({ message: signInText, expected: signInExpected });
    expect(plain).toBe(await wallet.signMessage(signInText));
    const listed = { message: listKey(own), expected: signInExpected, encryptionPublicKey: own };
    expect(recoverWalletPub(listKey(own), await holder.signIn(listed))).toBe(
      await holder.walletPub(),
    );
  });

  it.each([
    ['a foreign key', listKey(foreign), own],
    ['a key although the holder’s own was not given', listKey(own), undefined],
    ['another domain', signInText.replace('pool.example wants', 'evil.example wants'), undefined],
    ['the viewing-key text', viewingKeyMessage('pool.example'), undefined],
    ['no sign-in', 'send everything', undefined],
  ])('refuses a sign-in text with %s', async (_, message, encryptionPublicKey) => {
    const request = { message, expected: signInExpected };
    await expect(
      holder.signIn(
        encryptionPublicKey === undefined ? request : { ...request, encryptionPublicKey },
      ),
    ).rejects.toMatchObject({ code: 'signer_refused' });
  });

  it.each(vectors.derived)(
    'derives the viewing key $viewingKey [identity.derives]',
    async (vector) => {
      const signer = createLocalKeyHolder({ privateKey: new Secret(vector.privateKey) });
      const signature = await signer.signViewingKeyText(vector.domain);
      expect(signature.reveal()).toEqual(hexToBytes(vector.signature));
      const viewingKey = await deriveHolderViewingKey(signer, vector.domain);
      expect(bigintToHex32(viewingKey.reveal())).toBe(vector.viewingKey);
    },
  );

  it('gives each platform another viewing key', async () => {
    const [left, right] = await Promise.all(
      ['pool.example', 'other.example'].map((domain) => deriveHolderViewingKey(holder, domain)),
    );
    expect(left?.reveal()).not.toBe(right?.reveal());
  });
});

describe('a spend', () => {
  const parsed = spends.spends.map((vector) => {
    const { operation, ...rest } = vector;
    const isTransfer = operation.withdrawAmount === '0';
    return {
      ...rest,
      operation: {
        circuit: spendCircuits.find((circuit) => circuit === vector.circuit) ?? 'spend-2x4',
        assetId: parseField(operation.assetId),
        withdrawAmount: BigInt(operation.withdrawAmount),
        recipient: isTransfer ? undefined : parseEvmAddress(operation.recipient),
        deadline: operation.deadline,
        sealedNotesHash: parseHex32(operation.sealedNotesHash),
        outRoot: parseField(operation.outRoot),
        nullifiers: operation.nullifiers.map(parseField),
      } satisfies SpendOperation,
    };
  });

  it.each(parsed)(
    '"$name" is signed as by ethers, over the digest that the signer computes',
    async (vector) => {
      const signer = createLocalKeyHolder({ privateKey: new Secret(vector.privateKey) });
      const signature = await signer.signSpend(vector.operation, hexToBytes(vector.salt));
      expect(signature).toEqual({
        rSig: hexToBigint(vector.signature.rSig),
        s: hexToBigint(vector.signature.s),
        parity: vector.signature.parity,
      });
      // The contract accepts it under the masked key.
      const masked = computeMaskedSigner({
        walletPub: await signer.walletPub(),
        digest: parseField(vector.digest),
        blinding: hexToBigint(vector.blinding),
        rSig: signature.rSig,
      });
      expect(verifyMaskedSigner(masked, signature)).toBe(true);
      const other = await signer.signSpend(
        { ...vector.operation, deadline: vector.operation.deadline + 1 },
        hexToBytes(vector.salt),
      );
      expect(verifyMaskedSigner(masked, other)).toBe(false);
    },
  );

  it.each([
    ['a salt of zeros', new Uint8Array(31)],
    ['a salt of 32 bytes', new Uint8Array(32).fill(1)],
    ['no salt', new Uint8Array(0)],
  ])('is not signed with %s', async (_, salt) => {
    await expect(holder.signSpend(spendOperation, salt)).rejects.toMatchObject({
      code: expect.stringMatching(/^(signer_refused|invalid_value)$/),
    });
  });
});

describe('local-ed25519', () => {
  it.each(vectors.derivedEd25519)(
    'derives W and $viewingKey as node:crypto does',
    async (vector) => {
      const signer = ed25519Of(vector.seed);
      expect(signer).toMatchObject({
        name: 'local-ed25519',
        curve: 'ed25519',
        deterministic: true,
      });
      expect(await signer.walletPub()).toBe(vector.walletPub);
      const der = Buffer.from(`302e020100300506032b657004220420${vector.seed.slice(2)}`, 'hex');
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      const theirs = sign(null, Buffer.from(viewingKeyMessage(vector.domain)), key);
      const ours = await signer.signViewingKeyText(vector.domain);
      expect(Buffer.from(ours.reveal()).equals(theirs)).toBe(true);
      const viewingKey = await deriveHolderViewingKey(signer, vector.domain);
      expect(bigintToHex32(viewingKey.reveal())).toBe(vector.viewingKey);
    },
  );

  it('has a W that is an address on Solana and Stellar', async () => {
    // RFC 8032, section 7.1, test 1.
    const signer = ed25519Of('0x9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
    const walletPub = await signer.walletPub();
    expect(walletPub).toBe('0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
    expect(chainFamilies.solana.formatAddress(walletPub)).toBe(
      'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z',
    );
  });

  it('refuses to spend, and says why', async () => {
    const signer = ed25519Of(`0x${'42'.repeat(32)}`);
    await expect(
      signer.signSpend(spendOperation, new Uint8Array(31).fill(1)),
    ).rejects.toMatchObject({
      code: 'holder_unsupported',
      message: expect.stringContaining('no pool on Solana or Stellar'),
    });
  });

  it('refuses to disclose, and says why', async () => {
    const { signature: _, ...content } = parseWire(
      disclosureSchema,
      disclosures.disclosures[2]?.document,
      'vector',
    );
    await expect(ed25519Of(`0x${'42'.repeat(32)}`).signDisclosure(content)).rejects.toMatchObject({
      code: 'holder_unsupported',
      message: expect.stringContaining('no pool on Solana or Stellar'),
    });
  });

  const place = { domain: 'pool.example', uri: 'https://pool.example' };

  it.each(signInVectors.texts)(
    'signs the sign-in text of $fields.family as its official library does',
    async ({ seed, fields, message, signature }) => {
      const listed =
        fields.encryptionPublicKey === undefined
          ? {}
          : { encryptionPublicKey: parseEncryptionPublicKey(fields.encryptionPublicKey) };
      const signer = ed25519Of(seed);
      expect(await signer.signIn({ message, expected: place, ...listed })).toBe(signature);
    },
  );

  const [text] = signInVectors.texts;
  const listed = {
    encryptionPublicKey: parseEncryptionPublicKey(text?.fields.encryptionPublicKey),
  };
  it.each([
    ['another wallet', `0x${'42'.repeat(32)}`, place, listed],
    ['another platform', text?.seed ?? '', { ...place, domain: 'other.example' }, listed],
    ['another URI', text?.seed ?? '', { ...place, uri: 'https://other.example' }, listed],
    ['a foreign P', text?.seed ?? '', place, {}],
  ])('signs no sign-in text of %s', async (_case, seed, expected, own) => {
    const message = text?.message ?? '';
    await expect(ed25519Of(seed).signIn({ message, expected, ...own })).rejects.toMatchObject({
      code: 'signer_refused',
    });
  });

  it('signs no text of another kind at a sign-in', async () => {
    const signer = ed25519Of(`0x${'42'.repeat(32)}`);
    for (const message of [signInText, viewingKeyMessage('pool.example')]) {
      await expect(signer.signIn({ message, expected: place })).rejects.toMatchObject({
        code: 'invalid_sign_in',
      });
    }
  });
});

describe('the keys of a holder', () => {
  it.each(encryptionVectors.keys)(
    'one scalar gives $encryptionPublicKey and $x25519PublicKey',
    (vector) => {
      const viewingKey = new Secret(hexToBigint(vector.viewingKey));
      expect(computeHolderEncryptionKey('secp256k1', viewingKey)).toBe(vector.encryptionPublicKey);
      expect(computeHolderEncryptionKey('ed25519', viewingKey)).toBe(vector.x25519PublicKey);
    },
  );

  it('derives no viewing key from a signer that says it does not repeat its signatures [viewing-key.never-made-by-agent]', async () => {
    let asked = 0;
    const signer: HolderSigner = {
      ...holder,
      deterministic: false,
      async signViewingKeyText(domain) {
        asked += 1;
        return await holder.signViewingKeyText(domain);
      },
    };
    await expect(deriveHolderViewingKey(signer, 'pool.example')).rejects.toMatchObject({
      code: 'viewing_key_required',
      message: expect.stringContaining('DISBURSE_HOLDER_VIEWING_KEY'),
    });
    expect(asked).toBe(0);
  });

  it('derives no viewing key from a signer whose two signatures differ, whatever it says [viewing-key.never-made-by-agent]', async () => {
    const signer: HolderSigner = {
      ...holder,
      signViewingKeyText: async () => new Secret(crypto.getRandomValues(new Uint8Array(64))),
    };
    await expect(deriveHolderViewingKey(signer, 'pool.example')).rejects.toMatchObject({
      code: 'viewing_key_required',
    });
  });

  it('has no method that signs a digest', () => {
    for (const signer of [holder, ed25519Of(`0x${'42'.repeat(32)}`)]) {
      expect(Object.keys(signer).sort()).toEqual([
        'curve',
        'deterministic',
        'name',
        'signDisclosure',
        'signIn',
        'signSpend',
        'signViewingKeyText',
        'walletPub',
      ]);
    }
  });
});

describe('the private key of a holder', () => {
  it('appears in no printed form of a signer or of its signature', async () => {
    const seed = `0x${'4d'.repeat(32)}`;
    const signer = ed25519Of(seed);
    const signature = await signer.signViewingKeyText('pool.example');
    for (const value of [signer, signature, holder]) {
      const printed = inspect(value, { depth: 9, showHidden: true }) + JSON.stringify(value);
      expect(printed).not.toMatch(/4d4d4d|424242/);
    }
    expect(`${signature}`).toBe('[redacted]');
  });

  it.each(['', '0x', '42'.repeat(32), `0x${'42'.repeat(31)}`, `0x${'ZZ'.repeat(32)}`])(
    'is refused if malformed, and the error does not repeat it (%#)',
    (value) => {
      const options = { privateKey: new Secret(value) };
      for (const create of [createLocalKeyHolder, createLocalEd25519Holder]) {
        expect(() => create(options)).toThrow(
          expect.objectContaining({ code: 'invalid_configuration' }),
        );
        expect(() => create(options)).not.toThrow(/4242|ZZ/);
      }
    },
  );

  it('differs from wallet to wallet', async () => {
    const other = createLocalKeyHolder({
      privateKey: new Secret(Wallet.createRandom().privateKey),
    });
    expect(await other.walletPub()).not.toBe(await holder.walletPub());
  });
});
