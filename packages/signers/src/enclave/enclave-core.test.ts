// A compromised agent against the enclave, over its real socket: the agent has the socket, the manifests and every request that it likes,
// and no adapter checks anything for it. Nothing here may be signed unless the enclave's own policy allows it.
import {
  disclosureSchema,
  type Hex32,
  hexToBytes,
  parseHex32,
  parseWire,
  Secret,
} from '@pool/core';
import {
  computeRequestDigest,
  createSignRequest,
  lintPolicy,
  openLedger,
  parsePolicy,
  type SignRequest,
} from '@pool/policy';
import { recoverAddress } from 'ethers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/disclosure.json' with { type: 'json' };
import example from '../../deploy/enclave-policy.example.json' with { type: 'json' };
import {
  approvalOf,
  computeRootWithDummyValue,
  foreignKey,
  makeFundFile,
  makePolicy,
  makeSpendFile,
  nowMs,
  nowSeconds,
  ownKey,
  payee,
  permitOf,
  rebuildFund,
  requestFor,
  type SpendChanges,
  signEvidence,
} from '../fixtures/enclave-files.ts';
import { createEnclaveOfEachRole } from '../fixtures/enclave-roles.ts';
import { createStage, root, type Stage } from '../fixtures/fake-enclave.ts';
import {
  chainId,
  funder,
  listKey,
  pool,
  privateKey,
  requests,
  signInText,
  stranger,
  wallet,
} from '../fixtures/requests.ts';
import { createMemoryKey } from '../signing-key.ts';
import { createDevelopmentAttester } from './attester.ts';
import { createEnclaveConnection, type EnclaveConnection } from './enclave-connection.ts';
import { createEnclave } from './enclave-core.ts';
import { type SignAnswer, signAnswerSchema } from './messages.ts';
import { serializeSignRequest } from './wire-request.ts';

let stage: Stage;
let connection: EnclaveConnection;
let clockMs: number;

beforeEach(async () => {
  stage = createStage();
  clockMs = nowMs;
  await start();
  // An agent that was taken over attests nothing.
  connection = createEnclaveConnection({
    socketPath: stage.socketPath,
    timeoutMs: 10_000,
    attest: async () => undefined,
  });
});

afterEach(async () => {
  connection.close();
  await stage.close();
});

async function start(policy = makePolicy(), create = createEnclaveOfEachRole): Promise<void> {
  const now = (): number => clockMs;
  await stage.serve(
    create({
      key: createMemoryKey(new Secret(hexToBytes(privateKey, 32))),
      policy,
      ledger: openLedger({ path: ':memory:', role: 'voter' }),
      attester: createDevelopmentAttester(root, now),
      nowMs: now,
    }),
  );
}

function ask(request: SignRequest | Readonly<Record<string, unknown>>): Promise<SignAnswer> {
  const wire = serializeSignRequest(request as SignRequest);
  return connection.call({ method: 'sign', request: wire }, signAnswerSchema);
}

async function expectSigned(request: SignRequest): Promise<string> {
  const answer = await ask(request);
  if (answer.state !== 'signed') {
    throw new Error(`expected a signature, and got ${answer.reason}`);
  }
  expect(recoverAddress(computeRequestDigest(request), answer.signature)).toBe(funder);
  return answer.signature;
}

async function expectRefused(
  request: SignRequest | Readonly<Record<string, unknown>>,
  reason: string,
): Promise<void> {
  expect(await ask(request)).toMatchObject({ state: 'refused', reason });
}

/** A batch's request with some of its authorisation replaced, and the id that belongs to it. */
function forge(
  file: ReturnType<typeof makeFundFile>,
  change: Partial<(typeof requests.fund)['payload']['authorization']>,
): SignRequest {
  const request = requestFor(file);
  if (request.kind !== 'fund-authorization') {
    throw new Error('not a batch');
  }
  const authorization = { ...request.payload.authorization, ...change };
  return createSignRequest({ ...request, payload: { ...request.payload, authorization } });
}

describe('what the enclave signs', () => {
  it('is a batch that it rebuilt, again and again with one signature', async () => {
    const request = requestFor(makeFundFile());
    expect(await expectSigned(request)).toBe(await expectSigned(request));
  });

  it('is the withdrawal, permit and token approval of a batch that it stored', async () => {
    const file = makeFundFile();
    await expectSigned(requestFor(file));
    const { batchNonce, total } = rebuildFund(file);
    const payload = { chainId, pool, funder, batchNonce };
    await expectSigned(createSignRequest({ kind: 'void', expectedSigner: funder, payload }));
    await expectSigned(permitOf(file, {}));
    await expectSigned(approvalOf(file, { value: total }));
    await expectSigned(approvalOf(file, { value: 0n }));
  });

  it('is a spend whose change is its own', async () => {
    const request = requestFor(makeSpendFile());
    expect(await expectSigned(request)).toBe(await expectSigned(request));
  });

  it('is a sign-in text with its own P, one without P, and the text of its viewing key', async () => {
    const payload = { message: listKey(ownKey), expected: requests.signIn.payload.expected };
    await expectSigned(createSignRequest({ kind: 'sign-in', expectedSigner: funder, payload }));
    await start();
    await expectSigned(requests.signIn);
    expect(await expectSigned(requests.viewingKey)).toBe(await expectSigned(requests.viewingKey));
  });
});

describe('a compromised agent gets no signature', () => {
  const other = '0x5FC8d32690cc91D4c39d9d3abcBD16989F875707' as typeof pool;

  it('for another pool', async () => {
    await expectRefused(requestFor(makeFundFile({ pool: other })), 'token-not-listed');
  });

  it('for another chain', async () => {
    await expectRefused(requestFor(makeFundFile({ chainId: 1 })), 'token-not-listed');
  });

  it('for another token', async () => {
    await expectRefused(requestFor(makeFundFile({ token: other })), 'token-not-listed');
  });

  it('for another funder, in the request or in the manifest alone', async () => {
    await expectRefused({ ...requests.fund, expectedSigner: stranger }, 'foreign-signer');
    await expectRefused(requestFor(makeFundFile({ funder: stranger })), 'funder-not-listed');
  });

  it('for another employer', async () => {
    const employerId = '00000000-6a53-4b8c-9f0e-2d1c4b5a6978';
    await expectRefused(requestFor(makeFundFile({ employerId })), 'employer-not-listed');
  });

  it('above the limit of a recipient or of a batch', async () => {
    const greedy = makeFundFile({ recipients: [payee(1, '1001')] });
    await expectRefused(requestFor(greedy), 'recipient-limit');
    const recipients = [payee(1, '800'), payee(2, '701')];
    const large = makeFundFile({ jobKey: 'large', recipients });
    await expectRefused(requestFor(large), 'batch-limit');
  });

  it('above the limit of a day, in however many jobs', async () => {
    await expectSigned(requestFor(makeFundFile({ jobKey: 'a' })));
    await expectSigned(requestFor(makeFundFile({ jobKey: 'b' })));
    await expectRefused(requestFor(makeFundFile({ jobKey: 'c' })), 'day-limit');
    clockMs += 86_400_000;
    const tomorrow = makeFundFile({ jobKey: 'c', deadline: nowSeconds + 90_000 });
    await expectRefused(requestFor(tomorrow), 'job-has-other-manifest');
    await expectSigned(requestFor(makeFundFile({ jobKey: 'd', deadline: nowSeconds + 90_000 })));
  });

  it('for a recipient off the list', async () => {
    const file = makeFundFile({ recipients: [payee(1), payee(3)] });
    await expectRefused(requestFor(file), 'recipient-not-listed');
  });

  it('for the right W with an attacker’s P', async () => {
    const stolen = { ...payee(1), encryptionPublicKey: foreignKey };
    const sound = requestFor(makeFundFile());
    const file = makeFundFile({ recipients: [stolen, payee(2)] });
    await expectRefused({ ...sound, file }, 'evidence-invalid');
    // Nor with evidence that the attacker signed itself.
    const signed = { ...stolen, evidence: signEvidence(wallet, foreignKey) };
    const forged = makeFundFile({ recipients: [signed, payee(2)] });
    await expectRefused({ ...sound, file: forged }, 'evidence-invalid');
  });

  it.each<[string, Parameters<typeof forge>[1]]>([
    ['other commitments, one with a value in a dummy,', { batchRoot: computeRootWithDummyValue() }],
    ['other sealed notes', { sealedNotesHash: parseHex32(`0x${'05'.repeat(32)}`) }],
    ['another total', { total: 999n }],
    ['another deadline', { deadline: BigInt(nowSeconds + 3601) }],
    ['another token', { token: stranger }],
  ])('for an authorisation with %s than its manifest has', async (_what, change) => {
    const { reason } = (await ask(forge(makeFundFile(), change))) as { reason: string };
    expect(['manifest-mismatch', 'token-not-listed']).toContain(reason);
  });

  it('for a manifest with another seed, memo or amount than the authorisation was made from', async () => {
    const sound = requestFor(makeFundFile());
    for (const changed of [
      makeFundFile({ seed: '5f'.repeat(32) }),
      makeFundFile({ recipients: [{ ...payee(1), memo: 'bonus' }, payee(2)] }),
      makeFundFile({ recipients: [payee(1), payee(2, '499')] }),
    ]) {
      await start();
      await expectRefused({ ...sound, file: changed }, 'manifest-mismatch');
    }
  });

  it('for the same authorisation id with another digest', async () => {
    await expectSigned(requestFor(makeFundFile()));
    for (const changed of [
      makeFundFile({ deadline: nowSeconds + 7200 }),
      makeFundFile({ recipients: [payee(1)] }),
      makeFundFile({ seed: '5f'.repeat(32) }),
    ]) {
      await expectRefused(requestFor(changed), 'job-has-other-manifest');
    }
  });

  it('for another attempt of a job that it signed, also after the deadline', async () => {
    await expectSigned(requestFor(makeFundFile()));
    const next = makeFundFile({ attempt: 2, deadline: nowSeconds + 9000 });
    const unsigned = { state: 'later', reason: 'facts-unavailable' };
    expect(await ask(requestFor(next))).toMatchObject(unsigned);
    // The first may have been paid meanwhile, and no node is asked.
    clockMs += 1000 * 7200;
    expect(await ask(requestFor(next))).toMatchObject(unsigned);
  });

  it('for an attempt that another one replaced', async () => {
    const first = makeFundFile({ recipients: [payee(1, '1001')] });
    await expectRefused(requestFor(first), 'recipient-limit');
    await expectSigned(requestFor(makeFundFile({ attempt: 2 })));
    await expectRefused(requestFor(first), 'attempt-superseded');
  });

  it('for a digest without a manifest', async () => {
    for (const request of [requests.fund, requests.void, requests.permit, requests.approval]) {
      await expectRefused(request, 'manifest-missing');
    }
    await expectRefused(requests.spend, 'manifest-missing');
  });

  it('for a permit or token approval to another spender or of another value', async () => {
    const file = makeFundFile();
    for (const request of [
      permitOf(file, { spender: stranger }),
      permitOf(file, { value: 1001n }),
      permitOf(file, { name: 'Other Coin' }),
      approvalOf(file, { spender: stranger, value: 1000n }),
      approvalOf(file, { value: 1001n }),
      approvalOf(file, { value: 2n ** 256n - 1n }),
    ]) {
      expect(await ask(request)).toMatchObject({ state: 'refused' });
    }
  });

  it('for a sign-in text of another platform, with another P, or dated otherwise', async () => {
    const ask1 = (message: string, domain = 'pool.example'): SignRequest =>
      createSignRequest({
        kind: 'sign-in',
        expectedSigner: funder,
        payload: { message, expected: { ...requests.signIn.payload.expected, domain } },
      });
    const elsewhere = signInText.replaceAll('pool.example', 'evil.example');
    await expectRefused(ask1(elsewhere, 'evil.example'), 'foreign-sign-in');
    await expectRefused(ask1(listKey(foreignKey)), 'foreign-encryption-key');
    clockMs += 301_000;
    await expectRefused(ask1(listKey(ownKey)), 'stale-sign-in');
  });

  it('for the viewing key of another platform', async () => {
    const payload = { domain: 'evil.example' };
    const request = createSignRequest({ kind: 'viewing-key', expectedSigner: funder, payload });
    await expectRefused(request, 'viewing-key-not-allowed');
  });

  it('for a spend whose change is not the holder’s', async () => {
    const file = makeSpendFile({ changeEncryptionPublicKey: foreignKey });
    await expectRefused(requestFor(file), 'change-not-own');
  });

  it('for a spend of another wallet, to another payee, address, or above a limit', async () => {
    const { address: _, ...stranger3 } = payee(3, '300');
    const { address: _a, ...large } = payee(1, '701');
    const outputs = makeSpendFile().manifest.outputs;
    const cases: readonly (readonly [SpendChanges, string])[] = [
      [{ outputs: [stranger3] }, 'payee-not-listed'],
      [{ outputs: [large] }, 'call-limit'],
      [{ outputs: [], withdrawAmount: '300', recipient: stranger }, 'destination-not-listed'],
      [{ walletPub: payee(1).walletPub, outputs }, 'holder-not-listed'],
      [{ token: other }, 'spend-not-allowed'],
      [{ deadline: nowSeconds + 100_000 }, 'deadline-too-far'],
    ];
    for (const [changes, reason] of cases) {
      await start();
      await expectRefused(requestFor(makeSpendFile(changes)), reason);
    }
  });

  it('for a second spend of one note that may still land', async () => {
    await expectSigned(requestFor(makeSpendFile()));
    const second = makeSpendFile({ changeAmount: '199', deadline: nowSeconds + 3000 });
    await expectRefused(requestFor(second), 'nullifier-in-other-spend');
    clockMs += 1000 * (900 + 901);
    await expectSigned(requestFor(second));
  });

  it('for another salt than the manifest’s, which would let a second rSig out', async () => {
    const sound = requestFor(makeSpendFile());
    if (sound.kind === 'spend') {
      const payload = { ...sound.payload, salt: new Uint8Array(31).fill(1) };
      await expectRefused(createSignRequest({ ...sound, payload }), 'manifest-mismatch');
    }
  });

  it('for a change of the configuration, a digest, or any other kind', async () => {
    for (const kind of ['config-change', 'digest', 'transaction', '']) {
      await expectRefused({ ...requests.fund, kind }, 'malformed-payload');
    }
    for (const method of ['setPolicy', 'signDigest', 'export']) {
      await expect(connection.call({ method }, signAnswerSchema)).rejects.toMatchObject({
        code: 'enclave_unreachable',
      });
    }
  });
});

describe('createEnclave', () => {
  it('does not start with a policy that names another key, or asks for people', async () => {
    await expect(start(makePolicy({ funders: [], holders: [] }))).rejects.toThrow(
      /no funder or holder/,
    );
    const key: Hex32 = parseHex32(`0x${'11'.repeat(32)}`);
    const humanRelease = {
      people: [{ name: 'A', publicKey: key }],
      required: 1,
      newPayee: false,
    };
    const duplicateRoster = { days: 30, action: 'hold' };
    for (const changes of [{ humanRelease }, { duplicateRoster }]) {
      await expect(start(makePolicy(changes))).rejects.toThrow(/cannot ask people/);
    }
  });

  it('does not start with a policy that contradicts itself, and names the mistakes', async () => {
    await expect(start(makePolicy(), createEnclave)).rejects.toThrow(
      /holders\.0\.walletPub: The wallet is a funder too/,
    );
    const deadline = { minSeconds: 600, maxSeconds: 300 };
    await expect(start(makePolicy({ deadline, holders: [] }), createEnclave)).rejects.toMatchObject(
      {
        code: 'invalid_configuration',
        message: expect.stringMatching(/deadline\.minSeconds: It is larger than maxSeconds/),
      },
    );
  });

  it('has an example of a policy that needs no people and has no mistake', () => {
    const policy = parsePolicy(example);
    expect(policy).not.toHaveProperty('humanRelease');
    expect(JSON.stringify(example)).not.toMatch(/hold(?:Above)?"/);
    expect(lintPolicy(example)).toEqual([]);
  });

  it('signs a disclosure of its wallet as the reference does, if the policy allows disclosures', () => {
    const [vector] = vectors.disclosures;
    const { signature, ...content } = parseWire(disclosureSchema, vector?.document, 'vector');
    const key = createMemoryKey(new Secret(hexToBytes(vector?.privateKey ?? '', 32)));
    const request = createSignRequest({
      kind: 'disclosure',
      payload: { content },
      expectedSigner: content.discloser,
    });
    const answers = [true, false].map((disclosures) => {
      const holder = { ...makePolicy().holders[0], walletPub: key.walletPub, disclosures };
      const now = (): number => vector?.nowMs ?? 0;
      return createEnclave({
        key,
        policy: makePolicy({ funders: [], holders: [holder], pools: [] }),
        ledger: openLedger({ path: ':memory:', role: 'voter' }),
        attester: createDevelopmentAttester(root, now),
        nowMs: now,
      }).sign(serializeSignRequest(request));
    });
    expect(answers).toMatchObject([
      { state: 'signed', signature },
      { state: 'refused', reason: 'disclosure-not-allowed' },
    ]);
  });

  it('tells the socket the reason and its sentence, and nothing that it found', async () => {
    const file = makeFundFile({ recipients: [payee(1), payee(3)] });
    const answer = JSON.stringify(await ask(requestFor(file)));
    expect(answer).not.toMatch(/0x[0-9a-fA-F]{8}/);
    expect(answer).not.toContain('500');
  });
});
