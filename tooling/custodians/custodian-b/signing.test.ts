import { recoverAddress, Signature } from 'ethers';
import { afterEach, describe, expect, it } from 'vitest';
import { startWorld, vectors, type World } from './fixtures/world.ts';

type Message = {
  readonly signature: { readonly r: string; readonly s: string; readonly v?: number };
  readonly content: string;
  readonly publicKey: string;
};

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const { typedMessage, personalMessage, callbacks, duplicateExternalTxId } = vectors;

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

function approve(): { action: string } {
  return { action: 'APPROVE' };
}

function messageOf(body: Readonly<Record<string, unknown>>): Message {
  const [message] = body['signedMessages'] as Message[];
  if (message === undefined) {
    throw new Error('the answer has no signed message');
  }
  return message;
}

function hex(text: string): bigint {
  return BigInt(text.startsWith('0x') ? text : `0x${text}`);
}

/** The signer, with any form of a signature brought back to a low s. */
function recover(digest: string, { signature }: Message): string[] {
  const s = hex(signature.s);
  const isHigh = s > order / 2n;
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
  const parities: readonly number[] =
    signature.v === undefined ? [0, 1] : [isHigh ? 1 - signature.v : signature.v];
  return parities.map((v) =>
    recoverAddress(
      digest,
      Signature.from({ r: word(hex(signature.r)), s: word(isHigh ? order - s : s), v: 27 + v }),
    ),
  );
}

describe('typed messages', () => {
  it('asks the handler at both stages with the documented fields, then signs', async () => {
    world = await startWorld({ reply: approve, config: { signatures: 'plain' } });
    const id = await world.create();
    const body = await world.readUntil(id, 'COMPLETED');
    const [approval, signing] = world.handler?.received ?? [];
    const expected = callbacks.slice(0, 2).map(({ payload }) => payload);
    const withIds = expected.map((payload) => ({ ...payload, txId: id, requestId: id }));
    expect(approval?.payload).toStrictEqual(withIds[0]);
    // The second callback carries times long past; the first carries none.
    expect(signing?.payload).toStrictEqual({
      ...withIds[1],
      iat: 1_500_000_000,
      exp: 1_500_000_030,
    });
    expect([approval?.path, signing?.path]).toStrictEqual(
      Array.from({ length: 2 }, () => '/v2/tx_sign_request'),
    );
    const { signedMessages, createdAt, lastUpdated, ...rest } = typedMessage.completed;
    expect(body).toMatchObject({ ...rest, id });
    expect(Object.keys(body).toSorted()).toStrictEqual(
      Object.keys(typedMessage.completed).toSorted(),
    );
    const [documented] = signedMessages as Message[];
    const message = messageOf(body);
    expect(message).toStrictEqual({ ...documented, signature: message.signature });
    expect(`0x${message.content}`).toBe(typedMessage.digest);
    expect(recover(typedMessage.digest, message)).toStrictEqual([world.address]);
  });

  it('answers with id and SUBMITTED, and finds the transaction by both ids', async () => {
    world = await startWorld();
    const { request } = typedMessage;
    const created = await world.callAs('agent', '/v1/transactions', { body: request });
    expect(created).toStrictEqual({
      status: 200,
      body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, status: 'SUBMITTED' },
    });
    const path = `/v1/transactions/external_tx_id/${request.externalTxId}`;
    const found = await world.callAs('gate', path);
    expect(found.body).toMatchObject({ id: created.body['id'], operation: 'TYPED_MESSAGE' });
    expect(found.body['extraParameters']).toStrictEqual(request['extraParameters']);
  });

  it('signs an EIP-191 message given as hex', async () => {
    world = await startWorld({ config: { signatures: 'plain' } });
    const { message, digest } = personalMessage;
    const extraParameters = { rawMessageData: { messages: [message] } };
    const answer = await world.callAs('agent', '/v1/transactions', {
      body: { ...typedMessage.request, extraParameters },
    });
    const signed = messageOf(await world.readUntil(String(answer.body['id']), 'COMPLETED'));
    expect(`0x${signed.content}`).toBe(digest);
    expect(recover(digest, signed)).toStrictEqual([world.address]);
  });

  it('shows every form of a signature in eight answers, and no nonce twice', async () => {
    world = await startWorld();
    const forms = new Set<string>();
    const nonces = new Set<bigint>();
    for (let index = 0; index < 8; index++) {
      const body = await world.readUntil(await world.create(`p1-${index}`), 'COMPLETED');
      const message = messageOf(body);
      const { r, s, v } = message.signature;
      forms.add(`${hex(s) > order / 2n} ${r.startsWith('0x')} ${v === undefined}`);
      nonces.add(hex(r));
      expect(recover(typedMessage.digest, message)).toContain(world.address);
    }
    expect([forms.size, nonces.size]).toStrictEqual([8, 8]);
  });

  it('signs by itself without a handler', async () => {
    world = await startWorld();
    await world.readUntil(await world.create(), 'COMPLETED');
    expect(world.custodian.control.callbacks()).toHaveLength(0);
  });

  it.each([
    ['RAW', 'RAW signing is disabled'],
    ['TRANSFER', 'operation: TYPED_MESSAGE or CONTRACT_CALL is expected'],
  ])('refuses the operation %s', async (operation, message) => {
    world = await startWorld();
    const body = { ...typedMessage.request, operation };
    const answer = await world.callAs('agent', '/v1/transactions', { body });
    expect(answer).toMatchObject({ status: 400, body: { message } });
  });

  it.each([
    ['no EIP712Domain', { EIP712Domain: undefined }],
    ['no primary type', { FundAuthorization: undefined }],
    ['a value that does not fit', { FundAuthorization: [{ name: 'funder', type: 'uint8' }] }],
  ])('refuses typed data with %s', async (_, change) => {
    world = await startWorld();
    const body = structuredClone<unknown>(typedMessage.request) as {
      extraParameters: { rawMessageData: { messages: { content: { types: object } }[] } };
    };
    const content = body.extraParameters.rawMessageData.messages[0]?.content;
    if (content !== undefined) {
      content.types = { ...content.types, ...change };
    }
    const answer = await world.callAs('agent', '/v1/transactions', { body });
    expect(answer.status).toBe(400);
  });
});

describe('a request that is sent twice', () => {
  it('answers 400 with the documented body for a repeated externalTxId', async () => {
    world = await startWorld();
    await world.create();
    const answer = await world.callAs('agent', '/v1/transactions', { body: typedMessage.request });
    expect(answer).toStrictEqual(duplicateExternalTxId);
    expect(world.custodian.control.transactions()).toHaveLength(1);
  });

  it('replays the answer for an Idempotency-Key, and forgets it after 24 h', async () => {
    let nowMs = Date.now();
    world = await startWorld({ nowMs: () => nowMs });
    const options = { body: typedMessage.request, headers: { 'Idempotency-Key': 'key-1' } };
    const first = await world.callAs('agent', '/v1/transactions', options);
    const second = await world.callAs('agent', '/v1/transactions', options);
    expect(second).toStrictEqual(first);
    nowMs += 24 * 3_600_000;
    const iat = Math.floor(nowMs / 1_000);
    const claims = { iat, exp: iat + 55 };
    const third = await world.callAs('agent', '/v1/transactions', { ...options, claims });
    expect(third).toStrictEqual(duplicateExternalTxId);
  });

  it('keeps what it accepted when the answer is lost', async () => {
    world = await startWorld();
    const { control } = world.custodian;
    control.fault({ kind: 'http', effect: 'error' });
    const answer = await world.callAs('agent', '/v1/transactions', { body: typedMessage.request });
    expect(answer.status).toBe(500);
    control.fault({ kind: 'http', effect: 'drop' });
    await expect(world.create('p1-dropped')).rejects.toThrow();
    control.fault({ kind: 'http', effect: 'error', when: 'before' });
    await world.callAs('agent', '/v1/transactions', {
      body: { ...typedMessage.request, externalTxId: 'p1-never-arrived' },
    });
    expect(control.transactions().map(({ externalTxId }) => externalTxId)).toStrictEqual([
      typedMessage.request.externalTxId,
      'p1-dropped',
    ]);
    expect(control.requests().map(({ status }) => status)).toStrictEqual([500, 0, 500]);
  });

  it('holds a connection that hangs, and closes it at the end', async () => {
    world = await startWorld();
    const { control } = world.custodian;
    control.fault({ kind: 'http', effect: 'hang' });
    const caller = new AbortController();
    const refused = expect(
      world.callAs('agent', '/v1/transactions', {
        body: typedMessage.request,
        signal: caller.signal,
      }),
    ).rejects.toThrow('aborted');
    await expect.poll(() => control.transactions(), { interval: 2 }).toHaveLength(1);
    setTimeout(() => caller.abort(), 60);
    await refused;
  });
});

describe('wrong results', () => {
  it.each(['wrong-signature', 'other-digest'] as const)(
    '%s does not recover to the account',
    async (effect) => {
      world = await startWorld();
      world.custodian.control.fault({ kind: 'result', effect });
      const body = await world.readUntil(await world.create(), 'COMPLETED');
      const message = messageOf(body);
      expect(message.content.endsWith(typedMessage.digest.slice(2))).toBe(true);
      expect(recover(typedMessage.digest, message)).not.toContain(world.address);
    },
  );

  it('other-content names a digest that nobody asked for', async () => {
    world = await startWorld();
    world.custodian.control.fault({ kind: 'result', effect: 'other-content' });
    const message = messageOf(await world.readUntil(await world.create(), 'COMPLETED'));
    expect(message.content.endsWith(typedMessage.digest.slice(2))).toBe(false);
    expect(recover(typedMessage.digest, message)).toContain(world.address);
  });

  it('short-r leaves leading zeros away, missing-v and no-messages leave more away', async () => {
    world = await startWorld();
    const { control } = world.custodian;
    const results: Readonly<Record<string, unknown>>[] = [];
    for (const effect of ['short-r', 'missing-v', 'no-messages'] as const) {
      control.fault({ kind: 'result', effect });
      results.push(await world.readUntil(await world.create(`p1-${effect}`), 'COMPLETED'));
    }
    const [short, missing, none] = results;
    expect(messageOf(short ?? {}).signature.r.length).toBeLessThan(64);
    expect(recover(typedMessage.digest, messageOf(short ?? {}))).toContain(world.address);
    expect(messageOf(missing ?? {}).signature).not.toHaveProperty('v');
    expect(none).not.toHaveProperty('signedMessages');
  });
});
