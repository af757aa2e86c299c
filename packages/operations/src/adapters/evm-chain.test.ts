// The pipeline against the real contracts on a real chain. Only the proof is not real: the verifiers' code is replaced by
// one that accepts every proof, so these tests cover everything around the proof.

import type { SettlementRecord, SettlementRequest } from '@pool/api';
import {
  connectEligibilityRegistry,
  connectErc20,
  connectShieldedPool,
  noPermit,
} from '@pool/contracts';
import {
  assertAmount,
  computeTypedDataDigest,
  computeVoidBatchData,
  type EvmChainSettings,
  hexToBigint,
  parseEvmAddress,
  parseField,
  parseHex32,
  Secret,
} from '@pool/core';
import { createLocalKeySigner } from '@pool/signers';
import { type Anvil, startAnvil } from '@pool/testkit';
import { type HDNodeWallet, JsonRpcProvider } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { burnNonce } from '../../../wallet/src/fixtures/burn-nonce.ts';
import {
  deployTestChain,
  testAccounts,
  testWallet,
} from '../../../wallet/src/fixtures/test-chain.ts';
import { observeFunds } from '../check/preflight.ts';
import { createWorld } from '../fixtures/fake-world.ts';
import { computeJobNonce, deserializeManifest, manifestName } from '../run/job/record.ts';
import type { DisbursementDeps } from '../run/job/run.ts';
import { createEvmChain, type EvmChain } from './evm-chain.ts';
import { createFunder } from './funder.ts';

let anvil: Anvil;
let provider: JsonRpcProvider;
let settings: EvmChainSettings;
let chain: EvmChain;

function relayer(): HDNodeWallet {
  return testWallet(provider, testAccounts.relayer);
}
function funderWallet(): HDNodeWallet {
  return testWallet(provider, testAccounts.funder);
}

beforeAll(async () => {
  anvil = await startAnvil();
  provider = new JsonRpcProvider(anvil.rpcUrl, anvil.chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    pollingInterval: 50,
  });
  settings = await deployTestChain(provider, anvil);
  // The comparison of code would find the verifiers that accept every proof (packages/contracts/src/code tests it).
  chain = { ...createEvmChain(settings), requirePool: async () => undefined };
});

afterAll(async () => {
  chain.close();
  provider.destroy();
  await anvil.stop();
});

/** A relayer on the real chain: it simulates unless `skipSimulation` is set, sends, and answers like the platform. */
async function createRealWorld() {
  const world = await createWorld();
  const key = new Secret(funderWallet().privateKey);
  const funder = await createFunder(createLocalKeySigner({ privateKey: key }));
  const pool = connectShieldedPool(settings.pool, relayer());
  const rows = new Map<string, SettlementRecord>();
  const relay = { skipSimulation: false, tamper: (request: SettlementRequest) => request };

  async function postSettlement(
    jobKey: string,
    sent: SettlementRequest,
  ): Promise<SettlementRecord> {
    const known = rows.get(jobKey);
    if (known !== undefined && known.state !== 'reverted') {
      return known;
    }
    const { batch, proof, permit, sealedNotes, funderSignature } = relay.tamper(sent);
    const words = (pair: readonly [string, string]): [bigint, bigint] => [
      hexToBigint(pair[0]),
      hexToBigint(pair[1]),
    ];
    const call = [
      { ...batch, total: BigInt(batch.total), deadline: BigInt(batch.deadline) },
      { a: words(proof.a), b: [words(proof.b[0]), words(proof.b[1])], c: words(proof.c) },
      funderSignature,
      permit === undefined
        ? noPermit
        : { ...permit, value: BigInt(permit.value), deadline: BigInt(permit.deadline) },
    ] as const;
    const { bodyFingerprint } = sent;
    const base = {
      key: jobKey,
      chain: sent.chain,
      batch: sent.batch,
      sealedNotes,
      ...(bodyFingerprint === undefined ? {} : { bodyFingerprint }),
    };
    let row: SettlementRecord;
    try {
      const response = await pool.fund(
        ...call,
        relay.skipSimulation ? { gasLimit: 3_000_000 } : {},
      );
      const receipt = await provider.waitForTransaction(response.hash).catch(() => null);
      const isSettled = receipt?.status === 1;
      const txHash = parseHex32(response.hash);
      row = { ...base, state: isSettled ? 'settled' : 'reverted', txHash };
    } catch {
      row = { ...base, state: 'reverted', error: { code: 'simulation', message: 'refused' } };
    }
    rows.set(jobKey, row);
    await provider.send('anvil_mine', ['0x2']);
    return row;
  }

  const registry = connectEligibilityRegistry(settings.registry, testWallet(provider, 3));
  await (await registry.publish(world.gate.root())).wait();
  const deps: Partial<DisbursementDeps> = {
    funder,
    findChain: () => ({ key: 'anvil', settings, chain }),
    platform: {
      ...world.platform,
      postSettlement,
      getSettlement: async (jobKey) => rows.get(jobKey),
    },
    // The clock of the world takes no time; blocks do.
    clock: {
      ...world.clock,
      async sleep(milliseconds, signal) {
        await provider.send('anvil_mine', ['0x1']);
        await world.clock.sleep(milliseconds, signal);
      },
    },
  };
  return { world, deps, relay, rows, registry };
}

function poolBalance(symbol: 'USDC' | 'USDT'): Promise<bigint> {
  return connectErc20(settings.tokens[symbol]?.address ?? '', provider).balanceOf(settings.pool);
}

async function accept(
  world: Awaited<ReturnType<typeof createWorld>>,
  key: string,
  token: 'USDC' | 'USDT' = 'USDC',
) {
  const job = await world.accept(key);
  const record = { ...job.stored(), tokenSymbol: token };
  await job.journal.save('submitted', JSON.stringify(record));
  return job;
}

describe('the pipeline on a real chain', () => {
  it('pays with a permit and leaves no allowance behind', async () => {
    const { world, deps } = await createRealWorld();
    const before = await poolBalance('USDC');
    const job = await accept(world, 'permit');
    await world.run(job, undefined, deps);
    expect(job.record().result?.status).toBe('completed');
    expect(Number(job.record().settlement?.gasUsed)).toBeGreaterThan(100_000);
    expect(await poolBalance('USDC')).toBe(before + 6_000n);
    expect(await allowanceOf('USDC')).toBe(0n);
  });

  it('pays by approvals, zero first, with a token that requires it', async () => {
    const { world, deps } = await createRealWorld();
    const token = connectErc20(settings.tokens['USDT']?.address ?? '', funderWallet());
    await (await token.approve(settings.pool, 5n)).wait();
    const before = await poolBalance('USDT');
    const job = await accept(world, 'approval', 'USDT');
    await world.run(job, undefined, deps);
    expect(job.record().result?.status).toBe('completed');
    expect(job.record().approvals.map(({ value, mined }) => [value, mined])).toEqual([
      ['0', true],
      ['6000', true],
    ]);
    expect(await poolBalance('USDT')).toBe(before + 6_000n);
  });

  it('pays once after the contract refused every batch that a relayer altered', async () => {
    const { world, deps, relay } = await createRealWorld();
    const before = await poolBalance('USDC');
    const word = parseHex32(`0x${'07'.repeat(32)}`);
    const lies: ((request: SettlementRequest) => SettlementRequest)[] = [
      (request) => ({ ...request, batch: { ...request.batch, total: '6001' } }),
      (request) => ({ ...request, batch: { ...request.batch, sealedNotesHash: word } }),
      (request) => ({ ...request, batch: { ...request.batch, batchRoot: word } }),
      (request) => ({
        ...request,
        batch: { ...request.batch, deadline: request.batch.deadline + 1 },
      }),
      (request) => ({ ...request, batch: { ...request.batch, batchNonce: word } }),
    ];
    let told = 0;
    relay.tamper = (request) => {
      const lie = lies[told];
      told += 1;
      return lie === undefined ? request : lie(request);
    };
    const job = await accept(world, 'tampered');
    await world.run(job, undefined, deps);
    expect(told).toBe(lies.length + 1);
    expect(job.record().result?.status).toBe('completed');
    expect(await poolBalance('USDC')).toBe(before + 6_000n);
  });

  it("pays although the relayer has used the job's nonce under its own address", async () => {
    const { world, deps } = await createRealWorld();
    const before = await poolBalance('USDC');
    const job = await accept(world, 'burnt');
    await burnNonce({
      settings,
      funder: relayer(),
      minter: testWallet(provider, 0),
      batchNonce: nonceOf('burnt'),
      eligibilityRoot: world.gate.root(),
    });
    await provider.send('anvil_mine', ['0x2']);
    await world.run(job, undefined, deps);
    expect(job.record().error).toBeUndefined();
    expect(job.record().result?.status).toBe('completed');
    expect(await poolBalance('USDC')).toBe(before + 6_001n);
  });

  it('does not pay again when an agent with an empty store gets the same key [disburse.one-payment-a-key]', async () => {
    const { world, deps } = await createRealWorld();
    const first = await accept(world, 'twice');
    await world.run(first, undefined, deps);
    const before = await poolBalance('USDC');
    const second = await accept(world, 'twice');
    await world.run(second, undefined, deps);
    expect(second.record().result?.notes).toEqual(first.record().result?.notes);
    expect(second.record().settlement).toEqual(first.record().settlement);
    expect(await poolBalance('USDC')).toBe(before);
  });

  it('ends at once after a final voidBatch, with the approval taken back', async () => {
    const { world, deps, relay } = await createRealWorld();
    relay.tamper = (request) => ({ ...request, batch: { ...request.batch, total: '1' } });
    const job = await accept(world, 'voided', 'USDT');
    let isVoided = false;
    await world.run(
      job,
      (point) => {
        if (point === 'settling.posted' && !isVoided) {
          isVoided = true;
          void voidBatch(JSON.parse([...job.values.values()][0] ?? '{}').manifest.jobKey);
        }
      },
      deps,
    );
    expect(job.record().error).toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('withdrew'),
    });
    expect(job.record().approvals.at(-1)).toMatchObject({ value: '0', mined: true });
    expect(await allowanceOf('USDT')).toBe(0n);
  });

  // Runs last, because it moves the chain's clock past every deadline.
  it('is partial, with the decoded reason, when the transaction reverted and the deadline passed [result.partial, result.batch-error, state.done-means-attempted, failure.partial]', async () => {
    const { world, deps, relay } = await createRealWorld();
    relay.skipSimulation = true;
    const token = connectErc20(settings.tokens['USDC']?.address ?? '', funderWallet());
    const job = await accept(world, 'reverted');
    await world.run(job, undefined, {
      ...deps,
      async onFaultPoint(point) {
        // After the last read of the funder's balance.
        if (point === 'settling.released') {
          const all = await token.balanceOf(funderWallet().address);
          await (await token.transfer(testWallet(provider, 9).address, all)).wait();
        }
        if (job.record().revert !== undefined) {
          await provider.send('evm_increaseTime', [2 * 3600]);
        }
      },
    });
    expect(job.record().result).toMatchObject({
      status: 'partial',
      batches: [{ status: 'failed', error: { code: 'erc20-insufficient-balance' } }],
    });
  });
});

function allowanceOf(symbol: string) {
  return chain.fetchAllowance(
    parseEvmAddress(settings.tokens[symbol]?.address),
    parseEvmAddress(funderWallet().address),
  );
}

function nonceOf(jobKey: string) {
  return computeJobNonce(
    {
      context: { settings },
      funder: { address: parseEvmAddress(funderWallet().address) },
    },
    '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01',
    jobKey,
  );
}

async function voidBatch(jobKey: string): Promise<void> {
  const funder = { address: parseEvmAddress(funderWallet().address) };
  const nonce = nonceOf(jobKey);
  const data = computeVoidBatchData(
    settings.chainId,
    settings.pool,
    funder.address,
    parseField(nonce),
  );
  const signature = funderWallet().signingKey.sign(computeTypedDataDigest(data)).serialized;
  const pool = connectShieldedPool(settings.pool, testWallet(provider, 5));
  await (await pool.voidBatch(funder.address, nonce, signature)).wait();
}

describe('createEvmChain', () => {
  it('refuses an RPC that serves another chain', async () => {
    const other = createEvmChain({ ...settings, chainId: 5 });
    await expect(other.fetchHeadTimestamp()).rejects.toMatchObject({ code: 'wrong_chain' });
    other.close();
  });

  it('reports an RPC that does not answer as retryable', async () => {
    const other = createEvmChain({ ...settings, rpcUrl: 'http://127.0.0.1:9' });
    await expect(other.fetchHeadTimestamp()).rejects.toMatchObject({
      code: 'chain_unreachable',
      retryable: true,
    });
    other.close();
  });

  it('reports a funder that cannot pay the gas of an approval', async () => {
    const poor = new Secret(`0x${'77'.repeat(32)}`);
    const signer = createLocalKeySigner({ privateKey: poor });
    const world = await createWorld();
    const funder = await createFunder(signer);
    const token = parseEvmAddress(settings.tokens['USDT']?.address);
    const pool = settings.pool;
    const transaction = {
      chainId: settings.chainId,
      nonce: 0,
      token,
      spender: pool,
      value: 5n,
      gasLimit: 60_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
    };
    const job = await world.accept();
    await world.run(job);
    const seeded = deserializeManifest(job.values.get(manifestName) ?? '');
    const answer = await funder.ask(
      {
        kind: 'token-approval',
        transaction,
        expected: { chainId: settings.chainId, token, pool, total: 5n },
        file: { version: 1, ...seeded, deadline: 1 },
      },
      undefined,
      new AbortController().signal,
    );
    const raw = answer.state === 'signed' ? answer.signed : '0x';
    await expect(chain.broadcast(raw)).rejects.toMatchObject({ code: 'insufficient_gas' });
  });
});

describe('observeFunds', () => {
  const targetOf = (symbol: string, total: bigint, port = chain) => {
    const token = settings.tokens[symbol]!;
    return { context: { key: 'anvil', settings, chain: port }, token, total: assertAmount(total) };
  };

  it('sees tokens, allowance and gas on a real chain', async () => {
    const funder = parseEvmAddress(funderWallet().address);
    const held = await chain.fetchTokenBalance(settings.tokens['USDT']!.address, funder);
    expect(held).toBeGreaterThan(0n);
    const seen = await observeFunds(targetOf('USDT', held + 1n), funder);
    expect(seen.findings.map(({ code }) => code)).toEqual(['insufficient_balance']);
    expect((await observeFunds(targetOf('USDT', held), funder)).findings).toEqual([]);
  });

  it('requires coin for an approval, and none for a permit', async () => {
    const poor = parseEvmAddress('0x00000000000000000000000000000000000000a1');
    const codesOf = async (symbol: string) =>
      (await observeFunds(targetOf(symbol, 1n), poor)).findings.map(({ code }) => code);
    expect(await codesOf('USDT')).toEqual(['insufficient_balance', 'insufficient_gas']);
    expect(await codesOf('USDC')).toEqual(['insufficient_balance']);
  });

  it('reports an unknown allowance while the RPC is unreachable', async () => {
    const cut = createEvmChain({ ...settings, rpcUrl: 'http://127.0.0.1:9' });
    const funder = parseEvmAddress(funderWallet().address);
    expect(await observeFunds(targetOf('USDT', 1n, cut), funder)).toEqual({
      allowanceState: 'unknown',
      findings: [{ code: 'chain_unreachable', message: expect.stringContaining('anvil') }],
    });
    cut.close();
  });
});
