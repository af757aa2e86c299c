// `disburse-agent receipts`: the payslips are read back, and what is in them is verified as an auditor would.
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computeWalletAddress, fundManifestSchema, parseHex32, parseWire } from '@pool/core';
import { openJobStore } from '@pool/idempotency';
import { loadDefaultFont, renderPayslip } from '@pool/statements/pdf';
import { type KeptOpenings, openBatch } from '@pool/wallet';
import type { EvmRecords } from '@pool/wallet/evm';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { openOpeningsStore } from '../../../../../packages/wallet/src/node/store/openings-store.ts';
import vectors from '../../../../../vectors/disclosure.json' with { type: 'json' };
import { runVerify } from '../keeping/disclose-verify.ts';
import { type ReceiptsOptions, runReceipts } from './receipts-command.ts';

const [funder] = vectors.disclosures;
const [fact] = vectors.facts.insertions;
if (!funder || !fact) {
  throw new Error('the vectors have a batch and its funder');
}
const key = 'may-1';
const landedAt = Date.UTC(2026, 10, 28) / 1_000;
let batch: KeptOpenings;

beforeAll(async () => {
  const manifest = parseWire(fundManifestSchema, vectors.batch.manifest, 'vector');
  const seed = parseHex32(vectors.batch.seed);
  const txHash = parseHex32(fact.txHash);
  batch = await openBatch(
    { manifest, seed, jobKey: key, txHash, paidAtMs: 1 },
    async () => undefined,
  );
});

function createRecords(): EvmRecords {
  const leaf = {
    ...{ ...fact, kind: 'fund', leafIndex: fact?.index, batchRoot: batch.root },
    ...{ blockNumber: 4, sealedNotes: [] },
  };
  return {
    fetchFinalBlock: async () => 9,
    fetchBlockTime: async () => landedAt,
    fetchTransactionLeaves: async () => [leaf],
    close: () => undefined,
  } as unknown as EvmRecords;
}

/** An agent directory with one paid job. @param memo - of its first payee */
async function start(memo: string) {
  const home = mkdtempSync(join(tmpdir(), 'pool-receipts-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const openings = openOpeningsStore(home);
  await openings.keep(batch);
  openings.close();
  const { chainId, pool, evidenceDomain: evidence } = vectors.facts;
  const anvil = {
    ...{ family: 'evm', chainId, rpcUrl: 'http://127.0.0.1:9', pool, registry: pool },
    ...{ deployedAtBlock: 0, finality: { kind: 'finalized-tag' }, maxRecipients: 64 },
    tokens: { USDC: { address: vectors.batch.manifest.token, decimals: 6 } },
  };
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { anvil } }));
  const envFile = join(home, 'agent.env');
  const variables = [
    `DISBURSE_HOME=${home}`,
    'DISBURSE_PLATFORM_URL=https://pool.example/agent-edge',
    'DISBURSE_PLATFORM_TOKEN=pool_edge_canary',
    `DISBURSE_FUNDER_PRIVATE_KEY=${funder?.privateKey}`,
  ];
  writeFileSync(envFile, variables.join('\n'), { mode: 0o600 });
  const people = batch.insertion.payments.map(
    ({ commitment, amount, walletPub }, requestIndex) => ({
      ...{ requestIndex, commitment, amount: String(amount), status: 'success' },
      recipientAddress: computeWalletAddress(walletPub),
    }),
  );
  const recipients = people.map(({ recipientAddress: address, requestIndex, amount }) => ({
    ...{ address, requestIndex, amount },
    ...(requestIndex === 0 ? { memo } : {}),
  }));
  const batches = [
    { index: 0, txHash: fact?.txHash, recipientCount: people.length, status: 'success' },
  ];
  const result = {
    ...{ status: 'completed', batches, notes: people, skipped: [] },
    allowance: { state: 'sufficient' },
  };
  const settlement = { txHash: fact?.txHash, blockNumber: 4 };
  const store = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
  await store.claim({
    ...{ scope: 'employer', key, fingerprint: 'f', state: 'done', nowMs: 1 },
    payload: JSON.stringify({
      ...{ key, chain: 'anvil', tokenSymbol: 'USDC', recipients, skipped: [] },
      phase: { kind: 'completed', result, settlement },
    }),
  });
  await store.close();
  const folder = join(home, 'receipts');
  const notes: string[] = [];
  let printed = '';
  const output = {
    out: (text: string) => {
      printed = text;
    },
    terminal: { isTty: false, write: (text: string) => void notes.push(text) },
  };
  const run = async (options: Partial<ReceiptsOptions> = {}) => {
    const all = { out: folder, days: '30', envFile, ...options };
    const code = await runReceipts(key, all, output, createRecords);
    return { code, printed, notes: notes.join('') };
  };
  const verify = async (path: string) => {
    const code = await runVerify(path, { envFile }, output, createRecords);
    return { code, printed };
  };
  return { home, folder, people, run, verify };
}

async function readPdf(path: string) {
  const document = await getDocument({ data: new Uint8Array(readFileSync(path)) }).promise;
  const pages = await Promise.all(
    Array.from({ length: document.numPages }, async (_, index) => {
      const { items } = await (await document.getPage(index + 1)).getTextContent();
      return items.map((item) => ('str' in item ? item.str : '')).join(' ');
    }),
  );
  const attached = (await document.getAttachments())?.has('disclosure.json') === true;
  const disclosure = attached ? await document.getAttachmentContent('disclosure.json') : '';
  return {
    text: pages.join(' '),
    disclosure: disclosure as Uint8Array | string,
    metadata: JSON.stringify(await document.getMetadata()),
  };
}

it('writes a payslip for each payee, whose disclosure proves this one payment', async () => {
  const { home, folder, people, run, verify } = await start('Май für Zoë');
  expect(await run()).toMatchObject({ code: 0 });
  const files = readdirSync(folder).toSorted();
  const slips = files.filter((file) => file.startsWith(`${key}-`));
  expect(files).toEqual([...slips, 'summary.csv', 'summary.pdf']);
  expect(slips).toHaveLength(people.length);
  for (const file of files) {
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  }
  for (const { recipientAddress, commitment } of people) {
    const slip = slips.find((file) => file.includes(commitment.slice(2, 18))) ?? '';
    const { text, disclosure, metadata } = await readPdf(join(folder, slip));
    const flat = text.replaceAll(/\s+/g, '');
    expect(flat).toContain(recipientAddress);
    expect(flat).toContain(commitment);
    expect(flat).toContain('2026-11-28T00:00:00Z');
    expect(metadata).not.toContain(recipientAddress);
    const path = join(home, `${slip}.json`);
    writeFileSync(path, disclosure);
    const proved = await verify(path);
    expect(proved.code).toBe(0);
    expect(proved.printed).toContain(commitment);
    for (const other of people.filter((one) => one.commitment !== commitment)) {
      expect(readFileSync(path, 'utf8')).not.toContain(other.commitment);
    }
  }
  const { text } = await readPdf(join(folder, 'summary.pdf'));
  expect(text).toMatch(new RegExp(`paid\\s+${people.length}: 1\\.24 USDC`));

  // What was there stays. What is missing is made.
  const [gone = '', ...kept] = slips;
  const before = kept.map((file) => readFileSync(join(folder, file)));
  unlinkSync(join(folder, gone));
  expect((await run()).printed).toContain(': 1 file(s) written');
  expect(readdirSync(folder).toSorted()).toEqual(files);
  expect(kept.map((file) => readFileSync(join(folder, file)))).toEqual(before);
});

it('refuses the payslip of a text that the font cannot show, and writes the others', async () => {
  const { folder, people, run } = await start('王さん');
  const { code, notes } = await run();
  expect(code).toBe(1);
  expect(notes).toMatch(/no payslip for may-1\/1: the font cannot show U\+738B, U\+3055, U\+3093/);
  expect(readdirSync(folder)).toHaveLength(people.length - 1 + 2);
});

it('gives the same bytes for the same payment', async () => {
  const line = { token: 'USDC', decimals: 6, amount: '1', state: 'paid', chain: 'a', timeMs: 5 };
  const font = loadDefaultFont();
  const [one, two] = [0, 1].map(() => renderPayslip(line, '{}', { font, payer: '0x' }));
  expect(await one).toEqual(await two);
});

it('refuses a file that is not a font', async () => {
  const { home, run } = await start('');
  await expect(run({ font: join(home, 'chains.json') })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('is not a font'),
  });
});
