import { type ManifestFile, PoolError } from '@pool/core';
import { createSampleOrganisation } from '@pool/custodians/custodian-a';
import { createSignRequest, type SignRequest } from '@pool/policy';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CustodianAStage,
  funderWalletId,
  openCustodianA,
} from '../fixtures/conformance/custodian-a-harness.ts';
import { fundFile } from '../fixtures/manifest-files.ts';
import { privateKey, requests, signInAtMs } from '../fixtures/requests.ts';
import { type CustodianASignerOptions, createCustodianASigner } from './custodian-a-signer.ts';

let stage: CustodianAStage;
let nowMs = signInAtMs;

beforeAll(async () => {
  stage = await openCustodianA({
    [funderWalletId]: privateKey,
    'wa-other': `0x${'44'.repeat(32)}`,
  });
});
beforeEach(() => {
  stage.served.control.reset();
  nowMs = signInAtMs;
});
afterAll(() => stage.served.close());

function signerOf(change: Partial<CustodianASignerOptions> = {}) {
  return createCustodianASigner({ ...stage.options, nowMs: () => nowMs, ...change });
}

function requestsSeen(path: string): number {
  return stage.served.control.requests({ path }).length;
}

/** A network that changes single answers on their way. */
function through(change: (input: string, answer: Response) => Response | Promise<Response>) {
  return {
    fetch: async (input: string, init: RequestInit) => change(input, await fetch(input, init)),
  };
}

function hideList(input: string, answer: Response): Response {
  return /signatures\?/.test(input) ? Response.json({ items: [] }) : answer;
}

const otherKey = new Wallet(`0x${'45'.repeat(32)}`).signingKey.compressedPublicKey.slice(2);
const day = 24 * 3_600_000;
const unknown = { state: 'failed', retryable: true, code: 'custodian_outcome_unknown' };

describe('the approve process', () => {
  const { externalId: _, ...fund } = requests.fund;
  const withFile = createSignRequest({ ...fund, file: fundFile });

  it('gets the manifest file before the custodian is asked, at each submit', async () => {
    const posted: { file: ManifestFile; asked: number }[] = [];
    const approver = {
      postManifest: async (file: ManifestFile) => {
        posted.push({ file, asked: requestsSeen('') });
      },
    };
    const signer = signerOf({ approver });
    await signer.submit(withFile);
    expect(posted).toEqual([{ file: fundFile, asked: 0 }]);
    await signer.submit(withFile);
    expect(posted).toHaveLength(2);
    expect(stage.countCreates()).toBe(1);
  });

  it('is not called for a request without a file', async () => {
    const approver = { postManifest: () => Promise.reject(new Error('called')) };
    expect(await signerOf({ approver }).submit(requests.signIn)).toMatchObject({
      state: 'awaiting-approval',
    });
  });

  it('keeps the request from the custodian if it does not take the file', async () => {
    const approver = {
      postManifest: () => Promise.reject(new PoolError('approver_refused', 'the gate is locked')),
    };
    expect(await signerOf({ approver }).submit(withFile)).toEqual({
      state: 'failed',
      retryable: true,
      code: 'approver_refused',
      message: 'the gate is locked',
    });
    expect(stage.countCreates()).toBe(0);
  });

  it('ends a call that is aborted meanwhile', async () => {
    const controller = new AbortController();
    const approver = {
      postManifest: (_file: ManifestFile, signal?: AbortSignal) => {
        controller.abort(new Error('stop'));
        return Promise.reject(signal?.reason as Error);
      },
    };
    const { signal } = controller;
    await expect(signerOf({ approver }).submit(withFile, { signal })).rejects.toThrow('stop');
  });
});

describe('a request whose answer is lost', () => {
  function loseBefore(status: number): void {
    stage.served.control.addFault({
      method: 'POST',
      path: '/signatures$',
      kind: 'error-before',
      status,
    });
  }

  it.each([502, 408])(
    'is not sent again until the custodian had a minute to show it (HTTP %i)',
    async (status) => {
      loseBefore(status);
      const signer = signerOf();
      expect(await signer.submit(requests.fund)).toMatchObject(unknown);
      nowMs += 59_000;
      expect(await signer.submit(requests.fund)).toMatchObject(unknown);
      expect(stage.countCreates()).toBe(1);
      nowMs += 1_000;
      expect(await signer.submit(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
      expect(stage.countCreates()).toBe(2);
      expect(stage.served.control.state.signatures).toHaveLength(1);
    },
  );

  it('is adopted as soon as the list shows it', async () => {
    let isHidden = true;
    const signer = signerOf(
      through((input, answer) => (isHidden ? hideList(input, answer) : answer)),
    );
    stage.served.control.addFault({ method: 'POST', path: '/signatures$', kind: 'drop-after' });
    expect(await signer.submit(requests.fund)).toMatchObject(unknown);
    expect(await signer.submit(requests.fund)).toMatchObject(unknown);
    isHidden = false;
    expect(await signer.submit(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
    expect(stage.countCreates()).toBe(1);
  });

  it.each([400, 403, 429])('was not accepted if the answer is HTTP %i', async (status) => {
    loseBefore(status);
    const signer = signerOf();
    const outcome = await signer.submit(requests.fund);
    expect(outcome).toMatchObject({ state: 'failed', retryable: status !== 400 });
    expect(await signer.submit(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
  });

  it('was not accepted if only the user action failed', async () => {
    stage.served.control.addFault({ path: '/auth/action$', kind: 'drop-after' });
    const signer = signerOf();
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'failed',
      retryable: true,
      code: 'custodian_unreachable',
    });
    expect(await signer.submit(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
    expect(stage.countCreates()).toBe(1);
  });

  it('is found on a later page of the list', async () => {
    const signer = signerOf();
    await signer.submit(requests.fund);
    const { state } = stage.served.control;
    const [record] = state.signatures;
    for (let index = 0; record !== undefined && index < 100; index += 1) {
      const body = { ...record.body, externalId: `other-${index}` };
      state.signatures.push({ ...record, id: `sig-00000-other-${index}`, body });
    }
    expect(await signer.find(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
    expect(requestsSeen('paginationToken=')).toBe(1);
    expect(await signer.find(requests.permit)).toBeUndefined();
    expect(requestsSeen('paginationToken=')).toBe(2);
    // What is on the first page is too old to be followed by a request that still matters.
    nowMs = Date.now() + 46 * day;
    expect(await signer.find(requests.permit)).toBeUndefined();
    expect(requestsSeen('paginationToken=')).toBe(2);
  });
});

describe('a request with the id of another one', () => {
  it('is adopted if the custodian shows exactly our body under the id', async () => {
    const signer = signerOf(
      // The list does not show it, and the custodian calls the repetition a conflict.
      through(async (input, answer) => {
        const isRepeated = /signatures$/.test(input) && stage.countCreates() === 2;
        const { id } = isRepeated ? ((await answer.clone().json()) as { id: string }) : { id: '' };
        const error = { status: 409, message: 'conflict', details: { duplicate: { id } } };
        return isRepeated ? Response.json({ error }, { status: 409 }) : hideList(input, answer);
      }),
    );
    const first = await signer.submit(requests.fund);
    expect(await signer.submit(requests.fund)).toEqual(first);
    expect(stage.served.control.state.signatures).toHaveLength(1);
  });

  it('fails if the body under the id is another one', async () => {
    const signer = signerOf();
    await signer.submit(requests.fund);
    const [record] = stage.served.control.state.signatures;
    if (record?.body.kind === 'Eip712') {
      Object.assign(record.body.message, { total: '5000001' });
    }
    const foreign = { state: 'failed', retryable: false, code: 'custodian_invalid_response' };
    expect(await signer.submit(requests.fund)).toMatchObject(foreign);
    // The list does not show it: the custodian itself reports the conflict.
    expect(await signerOf(through(hideList)).submit(requests.fund)).toMatchObject(foreign);
    expect(stage.countCreates()).toBe(2);
    stage.vote('Approved');
    expect(await signer.find(requests.fund)).toMatchObject(foreign);
  });

  it('fails if the id is that of a request on another wallet', async () => {
    const signer = signerOf();
    await signer.submit(requests.fund);
    const [record] = stage.served.control.state.signatures;
    if (record !== undefined) {
      Object.assign(record, { walletId: 'wa-other' });
    }
    expect(await signer.submit(requests.fund)).toMatchObject({
      state: 'failed',
      retryable: false,
      code: 'custodian_invalid_response',
    });
  });
});

describe('the states of a request', () => {
  async function stateAfter(
    change: (text: string) => string,
    request: SignRequest = requests.fund,
  ) {
    const signer = signerOf(
      through(async (input, answer) =>
        /signatures\/sig/.test(input) ? new Response(change(await answer.text())) : answer,
      ),
    );
    const step = await signer.submit(request);
    return signer.read(step.providerId ?? '', request);
  }

  it('ends as expired if the custodian rejected it by its time-out', async () => {
    const signer = signerOf(
      through(async (input, answer) =>
        /policy-approvals/.test(input)
          ? new Response((await answer.text()).replace('"Expired"', '"AutoRejected"'))
          : answer,
      ),
    );
    const step = await signer.submit(requests.fund);
    stage.expire();
    expect(await signer.read(step.providerId ?? '', requests.fund)).toMatchObject({
      state: 'expired',
    });
  });

  it('is ours if the custodian adds the family of the chain to the body, and nothing else', async () => {
    const add = (field: string) => (text: string) =>
      text.replace('"kind":"Eip712"', `"kind":"Eip712",${field}`);
    const waiting = await stateAfter(add('"blockchainKind":"Evm"'));
    expect(waiting).toMatchObject({ state: 'awaiting-approval' });
    for (const field of ['"blockchainKind":"Solana"', '"kind2":"Hash"']) {
      expect(await stateAfter(add(field))).toMatchObject({ state: 'failed' });
    }
  });

  it('fails if the request is on another wallet', async () => {
    const outcome = await stateAfter((text) => text.replace(funderWalletId, 'wa-other'));
    expect(outcome).toMatchObject({ state: 'failed', code: 'custodian_invalid_response' });
  });

  it('waits while the custodian shows a state that this version does not know', async () => {
    const outcome = await stateAfter((text) => text.replace('"Pending"', '"Queued"'));
    expect(outcome).toMatchObject({ state: 'signing' });
  });

  it('fails if a signed request shows no signature', async () => {
    const outcome = await stateAfter((text) => text.replace('"Pending"', '"Signed"'));
    expect(outcome).toMatchObject({ state: 'failed', code: 'custodian_invalid_response' });
  });

  it('fails if the answer has another form', async () => {
    const outcome = await stateAfter(() => '{"id": 7}');
    expect(outcome).toMatchObject({
      state: 'failed',
      code: 'custodian_invalid_response',
      providerId: expect.stringMatching(/^sig-/),
    });
  });

  it('is refused if a policy of the custodian blocks the wallet', async () => {
    const { control } = stage.served;
    const [policy] = control.state.policies;
    if (policy !== undefined) {
      control.replacePolicies([{ ...policy, action: { kind: 'Block' } }]);
    }
    expect(await signerOf().submit(requests.fund)).toMatchObject({
      state: 'refused',
      reason: 'denied',
      message: 'the request was denied at the custodian: A policy blocks this activity.',
    });
  });

  it('gives the reason of the vote in a refusal, cleaned', async () => {
    const signer = signerOf();
    const step = await signer.submit(requests.fund);
    const { control } = stage.served;
    const { id } = control.state.approvals[0] ?? { id: '' };
    control.vote(id, stage.organisation.approver.userId, 'Denied', 'over\u001b[31m the\nlimit');
    expect(await signer.read(step.providerId ?? '', requests.fund)).toMatchObject({
      message: 'the request was denied at the custodian: over [31m the limit',
    });
  });

  it('withdraws nothing that somebody has decided meanwhile', async () => {
    const signer = signerOf();
    const step = await signer.submit(requests.fund);
    const late = signerOf(
      through((input, answer) => {
        // The vote arrives between our look at the request and our denial.
        if (/signatures\/sig/.test(input)) {
          stage.vote('Approved');
        }
        return answer;
      }),
    );
    expect(await late.withdraw?.(step.providerId ?? '', requests.fund)).toMatchObject({
      state: 'signing',
    });
    expect(await signer.read(step.providerId ?? '', requests.fund)).toMatchObject({
      state: 'signed',
    });
  });
});

describe('a sign-in that waits for hours', () => {
  it('is read and found after its date is no longer near', async () => {
    const step = await signerOf().submit(requests.signIn);
    nowMs += 3_600_000;
    const restarted = signerOf();
    expect(await restarted.submit(requests.signIn)).toEqual(step);
    stage.vote('Approved');
    await restarted.find(requests.signIn);
    expect(await restarted.find(requests.signIn)).toMatchObject({ state: 'signed' });
    expect(stage.countCreates()).toBe(1);
  });

  it('is refused if it was not sent while its date was near', async () => {
    nowMs += 3_600_000;
    expect(await signerOf().submit(requests.signIn)).toMatchObject({
      state: 'refused',
      reason: 'stale-sign-in',
    });
    expect(stage.countCreates()).toBe(0);
  });
});

describe('the account at the custodian', () => {
  it('may have a key of P-256', async () => {
    const organisation = createSampleOrganisation(
      { [funderWalletId]: privateKey },
      { credentialCurve: 'p256' },
    );
    const p256 = await openCustodianA({ [funderWalletId]: privateKey }, organisation);
    try {
      const signer = createCustodianASigner(p256.options);
      expect(await signer.submit(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
    } finally {
      await p256.served.close();
    }
  });

  it.each([
    ['another key', { signingKey: { curve: 'secp256k1', publicKey: otherKey } }],
    ['another address', { address: '0x00000000000000000000000000000000000000aa' }],
    ['another id', { id: 'wa-other' }],
  ])('is refused if it shows the wallet with %s', async (_name, change) => {
    const signer = signerOf(
      through(async (input, answer) =>
        /wallets\/[^/]*$/.test(input)
          ? Response.json({ ...((await answer.json()) as object), ...change })
          : answer,
      ),
    );
    const refused = { state: 'refused', reason: 'foreign-signer' };
    expect(await signer.submit(requests.fund)).toMatchObject(refused);
    await expect(signer.publicKey()).rejects.toMatchObject({ code: 'custodian_misconfigured' });
    expect(stage.countCreates()).toBe(0);
  });

  it('fails in a way that can be repeated while its token is refused, and does not show it', async () => {
    const { userId, token } = stage.organisation.initiator;
    stage.served.control.changeAccount(userId, { isActive: false });
    const outcome = await signerOf().submit(requests.fund);
    expect(outcome).toMatchObject({ state: 'failed', retryable: true, code: 'custodian_refused' });
    expect(JSON.stringify(outcome)).not.toContain(token);
  });

  it('needs no answer of a custodian that is down', async () => {
    const signer = signerOf({ url: 'http://127.0.0.1:1' });
    expect(await signer.address()).toBe(stage.options.address);
    expect(await signer.find(requests.fund)).toMatchObject({
      state: 'failed',
      retryable: true,
      code: 'custodian_unreachable',
    });
  });
});

it('finds its request beside foreign ones of more than 1 MiB and of another form', async () => {
  await signerOf().submit(requests.fund);
  const foreign = [{ id: 'big', requestBody: 'x'.repeat(2 * 1024 * 1024) }, { id: 7 }, null];
  const crowded = through(async (input, answer) => {
    if (!/signatures\?/.test(input)) {
      return answer;
    }
    const { items } = (await answer.json()) as { readonly items: readonly unknown[] };
    return Response.json({ items: [...foreign, ...items] });
  });
  expect(await signerOf(crowded).find(requests.fund)).toMatchObject({ state: 'awaiting-approval' });
});
