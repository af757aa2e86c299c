// A discloser signs what it likes: each claim fails that the chain does not confirm (docs/disclosure.md).
import {
  computeAssetId,
  computeWalletAddress,
  createSignInMessage,
  type DisclosureContent,
  hexToBigint,
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
  zeroField,
} from '@pool/core';
import { Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import { computeSealedNotesHash } from '../note/note-slot.ts';
import { sealNote } from '../note/sealed-note.ts';
import {
  byFunder,
  byPayee,
  bySpender,
  contentOf,
  everything,
  facts,
  firstOf,
  nothingBecause,
  resign,
  stranger,
  summaries,
  verify,
} from './fixtures/disclosures.ts';

type Change = (content: DisclosureContent) => void;

const [, twin] = vectors.batch.manifest.recipients;
if (twin === undefined) {
  throw new Error('the vectors pay two people');
}

function first(content: DisclosureContent) {
  return firstOf(content).payment;
}

function second(content: DisclosureContent) {
  const payment = content.insertions[0]?.payments[1];
  if (payment === undefined) {
    throw new Error('the vector has two payments');
  }
  return payment;
}

function memoOf(content: DisclosureContent) {
  const { memo } = first(content);
  if (memo === undefined) {
    throw new Error('the vector has a memo');
  }
  return memo;
}

function sealedOf(content: DisclosureContent) {
  return firstOf(content).insertion.sealedNotes ?? [];
}

describe('a payer cannot show another payment than the one on chain', () => {
  it.each<[string, string, Change]>([
    ['amount', 'wrong-opening', (content) => (first(content).amount = '125001')],
    ['nonce', 'wrong-opening', (content) => (first(content).nonce = second(content).nonce)],
    ['payee', 'wrong-opening', (content) => (first(content).walletPub = second(content).walletPub)],
    [
      'encryption key',
      'wrong-opening',
      (content) => (first(content).encryptionPublicKey = second(content).encryptionPublicKey),
    ],
    ['token', 'wrong-opening', (content) => (content.token = content.pool)],
    [
      'commitment',
      'other-commitment',
      (content) => (first(content).commitment = parseHex32(`0x${'01'.repeat(32)}`)),
    ],
    [
      'slot',
      'other-commitment',
      (content) => (first(content).slot = (first(content).slot + 1) % 16),
    ],
    ['slot outside the event', 'other-commitment', (content) => (first(content).slot = 16)],
    ['index', 'not-on-chain', (content) => (firstOf(content).insertion.index = 6)],
    [
      'index of another event',
      'other-transaction',
      (content) => (firstOf(content).insertion.index = 8),
    ],
    [
      'transaction',
      'other-transaction',
      (content) => (firstOf(content).insertion.txHash = parseHex32(`0x${'01'.repeat(32)}`)),
    ],
    ['chain', 'foreign-chain', (content) => (content.chainId = 1)],
    ['pool', 'foreign-pool', (content) => (content.pool = content.token)],
  ])('%s', (_what, reason, change) => {
    const [changed] = summaries(verify(resign(byFunder, change)));
    expect(changed).toEqual(nothingBecause(reason));
  });

  it('a note of the same amount that another person received', () => {
    const moved = resign(byFunder, (content) => {
      const [own, other] = [first(content), second(content)];
      content.insertions[0]?.payments.splice(1);
      Object.assign(own, { slot: other.slot, commitment: other.commitment });
    });
    expect(summaries(verify(moved))).toEqual([nothingBecause('wrong-opening')]);
  });

  it('a payment to itself out of the change of a spend', () => {
    const change = resign(bySpender, (content) => {
      const [insertion] = content.insertions;
      if (insertion?.kind !== 'spend' || insertion.change === undefined) {
        throw new Error('the vector has a change');
      }
      const commitment = parseHex32(vectors.facts.insertions[1]?.commitments[0]);
      insertion.payments = [{ ...insertion.change, slot: 0, commitment }];
    });
    expect(summaries(verify(change, bySpender))).toEqual([nothingBecause('change')]);
  });
});

describe('a payer that is not the one on chain proves nothing', () => {
  it.each<[string, Change]>([
    [
      'no funder',
      (content) => {
        Reflect.deleteProperty(firstOf(content).insertion, 'funding');
      },
    ],
    [
      'another batch nonce',
      (content) => {
        const { insertion } = firstOf(content);
        if (insertion.kind === 'batch' && insertion.funding !== undefined) {
          insertion.funding.batchNonce = parseHex32(`0x${'01'.repeat(32)}`);
        }
      },
    ],
    [
      'another funder',
      (content) => {
        const { insertion } = firstOf(content);
        if (insertion.kind === 'batch' && insertion.funding !== undefined) {
          insertion.funding.funder = stranger.address;
        }
      },
    ],
  ])('%s', (_what, change) => {
    for (const payment of summaries(verify(resign(byFunder, change)))) {
      expect(payment).toEqual(nothingBecause('not-a-party'));
    }
  });

  it.each<[string, (change: { amount: string; walletPub: string }) => void]>([
    ['another change', (change) => (change.amount = '1')],
    ['another wallet', (change) => (change.walletPub = stranger.walletPub)],
  ])('a spend with %s', (_what, alter) => {
    const document = resign(bySpender, (content) => {
      const { insertion } = firstOf(content);
      if (insertion.kind === 'spend' && insertion.change !== undefined) {
        Reflect.apply(alter, undefined, [insertion.change]);
      }
    });
    expect(summaries(verify(document, bySpender))).toEqual([nothingBecause('not-a-party')]);
  });

  it('a payee that shows a wrong funder still proves what it received', () => {
    const document = resign(byPayee, (content) => {
      const { insertion } = firstOf(content);
      if (insertion.kind === 'batch' && insertion.funding !== undefined) {
        insertion.funding.funder = stranger.address;
      }
    });
    expect(summaries(verify(document, byPayee))[0]).toEqual({
      ...everything,
      payer: 'wrong-payer',
    });
  });
});

describe('a payee proves only its own notes', () => {
  it('not those of another wallet, whose opening it knows', () => {
    const document = resign(
      byFunder,
      (content) => {
        content.role = 'payee';
        content.discloser = computeWalletAddress(parseHex(twin.walletPub));
      },
      vectors.batch.recipientKeys[1]?.privateKey,
    );
    expect(summaries(verify(document))).toEqual([
      nothingBecause('not-a-party'),
      // The second payment is its own. The memo's proof is the payer's.
      { ...everything, memo: 'wrong-memo' },
    ]);
  });
});

describe('a memo that the sealed note does not contain is not proved, and the rest is', () => {
  const unproved = { ...everything, memo: 'wrong-memo' };
  const mismatch = { ...everything, memo: 'sealed-notes-mismatch' };

  it.each<[string, Change]>([
    ['another text', (content) => (memoOf(content).text = 'bonus, person 0')],
    ['no text', (content) => (memoOf(content).text = null)],
    [
      'the secret of another note',
      (content) => (memoOf(content).secret = second(content).memo?.secret ?? '0x'),
    ],
    ['a scalar of 0', (content) => (memoOf(content).secret = `0x${'00'.repeat(32)}`)],
    ['a scalar above l', (content) => (memoOf(content).secret = `0x${'ff'.repeat(32)}`)],
    ['a secret of the other kind', (content) => (memoOf(content).proof = 'message-key')],
  ])('a payer with %s', (_what, change) => {
    expect(summaries(verify(resign(byFunder, change)))[0]).toEqual(unproved);
  });

  it.each<[string, Change]>([
    ['another text', (content) => (memoOf(content).text = 'bonus, person 0')],
    ['another key', (content) => (memoOf(content).secret = `0x${'01'.repeat(32)}`)],
    ['a secret of the other kind', (content) => (memoOf(content).proof = 'ephemeral-scalar')],
  ])('a payee with %s', (_what, change) => {
    expect(summaries(verify(resign(byPayee, change), byPayee))[0]).toEqual(unproved);
  });

  it('a payer does not prove it with the true message key: the payee must be able to read it', () => {
    const document = resign(byFunder, (content) => {
      const key = memoOf(contentOf(byPayee)).secret;
      Object.assign(memoOf(content), { proof: 'message-key', secret: key });
    });
    expect(summaries(verify(document))[0]).toEqual(unproved);
  });

  it.each<[string, Change]>([
    ['one is missing', (content) => sealedOf(content).pop()],
    ['one is added', (content) => sealedOf(content).push(`0x01${'00'.repeat(208)}`)],
    ['two are exchanged', (content) => sealedOf(content).reverse()],
    [
      'a byte of a dummy is changed',
      (content) => {
        const slot = [0, 1, 2, 3].find(
          (candidate) => candidate !== first(content).slot && candidate !== second(content).slot,
        );
        const sealed = sealedOf(content)[slot ?? 0] ?? '';
        sealedOf(content)[slot ?? 0] = parseHex(
          `${sealed.slice(0, -2)}${sealed.endsWith('00') ? '01' : '00'}`,
        );
      },
    ],
  ])('the sealed notes: %s', (_what, change) => {
    expect(summaries(verify(resign(byFunder, change)))[0]).toEqual(mismatch);
  });
});

describe('a payee whose key nobody confirmed is not proved', () => {
  it.each<[string, Change]>([
    [
      'no sign-in text',
      (content) => {
        Reflect.deleteProperty(first(content), 'evidence');
      },
    ],
    [
      'the sign-in text of another wallet',
      (content) => (first(content).evidence = twin.evidence as never),
    ],
    [
      'a text that lists another key',
      (content) => {
        const { evidence, encryptionPublicKey } = first(content);
        if (evidence !== undefined) {
          evidence.message = evidence.message.replace(
            encryptionPublicKey,
            second(content).encryptionPublicKey,
          );
        }
      },
    ],
  ])('%s', (_what, change) => {
    expect(summaries(verify(resign(byFunder, change)))[0]).toEqual({
      ...everything,
      payee: 'key-not-confirmed',
    });
  });
});

describe('a sealed note that says something else than the commitment', () => {
  const [fact] = facts.insertions;

  it.each([
    ['another amount', { amount: 125_001n, isNonce: true }],
    ['another nonce', { amount: 125_000n, isNonce: false }],
  ])('%s: its memo is not proved', (_what, { amount, isNonce }) => {
    const content = contentOf(byFunder);
    const { insertion, payment } = firstOf(content);
    const sealed = sealNote({
      amount,
      nonce: isNonce ? parseField(payment.nonce) : zeroField,
      memo: payment.memo?.text ?? undefined,
      encryptionPublicKey: payment.encryptionPublicKey,
      commitment: parseField(payment.commitment),
      assetId: computeAssetId(content.chainId, content.pool, content.token),
      ephemeral: hexToBigint(payment.memo?.secret ?? '0x'),
    });
    const sealedNotes = (insertion.sealedNotes ?? []).with(payment.slot, sealed);
    expect(sealedNotes).not.toEqual(insertion.sealedNotes);
    const resealed = resign(byFunder, (changed) => {
      firstOf(changed).insertion.sealedNotes = [...sealedNotes];
    });
    if (fact === undefined) {
      throw new Error('the vectors have a batch');
    }
    const sealedNotesHash = computeSealedNotesHash(sealedNotes);
    const known = { ...facts, insertions: [{ ...fact, sealedNotesHash }] };
    expect(summaries(verify(resealed, byFunder, known))).toEqual([
      { ...everything, memo: 'wrong-memo' },
      everything,
    ]);
  });
});

describe('a valid sign-in text that does not bind the payment’s key to its payee', () => {
  const { domain, uri } = vectors.facts.evidenceDomain;
  const [payee] = vectors.batch.recipientKeys;

  it.each([
    ['a text of another wallet that lists the key', stranger.privateKey, false],
    ['a text of the payee that lists another key', payee?.privateKey ?? '', true],
  ])('%s', async (_what, privateKey, listsOther) => {
    const { payment } = firstOf(contentOf(byFunder));
    const wallet = new Wallet(privateKey);
    const message = createSignInMessage({
      domain,
      address: parseEvmAddress(wallet.address),
      statement: 'Enrol this wallet.',
      uri,
      chainId: 31337,
      nonce: 'abcdefgh12345678',
      issuedAtMs: byFunder.nowMs,
      expirationTimeMs: byFunder.nowMs + 600_000,
      encryptionPublicKey: listsOther
        ? second(contentOf(byFunder)).encryptionPublicKey
        : payment.encryptionPublicKey,
    });
    const signature = parseHex(await wallet.signMessage(message));
    const document = resign(byFunder, (content) => {
      first(content).evidence = { message, signature };
    });
    expect(summaries(verify(document))[0]).toEqual({ ...everything, payee: 'key-not-confirmed' });
  });
});
