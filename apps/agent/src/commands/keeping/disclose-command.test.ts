// `disburse-agent disclose`: made from kept openings, after the erasure, and verified by the chain and by a file alone.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  fieldToHex,
  fundManifestSchema,
  hexToBytes,
  parseField,
  parseHex32,
  parseWire,
  Secret,
  spendManifestSchema,
} from '@pool/core';
import { buildSpend } from '@pool/notes';
import { createLocalKeyHolder } from '@pool/signers';
import { type ArchivedSpend, type KeptOpenings, openBatch, openSpend } from '@pool/wallet';
import type { EvmRecords } from '@pool/wallet/evm';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  computeOpeningsLimit,
  openOpeningsStore,
} from '../../../../../packages/wallet/src/node/store/openings-store.ts';
import vectors from '../../../../../vectors/disclosure.json' with { type: 'json' };
import { type DiscloseOptions, discloseAsPayee, runDisclosePayer } from './disclose-command.ts';
import { runVerify } from './disclose-verify.ts';

const [funder, spender] = vectors.disclosures;
const [batchFact, spendFact] = vectors.facts.insertions;
if (!funder || !spender || !batchFact || !spendFact) {
  throw new Error('the vectors have two payers');
}
const paidAtMs = Date.UTC(2026, 10, 20);
/** Seconds. Both payments landed in the year after the agent had begun them. */
const landedAt = Date.UTC(2027, 0, 1) / 1_000;
let batch: KeptOpenings;
let spend: KeptOpenings;

beforeAll(async () => {
  const manifest = parseWire(fundManifestSchema, vectors.batch.manifest, 'vector');
  const seed = parseHex32(vectors.batch.seed);
  const txHash = parseHex32(batchFact.txHash);
  batch = await openBatch(
    { manifest, seed, jobKey: 'may-1', txHash, paidAtMs },
    async () => undefined,
  );
  const spent = parseWire(spendManifestSchema, vectors.spend.manifest, 'vector');
  const plan = buildSpend(
    spent,
    hexToBytes(vectors.spend.seed),
    vectors.spend.dummyNullifiers.map(parseField),
  );
  spend = openSpend({
    outRoot: fieldToHex(plan.operation.outRoot),
    createdAtMs: paidAtMs,
    secrets: { manifest: spent, seed: parseHex32(vectors.spend.seed) },
    state: { kind: 'settled', txHash: parseHex32(spendFact.txHash), blockNumber: 5 },
  } as unknown as ArchivedSpend) as KeptOpenings;
});

/** @param sealedNotes - in the event of the spend */
function createRecordsWith(sealedNotes: readonly string[]): EvmRecords {
  const leaves = vectors.facts.insertions.map((fact, place) => ({
    ...fact,
    kind: place === 0 ? 'fund' : 'spend',
    leafIndex: fact.index,
    batchRoot: place === 0 ? batch.root : spend.root,
    blockNumber: 4,
    sealedNotes,
  }));
  return {
    fetchFinalBlock: async () => 9,
    fetchBlockTime: async (block) => (block === 4 ? landedAt : 0),
    fetchSpendCalldata: async () => undefined,
    fetchFunder: async () => undefined,
    fetchGasCost: async () => undefined,
    fetchTransactionLeaves: async (txHash) =>
      leaves.filter((leaf) => leaf.txHash === txHash) as never,
    fetchLeaves: async () => leaves as never,
    fetchTokenUnit: async () => ({ symbol: 'USDC', decimals: 6 }),
    close: () => undefined,
  };
}

function createFakeRecords(): EvmRecords {
  return createRecordsWith([]);
}

async function start(openings: readonly KeptOpenings[]) {
  const home = mkdtempSync(join(tmpdir(), 'pool-disclose-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const store = openOpeningsStore(home);
  for (const one of openings) {
    await store.keep(one);
  }
  store.close();
  const { chainId, pool, evidenceDomain: evidence } = vectors.facts;
  const token = { address: vectors.batch.manifest.token, decimals: 6 };
  const anvil = {
    ...{ family: 'evm', chainId, rpcUrl: 'http://127.0.0.1:9', pool, registry: pool },
    ...{ deployedAtBlock: 0, finality: { kind: 'finalized-tag' }, maxRecipients: 64 },
    tokens: { USDC: token },
  };
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { anvil } }));
  const envFile = join(home, 'agent.env');
  const lines = [
    `DISBURSE_HOME=${home}`,
    'DISBURSE_PLATFORM_URL=https://pool.example/agent-edge',
    'DISBURSE_PLATFORM_TOKEN=pool_edge_canary',
    `DISBURSE_FUNDER_PRIVATE_KEY=${funder?.privateKey}`,
    `DISBURSE_HOLDER_PRIVATE_KEY=${spender?.privateKey}`,
    `DISBURSE_HOLDER_VIEWING_KEY=${vectors.spend.recipientKeys[0]?.viewingKey}`,
  ];
  writeFileSync(envFile, lines.join('\n'));
  const out = join(home, 'disclosure.json');
  const printed: string[] = [];
  const output = { out: (text: string) => void printed.push(text) };
  return {
    home,
    out,
    disclose: (changes: Partial<DiscloseOptions>) =>
      runDisclosePayer(
        {
          ...{
            tx: [],
            commitment: [],
            job: [],
            purpose: 'audit of 2026',
            days: '30',
            out,
            envFile,
          },
          ...changes,
        },
        output,
        createFakeRecords,
      ),
    async verify(path = out, options: { archive?: string; challenge?: string } = {}) {
      printed.length = 0;
      const code = await runVerify(path, { envFile, ...options }, output, createFakeRecords);
      return { code, text: printed.join('\n') };
    },
    /** A file of the events, as `disclose events` writes it. */
    writeArchive() {
      const path = join(home, 'events.json');
      const kinds = ['batch', 'spend'] as const;
      const events = vectors.facts.insertions.map((fact, place) => ({
        ...{ kind: kinds[place], index: fact.index, txHash: fact.txHash, blockNumber: 4 },
        ...{ commitments: fact.commitments, sealedNotesHash: fact.sealedNotesHash },
        ...(fact.batchId === undefined ? {} : { batchId: fact.batchId }),
      }));
      const { chainId, pool } = vectors.facts;
      writeFileSync(
        path,
        JSON.stringify({ format: 'pool-events', version: 1, chainId, pool, events }),
      );
      return path;
    },
  };
}

describe('a disclosure of a payer, from openings that were kept', () => {
  it('proves every part of a batch to the chain and to a file of events, with memos', async () => {
    const { disclose, verify, out, writeArchive } = await start([batch, spend]);
    expect(await disclose({ job: ['may-1'], memos: true })).toBe(0);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const { code, text } = await verify();
    expect(code).toBe(0);
    expect(text).not.toContain('not proved');
    expect(text.match(/^payment in /gm)).toHaveLength(3);
    expect(text).toContain('0.125 USDC');
    expect(await verify(out, { archive: writeArchive() })).toEqual({ code, text });
  });

  it('shows one payment alone, without memos, sealed notes or other payees', async () => {
    const { disclose, verify, out } = await start([batch]);
    const { commitment = '', walletPub = '' } = batch.insertion.payments[1] ?? {};
    await disclose({ commitment: [commitment] });
    const document = readFileSync(out, 'utf8');
    expect(document).not.toMatch(/sealedNotes|memo|secret/);
    expect(document).toContain(walletPub);
    expect(document).not.toContain(batch.insertion.payments[0]?.walletPub);
    const { code, text } = await verify();
    expect([code, text.match(/^payment in /gm)?.length]).toEqual([0, 1]);
    expect(text).toContain('memo          not proved: not-disclosed');
  });

  it('proves a transfer of the holder, which the holder signs', async () => {
    const { disclose, verify } = await start([batch, spend]);
    expect(await disclose({ tx: [spend.txHash], memos: true })).toBe(0);
    const { code, text } = await verify();
    expect(code).toBe(0);
    expect(text).not.toContain('not proved');
    expect(text.match(/^payment in /gm)).toHaveLength(2);
  });

  it('needs a choice, one signer and payments that exist', async () => {
    const { disclose } = await start([batch, spend]);
    await expect(disclose({})).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(disclose({ year: '2027' })).rejects.toMatchObject({
      message: expect.stringContaining('one signer'),
    });
    await expect(disclose({ job: ['june-1'] })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('takes the payments of a year by the time of their block', async () => {
    const { disclose } = await start([batch]);
    await expect(disclose({ year: '2026' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(disclose({ to: '2026-12-31' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await disclose({ from: '2027-01-01', to: '2027-01-01' })).toBe(0);
  });

  it.each([
    ['amount', (text: string) => text.replace('"amount": "125000"', '"amount": "125001"')],
    ['purpose', (text: string) => text.replace('audit of 2026', 'audit of 2027')],
    ['expiry', (text: string) => text.replace(/"expiresAt": (\d+)/, '"expiresAt": 4102444800')],
    ['payee', (text: string) => text.replaceAll(/"walletPub": "0x0[23]/g, '"walletPub": "0x03')],
    ['nonce', (text: string) => text.replace(/"nonce": "0x0/, '"nonce": "0x1')],
    ['index', (text: string) => text.replace('"index": 7', '"index": 8')],
    ['signature', (text: string) => text.replace(/"signature": "0x../, '"signature": "0x00')],
    ['role', (text: string) => text.replace('"role": "payer"', '"role": "payee"')],
  ])('proves nothing after its %s was changed', async (_, change) => {
    const { disclose, verify, out } = await start([batch]);
    await disclose({ job: ['may-1'] });
    const text = readFileSync(out, 'utf8');
    const changed = change(text);
    expect(changed).not.toBe(text);
    writeFileSync(out, changed);
    const { code, text: report } = await verify();
    expect(code).toBe(1);
    expect(report).toMatch(/^nothing is proved: /);
  });

  it('answers the challenge of its verifier only', async () => {
    const { disclose, verify, out } = await start([batch]);
    const challenge = 'auditor.example/7f3a91c0';
    await disclose({ job: ['may-1'], challenge });
    expect((await verify(out, { challenge })).code).toBe(0);
    expect((await verify()).text).toBe('nothing is proved: challenge-not-given');
    const other = await verify(out, { challenge: 'auditor.example/00000000' });
    expect(other.text).toBe('nothing is proved: other-challenge');
  });

  it('cannot be made after the years', async () => {
    const { home, disclose } = await start([batch]);
    const store = openOpeningsStore(home);
    const almost = Date.UTC(2033, 10, 19);
    expect(await store.eraseBefore(computeOpeningsLimit(almost, 7))).toBe(0);
    expect(await store.eraseBefore(computeOpeningsLimit(almost + 2 * 86_400_000, 7))).toBe(1);
    store.close();
    await expect(disclose({ job: ['may-1'] })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a disclosure of a payee', () => {
  const [, , payee] = vectors.disclosures;
  const insertions = payee?.document.insertions ?? [];

  async function show(changes: Partial<DiscloseOptions>) {
    const started = await start([]);
    const viewingKey = new Secret(BigInt(vectors.batch.recipientKeys[0]?.viewingKey ?? 0));
    const signer = createLocalKeyHolder({ privateKey: new Secret(payee?.privateKey ?? '') });
    const walletPub = await signer.walletPub();
    const sealedOf = (place: number, slot: number) =>
      (insertions[place] as { sealedNotes?: string[] } | undefined)?.sealedNotes?.[slot] ?? '';
    const entries = insertions.flatMap(({ payments, txHash, index }) =>
      payments.map(({ slot, amount, commitment }) => ({
        ...{ kind: 'received', id: `${index}.${slot}`, time: '2026-11-20T00:00:00Z', index },
        ...{ txHash, slot, amount, commitment, balance: '0', isChange: false },
      })),
    );
    const sources = {
      client: {
        history: async () =>
          ({
            chain: 'anvil',
            symbol: 'USDC',
            decimals: 6,
            walletPub,
            entries,
            more: false,
          }) as never,
      },
      records: createRecordsWith([0, 1, 2, 3].map((slot) => sealedOf(1, slot))),
      deliveries: {
        fetchPage: async () => ({
          notes: (insertions[0]?.payments ?? []).map(({ slot, commitment }) => ({
            ...{ commitment: parseHex32(commitment), sealed: sealedOf(0, slot) },
            ...{ batchIndex: batchFact?.index ?? 0, slot },
          })),
        }),
      },
      holder: { walletPub, address: payee?.document.discloser ?? '', viewingKey, signer },
    };
    const base = { tx: [], commitment: [], job: [], purpose: 'a loan', days: '30' };
    const options = { ...base, out: started.out, token: 'USDC', ...changes };
    const { chainId, pool } = vectors.facts;
    const settings = { chainId, pool, tokens: { USDC: { address: vectors.batch.manifest.token } } };
    await discloseAsPayee(options, settings as never, sources, { out: () => undefined });
    return started;
  }

  it('proves what it received in a batch and in a transfer, and the memo of the transfer', async () => {
    const { verify } = await show({ year: '2026', memos: true });
    const { code, text } = await verify();
    expect(code).toBe(0);
    expect(text.match(/^payment in /gm)).toHaveLength(2);
    expect(text.match(/who received {2}proved/g)).toHaveLength(2);
    expect(text.match(/memo {10}proved/g)).toHaveLength(1);
    expect(text).toContain('who paid      not proved: not-disclosed');
  });

  it('does not contain the viewing key', async () => {
    const { out } = await show({ year: '2026', memos: true });
    const key = vectors.batch.recipientKeys[0]?.viewingKey.slice(2) ?? 'none';
    expect(readFileSync(out, 'utf8')).not.toContain(key);
  });

  it('refuses what names payments of a payer', async () => {
    await expect(show({ job: ['may-1'] })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(show({ tx: [`0x${'00'.repeat(32)}`] })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
