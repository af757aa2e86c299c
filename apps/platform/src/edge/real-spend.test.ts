/**
 * Spends with real proofs (vectors/spend-proofs.json) through the real app, the real checks in their threads, and the real contracts
 * and verifiers on a chain.
 */
import type { SpendRequest } from '@pool/api';
import {
  assertField,
  bigintToHex32,
  computeAssetId,
  type EncryptionPublicKey,
  fieldToHex,
  hexToBigint,
  parseEvmAddress,
  parseField,
  type Secret,
} from '@pool/core';
import { computeSealedNotesHash, computeSpendPublicInputs } from '@pool/notes';
import { createProofVerifier, type ProofVerifier } from '@pool/prover';
import { createTestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import {
  createEvmPoolChain,
  type PoolChain,
} from '../../../../packages/relayer/src/chain/pool-chain.ts';
import {
  type BatchChecker,
  createBatchChecker,
} from '../../../../packages/relayer/src/checks/batch-checker.ts';
import {
  createProofCheck,
  loadVerificationKeys,
} from '../../../../packages/relayer/src/checks/check-proof.ts';
import { createSettlementChecks } from '../../../../packages/relayer/src/checks/settlement-checks.ts';
import { createIndexer } from '../../../../packages/relayer/src/indexer/indexer.ts';
import { runRelayerPass } from '../../../../packages/relayer/src/send/relayer.ts';
import { listServedNotes } from '../../../../packages/relayer/src/served/served-notes.ts';
import { changeProof } from '../../../../packages/relayer/test/proven-settlement.ts';
import {
  createVectorSpend,
  startVectorChain,
} from '../../../../packages/relayer/test/vector-chain.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';

const transfer = createVectorSpend('transfer to two');
const wide = createVectorSpend('transfer to seven');
const withdrawal = createVectorSpend('send with change');
const log = createLog('silent', 'test');

let chain: Awaited<ReturnType<typeof startVectorChain>>;
let poolChain: PoolChain;
let database: TestDatabase;
let verifier: ProofVerifier;
let batches: BatchChecker;
let platform: TestPlatform;

beforeAll(async () => {
  [chain, database] = await Promise.all([
    startVectorChain([transfer, wide, withdrawal]),
    openTestDatabase(),
  ]);
  poolChain = createEvmPoolChain('anvil', chain.settings, chain.relayerKey);
  verifier = createProofVerifier();
  batches = createBatchChecker();
  const proofs = createProofCheck(verifier, await loadVerificationKeys(undefined));
  platform = createTestPlatform(database, {
    poolChains: new Map([['anvil', poolChain]]),
    checks: createSettlementChecks({ batches, proofs }),
  });
});
afterAll(async () => {
  poolChain.close();
  await Promise.all([database.close(), verifier.close(), batches.close(), chain.stop()]);
});
beforeEach(() => database.reset());

async function keyOf(request: SpendRequest, name = 'a'): Promise<Secret> {
  const session = await platform.signIn(await createTestHolder(name));
  await session.register();
  const capability = request.spend.withdrawAmount === '0' ? 'holder.transfer' : 'holder.send';
  return (await session.mintKey(capability, 'x')).apiKey;
}

async function post(key: Secret, request: SpendRequest) {
  const answer = await platform.app.request('/agent-edge/spends', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.reveal()}`,
      'content-type': 'application/json',
      'idempotency-key': 'k',
    },
    body: JSON.stringify(request),
  });
  const body = (await answer.json()) as { readonly code?: string; readonly state?: string };
  return { status: answer.status, ...body };
}

async function servedSlots(encryptionPublicKey: EncryptionPublicKey): Promise<number[]> {
  const { notes } = await listServedNotes(database.db, {
    chain: 'anvil',
    tokenSymbol: 'TUSD',
    tokenAddress: transfer.spend.token,
    encryptionPublicKey,
    cursor: undefined,
  });
  return notes.map(({ slot }) => slot);
}

/** Changes the last digit of a hex word. */
function flip(word: string): string {
  return bigintToHex32(BigInt(word) ^ 1n);
}

const changes: readonly (readonly [string, (request: SpendRequest) => SpendRequest])[] = [
  ...(
    [
      'outRoot',
      'noteRoot',
      'eligibilityRoot',
      'digest',
      'maskedX',
      'maskedY',
      'slope',
      'maskedDigest',
      'rSig',
      's',
    ] as const
  ).map(
    (name) =>
      [
        name,
        (request: SpendRequest) => withSpend(request, { [name]: flip(request.spend[name]) }),
      ] as const,
  ),
  ['parity', (request) => withSpend(request, { parity: 1 - request.spend.parity })],
  ['deadline', (request) => withSpend(request, { deadline: request.spend.deadline + 1 })],
  ['a withdrawal’s amount', () => withSpend(withdrawal, { withdrawAmount: '5000000' })],
  [
    'a withdrawal’s recipient',
    () => withSpend(withdrawal, { recipient: '0x00000000000000000000000000000000000000A1' }),
  ],
  ...[0, 1].map(
    (place) =>
      [
        `nullifier ${place}`,
        (request: SpendRequest) =>
          withSpend(request, { nullifiers: flipAt(request.spend.nullifiers, place) }),
      ] as const,
  ),
  ...[0, 1, 2, 3].map(
    (slot) =>
      [
        `commitment ${slot}`,
        (request: SpendRequest) =>
          withSpend(request, { commitments: flipAt(request.spend.commitments, slot) }),
      ] as const,
  ),
  [
    'the order of the sealed notes',
    (request) => ({ ...request, sealedNotes: request.sealedNotes.toReversed() }),
  ],
];

function withSpend(request: SpendRequest, change: object): SpendRequest {
  return { ...request, spend: { ...request.spend, ...change } };
}

function flipAt(words: readonly string[], place: number): string[] {
  return words.map((word, index) => (index === place ? flip(word) : word));
}

/** The digest that the holder's statement has with another note root, which the proof is not about. */
function aboutAnotherRoot(request: SpendRequest): SpendRequest {
  const { spend, sealedNotes } = request;
  const noteRoot = assertField(77n);
  const { digest } = computeSpendPublicInputs({
    operation: {
      circuit: 'spend-2x4',
      assetId: computeAssetId(
        chain.settings.chainId,
        chain.settings.pool,
        parseEvmAddress(spend.token),
      ),
      withdrawAmount: 0n,
      recipient: undefined,
      deadline: spend.deadline,
      sealedNotesHash: computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed)),
      outRoot: parseField(spend.outRoot),
      nullifiers: spend.nullifiers.map(parseField),
    },
    commitments: spend.commitments.map(parseField),
    noteRoot,
    eligibilityRoot: parseField(spend.eligibilityRoot),
    maskedSigner: {
      maskedPub: { x: hexToBigint(spend.maskedX), y: hexToBigint(spend.maskedY) },
      maskedDigest: hexToBigint(spend.maskedDigest),
      slope: hexToBigint(spend.slope),
    },
    rSig: hexToBigint(spend.rSig),
  });
  return withSpend(request, { noteRoot: fieldToHex(noteRoot), digest: fieldToHex(digest) });
}

describe('a spend with a real proof', () => {
  it.each(changes)('is refused before gas when %s is changed', async (_name, change) => {
    const changed = change(transfer);
    const answer = await post(await keyOf(changed), changed);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_spend']);
    expect(await database.db.selectFrom('submissions').selectAll().execute()).toEqual([]);
  });

  it.each([
    ['a number of its proof', { ...transfer, proof: changeProof(transfer.proof, 0) }],
    ['the proof of another spend', { ...transfer, proof: withdrawal.proof }],
    ['a digest about a root that was not proved', 'root'],
  ] as const)('is refused by the verifier with %s', async (_name, request) => {
    const changed = request === 'root' ? aboutAnotherRoot(transfer) : request;
    const answer = await post(await keyOf(changed), changed);
    expect([answer.status, answer.code]).toEqual([400, 'proof_invalid']);
    expect(await database.db.selectFrom('submissions').selectAll().execute()).toEqual([]);
  });

  // The last test: the chain keeps what it does.
  it('is accepted, lands at the real verifiers, and reaches its payees', async () => {
    const before = await chain.relayerNonce();
    const requests = [transfer, wide, withdrawal];
    for (const [index, request] of requests.entries()) {
      expect((await post(await keyOf(request, `holder ${index}`), request)).status).toBe(202);
    }
    const deps = { db: database.db, chain: poolChain, log, nowMs: Date.now };
    await runRelayerPass({ ...deps, replaceAfterMs: 120_000 });
    await chain.mine();
    await runRelayerPass({ ...deps, replaceAfterMs: 120_000 });
    await createIndexer(deps).pass();
    const rows = await database.db
      .selectFrom('submissions')
      .select(['state', 'error_code'])
      .execute();
    expect(rows).toEqual(requests.map(() => ({ state: 'settled', error_code: null })));
    expect(await chain.relayerNonce()).toBe(before + 3);
    for (const [slot, { encryptionPublicKey }] of transfer.sealedNotes.entries()) {
      expect(await servedSlots(encryptionPublicKey)).toContain(slot);
    }
  });
});
