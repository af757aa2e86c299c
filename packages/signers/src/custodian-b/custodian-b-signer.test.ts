// What the conformance suite does not ask: content that is not ours, lost answers, the gate's turn, and contract calls.
import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { PoolError, Secret } from '@pool/core';
import type { CustodianBConfig } from '@pool/custodians/custodian-b';
import { createSignRequest } from '@pool/policy';
import { keccak256, Transaction } from 'ethers';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CustodianBStage,
  type CustodianBStageOptions,
  openCustodianB,
} from '../fixtures/conformance/custodian-b-harness.ts';
import { startFakeNode } from '../fixtures/fake-node.ts';
import { fundFile } from '../fixtures/manifest-files.ts';
import {
  approval,
  chainId,
  expected,
  funder,
  requests,
  serializeUnsigned,
  signInAtMs,
  stranger,
  token,
} from '../fixtures/requests.ts';
import type { Outcome, Progress } from '../signer.ts';
import { type CustodianBSignerOptions, createCustodianBSigner } from './custodian-b-signer.ts';
import { createCustodianBClient } from './custodian-client.ts';
import { createTransactionBody, type SupportedRequest } from './transaction-body.ts';

const { fund, void: withdrawal, approval: approve } = requests;

async function open(
  overrides: Partial<CustodianBConfig> = {},
  options: CustodianBStageOptions = {},
): Promise<CustodianBStage> {
  const stage = await openCustodianB(overrides, options);
  onTestFinished(stage.close);
  return stage;
}

function createSigner(stage: CustodianBStage, overrides: Partial<CustodianBSignerOptions> = {}) {
  return createCustodianBSigner({ ...stage.options, ...overrides });
}

function idOf(step: Progress | Outcome | undefined): string {
  return step?.providerId ?? '';
}

/** Creates a transaction past the adapter, as a stranger with the agent's credentials could. */
async function createDirectly(stage: CustodianBStage, body: object): Promise<string> {
  const answer = await createCustodianBClient(stage.options).post('/v1/transactions', {
    body: JSON.stringify(body),
  });
  return (answer.body as { id: string }).id;
}

describe('custodian B, a transaction with our id', () => {
  const other: SupportedRequest = {
    ...fund,
    payload: {
      ...fund.payload,
      authorization: { ...fund.payload.authorization, total: 5_000_001n },
    },
  };

  it('and another document is not adopted, and no second one is made', async () => {
    const stage = await open();
    await createDirectly(
      stage,
      createTransactionBody(other, { vaultAccountId: '0', assetId: stage.options.assetId }),
    );
    for (const step of [
      await createSigner(stage).submit(fund),
      await createSigner(stage).find(fund),
    ]) {
      expect(step).toMatchObject({
        state: 'failed',
        retryable: false,
        code: 'custodian_invalid_response',
      });
    }
    expect(stage.countCreates()).toBe(1);
    await stage.decide('APPROVE');
    expect(await createSigner(stage).submit(fund)).toMatchObject({ state: 'failed' });
  });

  it('that another process made at the same moment is adopted', async () => {
    const stage = await open();
    const steps = await Promise.all([
      createSigner(stage).submit(fund),
      createSigner(stage).submit(fund),
    ]);
    expect(new Set(steps.map(idOf)).size).toBe(1);
    expect(stage.custodian.control.transactions()).toHaveLength(1);
    await stage.decide('APPROVE');
    expect(await createSigner(stage).read(idOf(steps[0]), fund)).toMatchObject({ state: 'signed' });
  });

  it('that was made between the look and the create is adopted, although the create answers 400', async () => {
    const stage = await open();
    const place = { vaultAccountId: '0', assetId: stage.options.assetId };
    let made: string | undefined;
    const signer = createSigner(stage, {
      fetch: async (url, init) => {
        if (init.method === 'POST') {
          made ??= await createDirectly(stage, createTransactionBody(fund, place));
        }
        return await fetch(url, init);
      },
    });
    expect(await signer.submit(fund)).toEqual({ state: 'awaiting-approval', providerId: made });
    expect(stage.custodian.control.requests().map(({ status }) => status)).toContain(400);
  });

  it('is not read under the id of another request', async () => {
    const stage = await open();
    const step = await createSigner(stage).submit(fund);
    expect(await createSigner(stage).read(idOf(step), withdrawal)).toMatchObject({
      state: 'failed',
      code: 'custodian_invalid_response',
    });
  });
});

describe('custodian B, a create that', () => {
  it('may have been accepted and is not shown is looked up for a minute, and then repeated', async () => {
    let nowMs = signInAtMs;
    const stage = await open({}, { nowMs: () => nowMs });
    const { control } = stage.custodian;
    const signer = createSigner(stage);
    control.fault({ kind: 'http', effect: 'error', when: 'before' });
    const unknown = { state: 'failed', retryable: true, code: 'custodian_outcome_unknown' };
    expect(await signer.submit(fund)).toMatchObject(unknown);
    expect(await signer.submit(fund)).toMatchObject(unknown);
    expect(stage.countCreates()).toBe(1);
    nowMs += 60_000;
    expect(await signer.submit(fund)).toMatchObject({ state: 'awaiting-approval' });
    expect(stage.countCreates()).toBe(2);
    expect(control.transactions()).toHaveLength(1);
  });

  it('is refused is not sent again, and the answer is repeated without the credentials', async () => {
    const stage = await open();
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const foreignSecret = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const signer = createSigner(stage, { apiSecret: new Secret(foreignSecret) });
    const step = await signer.submit(fund);
    expect(step).toMatchObject({ state: 'failed', retryable: true, code: 'custodian_refused' });
    expect(stage.countCreates()).toBe(0);
    expect(inspect([signer, step], { depth: 9, showHidden: true })).not.toContain(
      stage.options.apiKey.reveal(),
    );
  });

  it('is refused with an answer that repeats the credentials shows none of them', async () => {
    const stage = await open();
    const signer = createSigner(stage, {
      fetch: async (_url, { headers }) =>
        Response.json({ message: JSON.stringify([...new Headers(headers)]) }, { status: 403 }),
    });
    const step = await signer.submit(fund);
    expect(step).toMatchObject({
      code: 'custodian_refused',
      message: expect.stringContaining('[redacted]'),
    });
    expect(inspect(step)).not.toMatch(/eyJ/);
    const echo = createSigner(stage, {
      fetch: async () =>
        Response.json({ message: `no user ${stage.options.apiKey.reveal()}` }, { status: 403 }),
    });
    expect(await echo.submit(fund)).toMatchObject({
      message: 'the custodian did not accept the vault account: HTTP 403: no user [redacted]',
    });
  });

  it('is accepted keeps its id if the next read fails', async () => {
    const stage = await open();
    stage.custodian.control.fault({ kind: 'http', on: 'read', effect: 'error', when: 'before' });
    const step = await createSigner(stage).submit(fund);
    expect(step).toMatchObject({ state: 'submitted', providerId: expect.stringMatching(/-/) });
  });

  it('carries the id of the content as its idempotency key', async () => {
    const stage = await open();
    await createSigner(stage).submit(fund);
    const [create] = stage.custodian.control
      .requests()
      .filter(({ method, uri }) => method === 'POST' && uri === '/v1/transactions');
    expect(create?.idempotencyKey).toBe(fund.externalId);
  });
});

describe('custodian B and the approve process', () => {
  const withFile = createSignRequest({ ...fund, file: fundFile });

  it('the manifest is passed before the custodian is asked', async () => {
    const stage = await open();
    const seen: unknown[] = [];
    const approver = {
      postManifest: async (file: unknown) => {
        seen.push(file, stage.custodian.control.requests().length);
      },
    };
    const step = await createSigner(stage, { approver }).submit(withFile);
    expect(step).toMatchObject({ state: 'awaiting-approval' });
    expect(seen).toEqual([fundFile, 0]);
  });

  it('without a stored manifest nothing is asked', async () => {
    const stage = await open();
    const approver = {
      postManifest: () =>
        Promise.reject(
          new PoolError('approver_unreachable', 'the approve process does not answer'),
        ),
    };
    expect(await createSigner(stage, { approver }).submit(withFile)).toMatchObject({
      state: 'failed',
      retryable: true,
      code: 'approver_unreachable',
    });
    expect(
      stage.custodian.control.requests().filter(({ method }) => method === 'POST'),
    ).toHaveLength(0);
  });

  it('a request that nobody decides expires', async () => {
    const stage = await open({ retry: { intervalMs: 0, times: 0 } });
    const signer = createSigner(stage);
    const id = idOf(await signer.submit(fund));
    await expect
      .poll(() => signer.read(id, fund), { interval: 1 })
      .toEqual({
        state: 'expired',
        providerId: id,
      });
  });
});

describe('custodian B, the end of a transaction', () => {
  it.each([
    ['FAILED', 'SIGNING_ERROR', { state: 'failed', retryable: false, code: 'custodian_failed' }],
    ['FAILED', 'TIMEOUT', { state: 'expired' }],
    ['TIMEOUT', '', { state: 'expired' }],
    ['BLOCKED', 'BLOCKED_BY_POLICY', { state: 'refused', reason: 'denied' }],
    ['CANCELLED', 'CANCELLED_BY_USER', { state: 'refused', reason: 'denied' }],
  ])('%s %s', async (status, subStatus, outcome) => {
    const stage = await open();
    const signer = createSigner(stage);
    const id = idOf(await signer.submit(fund));
    stage.custodian.control.setStatus(id, status, subStatus);
    expect(await signer.read(id, fund)).toMatchObject({ ...outcome, providerId: id });
  });

  it('is not a status that this version does not know', async () => {
    const stage = await open();
    const signer = createSigner(stage);
    const id = idOf(await signer.submit(fund));
    stage.custodian.control.fault({ kind: 'status', status: 'PENDING_QUANTUM_REVIEW' });
    expect(await signer.read(id, fund)).toEqual({ state: 'signing', providerId: id });
  });
});

describe('custodian B, a token approval', () => {
  async function openCall() {
    const node = await startFakeNode();
    onTestFinished(node.close);
    const stage = await open({
      chains: { ETH_TEST5: { rpcUrl: node.url, chainId } },
      receiptPollMs: 1,
    });
    return { stage, node, signer: createSigner(stage, { assetChainId: chainId }) };
  }

  it('ends as the transaction that the custodian sent', async () => {
    const { stage, node, signer } = await openCall();
    const step = await signer.submit(approve);
    expect(step).toMatchObject({ state: 'awaiting-approval' });
    node.mine();
    await stage.decide('APPROVE');
    const [raw = ''] = node.sent;
    expect(await signer.read(idOf(step), approve)).toEqual({
      state: 'sent',
      providerId: idOf(step),
      txHash: keccak256(raw),
    });
    const { to, data, value, from } = Transaction.from(raw);
    expect({ to, data, value, from }).toEqual({
      to: token,
      data: approval.data,
      value: 0n,
      from: funder,
    });
    expect(await createSigner(stage, { assetChainId: chainId }).submit(approve)).toMatchObject({
      state: 'sent',
    });
    expect(stage.countCreates()).toBe(1);
  });

  it('is signed only for the chain of the asset', async () => {
    const { stage } = await openCall();
    const elsewhere = createSignRequest({
      ...approve,
      payload: {
        unsignedTransaction: serializeUnsigned({ chainId: 1 }),
        expected: { ...expected, chainId: 1 },
      },
    });
    for (const [signer, request, reason] of [
      [createSigner(stage), approve, 'kind-not-allowed'],
      [createSigner(stage, { assetChainId: chainId }), elsewhere, 'foreign-chain'],
    ] as const) {
      expect(await signer.submit(request)).toMatchObject({ state: 'refused', reason });
    }
    expect(stage.custodian.control.requests()).toHaveLength(0);
  });

  it.each<[string, (body: Record<string, unknown>) => object]>([
    [
      'another amount',
      (body) => ({
        ...body,
        extraParameters: { contractCallData: `${approval.data.slice(0, -1)}f` },
      }),
    ],
    [
      'another token',
      (body) => ({
        ...body,
        destination: { type: 'ONE_TIME_ADDRESS', oneTimeAddress: { address: funder } },
      }),
    ],
  ])('with %s under our id does not count as sent', async (_what, change) => {
    const { stage, node, signer } = await openCall();
    const body = createTransactionBody(approve, { vaultAccountId: '0', assetId: 'ETH_TEST5' });
    const id = await createDirectly(stage, change(body));
    node.mine();
    await stage.decide('APPROVE');
    expect(node.sent).toHaveLength(1);
    expect(await signer.read(id, approve)).toMatchObject({
      state: 'failed',
      code: 'custodian_invalid_response',
    });
  });
});

describe('custodian B, the configuration', () => {
  const { privateKey: ecKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { privateKey: shortKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });

  it.each([
    ['text', 'canary-secret'],
    ['an elliptic curve key', ecKey.export({ type: 'pkcs8', format: 'pem' }) as string],
    ['a short RSA key', shortKey.export({ type: 'pkcs8', format: 'pem' }) as string],
  ])('refuses %s as API secret, without repeating it', (_what, pem) => {
    let error: unknown;
    try {
      createCustodianBClient({
        url: 'https://api.custody.example',
        apiKey: new Secret('key'),
        apiSecret: new Secret(pem),
      });
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: 'invalid_configuration' });
    expect(inspect(error)).not.toContain(pem.split('\n')[1] ?? 'canary');
  });

  it('can be probed by a user that may only create and read transactions', async () => {
    const stage = await open({}, { role: 'EDITOR' });
    const signer = createSigner(stage);
    await signer.probe?.();
    await expect(signer.publicKey()).rejects.toMatchObject({ code: 'custodian_refused' });
    await expect(createSigner(stage, { address: stranger }).probe?.()).rejects.toMatchObject({
      code: 'custodian_misconfigured',
    });
    expect(await signer.submit(fund)).toMatchObject({ state: 'awaiting-approval' });
  });

  it.each([
    ['an account that the custodian lacks', { vaultAccountId: '7' }],
    ['an asset that the account lacks', { assetId: 'BTC' }],
  ])('names %s, and nothing is asked', async (_what, overrides) => {
    const stage = await open();
    expect(await createSigner(stage, overrides).submit(fund)).toMatchObject({
      state: 'refused',
      reason: 'foreign-signer',
      message: expect.stringContaining('correct the vault account'),
    });
    expect(stage.countCreates()).toBe(0);
  });
});
