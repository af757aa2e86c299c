// A dishonest platform, played by a proxy between a real agent and the real platform.

import type { RecipientRecord, SettlementRequest, SolidityProof } from '@pool/api';
import { connectShieldedPool, decodeRevert, type FundBatch, noPermit } from '@pool/contracts';
import { createSignInMessage, type EncryptionPublicKey, parseHex } from '@pool/core';
import { type Json, type Lie, type LyingProxy, startLyingProxy } from '@pool/testkit';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Holder } from './chain/people.ts';
import { deriveRoleKey } from './chain/sandbox-keys.ts';
import { countFundedBatches } from './demo/chain-facts.ts';
import type { AgentClient } from './fixtures/agent-client.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';

const minute = 60_000;

describe('an agent behind a dishonest platform', () => {
  let stack: TestStack;
  let proxy: LyingProxy;
  let client: AgentClient;
  let keys = 0;
  beforeAll(async () => {
    stack = await startTestStack();
    proxy = await startLyingProxy(stack.platformUrl);
    client = clientOf(await stack.startAgent({ name: 'deceived', platformUrl: proxy.url }));
  });
  afterEach(() => {
    // A lie that reached no client proves nothing.
    expect(proxy.applied.every((count) => count > 0)).toBe(true);
    proxy.setLies([]);
  });
  afterAll(async () => {
    await proxy.stop();
    await stack.end();
  });

  /** Changes what the platform serves about the first holder. */
  function aboutFirstHolder(change: (record: RecipientRecord) => Partial<RecipientRecord>): Lie {
    return {
      path: /\/agent-edge\/recipients\/lookup$/,
      response: (body) => ({
        recipients: (body['recipients'] as RecipientRecord[]).map((record) =>
          record.address === stack.holders[0]!.address ? { ...record, ...change(record) } : record,
        ),
      }),
    };
  }

  async function signEvidence(
    holder: Holder,
    encryptionPublicKey: EncryptionPublicKey,
    issuedAtMs: number,
  ): Promise<NonNullable<RecipientRecord['evidence']>> {
    const message = createSignInMessage({
      ...stack.chains.evidence,
      address: holder.address,
      chainId: stack.chainId,
      nonce: 'abcdefgh12345678',
      issuedAtMs,
      expirationTimeMs: issuedAtMs + minute,
      encryptionPublicKey,
    });
    const signature = await new Wallet(holder.privateKey).signMessage(message);
    return { message, signature: parseHex(signature) };
  }

  async function expectRefusal(reason: RegExp): Promise<void> {
    keys += 1;
    const key = `lie-${keys}`;
    const answer = await client.disburse(key, stack.createRequest({ 0: 5n, 1: 6n }));
    expect(answer.body.code).toBe('unregistered-recipient');
    expect(answer.body.message).toMatch(reason);
    expect(answer.status).toBe(400);
    // Refused before it was accepted, so before anything was proved.
    expect((await client.getJob(key)).status).toBe(404);
    expect(await countFundedBatches(stack.place)).toBe(0);
  }

  it('refuses a changed walletPub', async () => {
    const { walletPub } = stack.holders[1]!;
    proxy.setLies([aboutFirstHolder(() => ({ walletPub }))]);
    await expectRefusal(/walletPub is not the one that signed/);
  });

  it('refuses a changed encryption key', async () => {
    const { encryptionPublicKey } = stack.holders[1]!;
    proxy.setLies([aboutFirstHolder(() => ({ encryptionPublicKey }))]);
    await expectRefusal(/not the one the wallet signed for/);
  });

  it("refuses another holder's whole record under the recipient's address", async () => {
    const thief = stack.holders[2]!;
    const evidence = await signEvidence(thief, thief.encryptionPublicKey, Date.now());
    const { walletPub, encryptionPublicKey } = thief;
    proxy.setLies([aboutFirstHolder(() => ({ walletPub, encryptionPublicKey, evidence }))]);
    await expectRefusal(/belongs to another address/);
  });

  it("refuses the attacker's key under a signature the platform made up", async () => {
    const thief = stack.holders[2]!;
    const victim = stack.holders[0]!;
    const forged = await signEvidence(victim, thief.encryptionPublicKey, Date.now());
    const signature = await new Wallet(thief.privateKey).signMessage(forged.message);
    const evidence = { ...forged, signature: parseHex(signature) };
    const { encryptionPublicKey } = thief;
    proxy.setLies([aboutFirstHolder(() => ({ encryptionPublicKey, evidence }))]);
    await expectRefusal(/not signed by the wallet it names/);
  });

  it('refuses evidence signed for another platform, and evidence from the future', async () => {
    const victim = stack.holders[0]!;
    const ahead = await signEvidence(victim, victim.encryptionPublicKey, Date.now() + 6 * minute);
    proxy.setLies([aboutFirstHolder(() => ({ evidence: ahead }))]);
    await expectRefusal(/dated in the future/);

    const honest = await signEvidence(victim, victim.encryptionPublicKey, Date.now());
    const { domain } = stack.chains.evidence;
    const message = honest.message.replace(domain, 'other.example');
    const signature = await new Wallet(victim.privateKey).signMessage(message);
    const foreign = { message, signature: parseHex(signature) };
    proxy.setLies([aboutFirstHolder(() => ({ evidence: foreign }))]);
    await expectRefusal(/for another platform/);
  });

  it('refuses older evidence once newer evidence named another key', async () => {
    const holder = stack.holders[0]!;
    const rotated = stack.holders[3]!.encryptionPublicKey;
    const newer = await signEvidence(holder, rotated, Date.now() + minute);
    proxy.setLies([
      // Stopped at the amount of the second recipient, after the look-up: this step only creates the pin.
      aboutFirstHolder(() => ({ encryptionPublicKey: rotated, evidence: newer })),
      {
        path: /lookup$/,
        response: (body) => ({
          recipients: (body['recipients'] as RecipientRecord[]).map((record, index) =>
            index === 1 ? { ...record, readiness: 'eligibility_pending' } : record,
          ),
        }),
      },
    ]);
    await expectRefusal(/recipients\[1\].*eligibility_pending/);
    proxy.setLies([]);
    await expectRefusal(/newer sign-in evidence/);
  });

  it.each<[string, (chain: Json) => Json]>([
    ['pool', (chain) => ({ ...chain, pool: chain['registry'] })],
    ['registry', (chain) => ({ ...chain, registry: chain['pool'] })],
    ['chain id', (chain) => ({ ...chain, chainId: 1 })],
    ['USDC', (chain) => ({ ...chain, tokens: { USDC: chain['pool'], USDT: chain['pool'] } })],
  ])(
    'refuses the chain as invalid-chain when the platform vends another %s [error.invalid-chain-pool]',
    async (what, change) => {
      proxy.setLies([
        {
          path: /\/agent-edge\/bootstrap$/,
          response: (body) => {
            const chains = body['chains'] as Record<string, Json>;
            return { ...body, chains: { anvil: change(chains['anvil'] ?? {}) } };
          },
        },
      ]);
      const name = `misled-${what.replace(' ', '-')}`;
      const misled = await stack.startAgent({ name, platformUrl: proxy.url });
      const answer = await clientOf(misled).disburse('misled', stack.createRequest({ 1: 5n }));
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe('invalid-chain');
      expect(answer.body.message).toContain(what);
      await misled.process.stop();
    },
  );

  it('pays exactly what the funder signed, for every change by the relayer [service.dual-signature]', async () => {
    const captured: SettlementRequest[] = [];
    proxy.setLies([
      {
        path: /\/agent-edge\/settlements$/,
        method: 'POST',
        request: (body) => {
          captured.push(body as unknown as SettlementRequest);
          // The platform does not get the settlement.
          return { ...body, chain: 'withheld' };
        },
      },
    ]);
    await client.disburse('captured', stack.createRequest({ 1: 5n, 2: 6n }));
    await expect.poll(() => captured.length, { interval: 200 }).toBeGreaterThan(0);
    const settlement = captured[0]!;

    const provider = new JsonRpcProvider(stack.rpcUrl, undefined, { cacheTimeout: -1 });
    const relayer = new Wallet(deriveRoleKey('relayer').reveal(), provider);
    const pool = connectShieldedPool(stack.place.contracts.pool, relayer);
    const honest = { ...settlement.batch, total: 11n, deadline: BigInt(settlement.batch.deadline) };
    const { permit } = settlement;
    const permitArgument =
      permit === undefined
        ? noPermit
        : { ...permit, value: BigInt(permit.value), deadline: BigInt(permit.deadline) };
    const call = (batch: FundBatch) =>
      [batch, decodeProof(settlement.proof), settlement.funderSignature, permitArgument] as const;
    const codeOf = async (change: Partial<FundBatch>): Promise<string> => {
      try {
        await pool.fund.staticCall(...call({ ...honest, ...change }));
        return 'accepted';
      } catch (error) {
        return decodeRevert(error).code;
      }
    };

    const [first, second, ...others] = honest.commitments;
    const refusedProof = 'invalid-proof';
    const refusedSignature = 'invalid-funder-signature';
    expect(await codeOf({})).toBe('accepted');
    expect(await codeOf({ commitments: [second!, first!, ...others] })).toBe(refusedProof);
    expect(await codeOf({ commitments: [first!, first!, ...others] })).toBe(refusedProof);
    expect(await codeOf({ eligibilityRoot: first! })).toBe('eligibility-root-not-accepted');
    expect(await codeOf({ total: 10n })).toBe(refusedSignature);
    expect(await codeOf({ sealedNotesHash: first! })).toBe(refusedSignature);
    expect(await codeOf({ batchRoot: first! })).toBe(refusedSignature);
    expect(await codeOf({ batchNonce: first! })).toBe(refusedSignature);
    expect(await codeOf({ deadline: honest.deadline + 1n })).toBe(refusedSignature);
    expect(await codeOf({ funder: stack.holders[0]!.address })).toBe(refusedSignature);

    // Another sender lands the same authorisation, and the job ends with that transaction.
    const receipt = await (await pool.fund(...call(honest))).wait();
    provider.destroy();
    const job = await client.waitForJob('captured');
    expect(job).toMatchObject({ state: 'done', result: { status: 'completed' } });
    expect(job.result?.batches[0]?.txHash).toBe(receipt?.hash);
    expect(await countFundedBatches(stack.place)).toBe(1);
  });
});

function decodeProof({ a, b, c }: SolidityProof) {
  const point = ([x, y]: readonly [string, string]) => [BigInt(x), BigInt(y)] as const;
  return { a: point(a), b: [point(b[0]), point(b[1])] as const, c: point(c) };
}
