import { createPublicKey, verify } from 'node:crypto';
import {
  parseEvmAddress,
  parseField,
  parseHex,
  parseHex32,
  parseWalletPub,
  parseWire,
  Secret,
} from '@pool/core';
import { computeRequestDigest } from '@pool/policy';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/custodian-b.json' with { type: 'json' };
import { transactionSchema } from './answers.ts';
import { createVaultRequests, interpretTransaction } from './custodian-b-signer.ts';
import { type CustodianBClient, createCustodianBClient } from './custodian-client.ts';
import { createTransactionBody, type SupportedRequest } from './transaction-body.ts';

const { typedMessage, contractCall, personalMessage, vaultAccount } = vectors;
const address = parseEvmAddress(vaultAccount.address);
const place = { vaultAccountId: vaultAccount.id, assetId: typedMessage.request.assetId };
type TypedDocument = (typeof typedMessage.request.extraParameters.rawMessageData.messages)[number];

const [document] = typedMessage.request.extraParameters.rawMessageData.messages as [TypedDocument];
const [post, get] = vectors.authentication as [Authentication, Authentication];

type Authentication = (typeof vectors.authentication)[number];
type Sent = { readonly url: string; readonly body: unknown; readonly headers: Headers };

function createFundRequest(): SupportedRequest {
  const { domain, message } = document.content;
  return {
    kind: 'fund-authorization',
    externalId: typedMessage.request.externalTxId,
    expectedSigner: address,
    payload: {
      chainId: domain.chainId,
      pool: parseEvmAddress(domain.verifyingContract),
      authorization: {
        funder: parseEvmAddress(message.funder),
        token: parseEvmAddress(message.token),
        total: BigInt(message.total),
        batchRoot: parseField(message.batchRoot),
        batchNonce: parseField(message.batchNonce),
        sealedNotesHash: parseHex32(message.sealedNotesHash),
        deadline: BigInt(message.deadline),
      },
    },
  };
}

function createApprovalRequest(): SupportedRequest {
  const { request, chainId, unsignedTransaction } = contractCall;
  return {
    kind: 'token-approval',
    externalId: request.externalTxId,
    expectedSigner: address,
    payload: {
      unsignedTransaction: parseHex(unsignedTransaction),
      expected: {
        chainId,
        token: parseEvmAddress(request.destination.oneTimeAddress.address),
        pool: parseEvmAddress('0x5FbDB2315678afecb367f032d93F642f64180aa3'),
        total: 123_456n,
      },
    },
  };
}

/** A client whose clock and nonce are those of a vector, and which gets one answer. */
function createClient(
  { claims }: Authentication,
  answer: unknown,
): { readonly client: CustodianBClient; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const client = createCustodianBClient({
    url: 'https://api.custody.example',
    apiKey: new Secret(vectors.apiUsers.agent.id),
    apiSecret: new Secret(vectors.keys.agent.privateKey),
    nowMs: () => 1000 * claims.iat + 999,
    createNonce: () => claims.nonce,
    fetch: async (url, { body, headers }) => {
      sent.push({ url, body, headers: new Headers(headers) });
      return Response.json(answer);
    },
  });
  return { client, sent };
}

describe('custodian B, by the vectors of its public documentation', () => {
  it('signs the token of a request byte for byte', async () => {
    const { client, sent } = createClient(post, {});
    await client.post('/v1/transactions', { body: post.body, idempotencyKey: 'key-1' });
    const [{ url, body, headers }] = sent as [Sent];
    expect(url).toBe('https://api.custody.example/v1/transactions');
    expect(body).toBe(post.body);
    expect(headers.get('authorization')).toBe(`Bearer ${post.jwt}`);
    expect(headers.get('x-api-key')).toBe(post.claims.sub);
    expect(headers.get('idempotency-key')).toBe('key-1');
  });

  it('signs the path and no bytes when it reads, for 55 seconds', async () => {
    const { client, sent } = createClient(get, {});
    await client.get(get.claims.uri);
    const [{ body, headers }] = sent as [Sent];
    expect(body).toBeUndefined();
    const [header, claims, signature] = (headers.get('authorization') ?? '').slice(7).split('.');
    expect(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString('utf8'))).toEqual({
      ...get.claims,
      exp: get.claims.iat + 55,
    });
    expect(header).toBe(get.jwt.split('.')[0]);
    const key = createPublicKey(vectors.keys.agent.publicKey);
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('sha256', signed, key, Buffer.from(signature ?? '', 'base64url'))).toBe(true);
  });

  it('signs the query too', async () => {
    const { client, sent } = createClient(get, {});
    await client.get('/v1/x', { query: { compressed: 'true' } });
    const [{ url, headers }] = sent as [Sent];
    const claims = (headers.get('authorization') ?? '').split('.')[1] ?? '';
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))).toMatchObject({
      uri: new URL(url).pathname + new URL(url).search,
    });
  });

  it('writes the body of typed data byte for byte, and asks for the documented digest', () => {
    const request = createFundRequest();
    expect(JSON.stringify(createTransactionBody(request, place))).toBe(post.body);
    expect(computeRequestDigest(request)).toBe(typedMessage.digest);
  });

  it('writes a text as EIP-191 hex, and asks for the documented digest', () => {
    const request: SupportedRequest = {
      kind: 'sign-in',
      externalId: 'p1-0',
      expectedSigner: address,
      payload: { message: personalMessage.text, expected: { domain: '', uri: '' } },
    };
    expect(createTransactionBody(request, place)).toMatchObject({
      operation: 'TYPED_MESSAGE',
      extraParameters: { rawMessageData: { messages: [personalMessage.message] } },
    });
    expect(computeRequestDigest(request)).toBe(personalMessage.digest);
  });

  it('writes a token approval as a contract call without coins', () => {
    expect(createTransactionBody(createApprovalRequest(), place)).toEqual(contractCall.request);
  });

  it.each([
    { what: 'as it is shown', signedMessage: typedMessage.completed.signedMessages[0] },
    ...typedMessage.forms,
  ])('accepts the documented signature: $what', ({ signedMessage }) => {
    const shown = { ...typedMessage.completed, signedMessages: [signedMessage] };
    const step = interpretTransaction(
      parseWire(transactionSchema, shown, 'transaction'),
      createFundRequest(),
      { place, address },
    );
    expect(step).toMatchObject({ state: 'signed', signature: expect.stringMatching(/1[bc]$/) });
  });

  it('maps every documented status, and takes an unknown one for work that goes on', () => {
    const { signedMessages: _, ...shown } = typedMessage.completed;
    const stateOf = (status: string): string =>
      interpretTransaction(
        parseWire(transactionSchema, { ...shown, status }, 'transaction'),
        createFundRequest(),
        { place, address },
      ).state;
    const { final, pending, unknown } = vectors.statuses;
    expect(final.filter((status) => status !== 'COMPLETED').map(stateOf)).toEqual([
      'failed',
      'refused',
      'refused',
      'refused',
      'expired',
    ]);
    for (const status of [...pending, ...unknown]) {
      expect(stateOf(status)).toMatch(/^(?:submitted|awaiting-approval|signing)$/);
    }
    expect(stateOf('PENDING_AUTHORIZATION')).toBe('awaiting-approval');
    expect(() => stateOf('COMPLETED')).toThrow(/exactly one signed message/);
  });

  it('takes a call for sent only if its hash and its destination are shown', () => {
    const { address: to } = contractCall.request.destination.oneTimeAddress;
    const shown = {
      ...typedMessage.completed,
      ...contractCall.request,
      status: 'CONFIRMING',
      destinationAddress: to,
      txHash: `0x${'AB'.repeat(32)}`,
    };
    const interpret = (changes: object): unknown =>
      interpretTransaction(
        parseWire(transactionSchema, { ...shown, ...changes }, 'transaction'),
        createApprovalRequest(),
        { place, address },
      );
    expect(interpret({})).toMatchObject({ state: 'sent', txHash: `0x${'ab'.repeat(32)}` });
    expect(() => interpret({ destinationAddress: '' })).toThrow(/does not show/);
    expect(() => interpret({ txHash: '' })).toThrow(/does not show/);
    for (const changes of [
      { destinationAddress: vaultAccount.address },
      { amountInfo: { amount: '0.1' } },
      { assetId: 'ETH' },
      { source: { type: 'VAULT_ACCOUNT', id: '1' } },
      { operation: 'TRANSFER' },
      { extraParameters: {} },
    ]) {
      expect(interpret(changes)).toMatchObject({ state: 'failed', retryable: false });
    }
    expect(interpret({ status: 'BROADCASTING' })).toMatchObject({ state: 'signing' });
  });

  it('reads the address and the public key of the account on the documented paths', async () => {
    const asked = createClient(get, { addresses: [{ ...vectors.address, path: undefined }] });
    const vault = createVaultRequests(asked.client, place);
    await vault.assertAddress(address);
    const keyed = createClient(get, vectors.publicKey);
    const keys = createVaultRequests(keyed.client, place);
    expect(await keys.fetchWalletPub(address)).toBe(
      parseWalletPub(`0x${vectors.publicKey.publicKey}`),
    );
    expect([...asked.sent, ...keyed.sent].map(({ url }) => url)).toEqual([
      `https://api.custody.example${vectors.address.path}`,
      `https://api.custody.example${vectors.publicKey.path}`,
    ]);
  });
});
