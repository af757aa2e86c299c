// A payslip with its proof, in a browser: what the chosen notes show, and that no choice shows everything.
import { parseEvmAddress, parseHex32, Secret } from '@pool/core';
import { verifyDisclosure } from '@pool/notes';
import { createLocalKeyHolder } from '@pool/signers';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import { createFacts } from '../evm/pool-events.ts';
import { disclosePayslips, type PayslipDisclosure } from './disclose.ts';

const payee = vectors.disclosures[2];
const insertions = payee?.document.insertions ?? [];
const nowMs = Date.UTC(2026, 10, 28);

async function disclose(changes: Partial<PayslipDisclosure>) {
  let open = 0;
  const signer = createLocalKeyHolder({ privateKey: new Secret(payee?.privateKey ?? '') });
  const sealedOf = (place: number, slot: number): string =>
    (insertions[place] as { sealedNotes?: string[] } | undefined)?.sealedNotes?.[slot] ?? '';
  const leaves = vectors.facts.insertions.map((fact, place) => ({
    ...fact,
    kind: place === 0 ? 'fund' : 'spend',
    leafIndex: fact.index,
    sealedNotes: [0, 1, 2, 3].map((slot) => sealedOf(place, slot)),
  }));
  const entries = insertions.flatMap(({ payments, txHash, index }) =>
    payments.map(({ slot, amount, commitment }) => ({
      ...{ kind: 'received', id: `${index}.${slot}`, time: '2026-11-20T00:00:00Z', index },
      ...{ txHash, slot, amount, commitment, balance: '0', isChange: false },
    })),
  );
  const { chainId, pool } = vectors.facts;
  const settings = { chainId, pool, tokens: { USDC: { address: vectors.batch.manifest.token } } };
  try {
    return await disclosePayslips(
      { token: 'USDC', commitments: [], purpose: 'a loan', days: 30, withMemos: true, ...changes },
      {
        holder: {
          walletPub: await signer.walletPub(),
          address: payee?.document.discloser ?? '',
          viewingKey: new Secret(BigInt(vectors.batch.recipientKeys[0]?.viewingKey ?? 0)),
          signer,
        },
        chain: { key: 'anvil', settings: settings as never },
        history: { read: async () => ({ entries, more: false }) as never },
        createRecords: () => {
          open += 1;
          return {
            fetchTransactionLeaves: async (txHash) =>
              leaves.filter((leaf) => leaf.txHash === txHash) as never,
            close: () => {
              open -= 1;
            },
          };
        },
        deliveries: {
          fetchPage: async () => ({
            notes: (insertions[0]?.payments ?? []).map(({ slot, commitment }) => ({
              ...{ commitment: parseHex32(commitment), sealed: sealedOf(0, slot) },
              ...{ batchIndex: insertions[0]?.index ?? 0, slot },
            })),
          }),
        },
        nowMs: () => nowMs,
      },
    );
  } finally {
    expect(open).toBe(0);
  }
}

describe('a payslip with its proof', () => {
  it('proves the chosen note and its text, and shows no other', async () => {
    const chosen = insertions[1]?.payments[0]?.commitment ?? '';
    const document = await disclose({ commitments: [chosen] });
    const { chainId, pool, insertions: events } = vectors.facts;
    const facts = createFacts({
      ...{ format: 'pool-events', version: 1, chainId, pool: parseEvmAddress(pool) },
      events: events.map((event) => ({ ...event, blockNumber: 4 })) as never,
    });
    const { discloser, payments } = verifyDisclosure(document, facts, { nowMs });
    expect(discloser).toMatchObject({ state: 'proved', role: 'payee', purpose: 'a loan' });
    expect(payments).toMatchObject([
      {
        ...{ exists: { state: 'proved', commitment: chosen }, amount: { state: 'proved' } },
        ...{ memo: { state: 'proved' }, payer: { reason: 'not-disclosed' } },
      },
    ]);
    const text = JSON.stringify(document);
    expect(text).not.toContain(insertions[0]?.payments[0]?.commitment);
    expect(text).not.toContain(vectors.batch.recipientKeys[0]?.viewingKey.slice(2));
  });

  it('is refused without a chosen note, for an unknown token, and for a note of somebody else', async () => {
    await expect(disclose({})).rejects.toMatchObject({ code: 'invalid_request' });
    const commitments = [`0x${'11'.repeat(32)}`];
    const other = disclose({ token: 'EURC', commitments });
    await expect(other).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(disclose({ commitments })).rejects.toMatchObject({ code: 'not_found' });
  });
});
