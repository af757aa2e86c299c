import { createHmac, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { PoolError, parseEvmAddress, parseHex32, Secret, type TypedData } from '@pool/core';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/custodian-a.json' with { type: 'json' };
import { acceptSignature } from '../accept-signature.ts';
import { createCustodianAClient, encodeClientData, parseServiceKey } from './custodian-client.ts';
import { encodeTypedData } from './signature-body.ts';
import { readCustodianAEvent } from './webhook.ts';

const { userAction, webhook, exchanges, bodies, digests, signatures, wallet } = vectors;
const address = parseEvmAddress(wallet.address);

function exchangeOf(name: string): (typeof exchanges)[number] {
  const found = exchanges.find((exchange) => exchange.name === name);
  if (found === undefined) {
    throw new Error(`vectors/custodian-a.json has no exchange ${name}`);
  }
  return found;
}

describe('custodian A, by the vectors of its public documentation', () => {
  it('writes the body of typed data byte for byte', () => {
    const { domain, types, message } = bodies.Eip712;
    const data: TypedData = {
      domain: { ...domain, verifyingContract: parseEvmAddress(domain.verifyingContract) },
      types,
      primaryType: 'Mail',
      message,
    };
    const { request } = exchangeOf('a challenge for a user action');
    const text = JSON.stringify(encodeTypedData(data, 'payroll-2026-11'));
    // Ours shows the checksum of an address.
    expect(text.replace(data.domain.verifyingContract, domain.verifyingContract)).toBe(
      request.body?.userActionPayload,
    );
  });

  it('signs the client data of a challenge', () => {
    const data = encodeClientData(userAction.challenge, userAction.origin);
    expect(new TextDecoder().decode(data)).toBe(userAction.clientData);
    const signature = parseServiceKey(new Secret(userAction.servicePrivateKey)).sign(data);
    expect(Buffer.from(signature).toString('base64url')).toBe(userAction.signature);
  });

  it('sends the documented requests for a user action, and the header that it gives', async () => {
    const steps = [exchangeOf('a challenge for a user action'), exchangeOf('a user action')];
    const sent: { url: string; body: unknown; authorization: string | null }[] = [];
    const client = createCustodianAClient({
      url: 'https://api.custody.example',
      origin: userAction.origin,
      token: new Secret('token-1'),
      credentialId: 'credential-of-initiator',
      serviceKey: new Secret(userAction.servicePrivateKey),
      headerPrefix: 'x-provider-',
      fetch: async (url, { body, headers }) => {
        const authorization = new Headers(headers).get('authorization');
        sent.push({ url, body: JSON.parse(typeof body === 'string' ? body : ''), authorization });
        return Response.json(steps[sent.length - 1]?.response.body);
      },
    });
    const { request } = exchangeOf('a challenge for a user action');
    const change = await client.authorize({
      method: 'POST',
      path: `/wallets/${wallet.id}/signatures`,
      body: String(request.body?.userActionPayload),
    });
    expect(sent).toEqual(
      steps.map((step) => ({
        url: `https://api.custody.example${step.request.path}`,
        body: step.request.body,
        authorization: 'Bearer token-1',
      })),
    );
    expect(change.headers).toEqual({
      'x-provider-useraction': exchangeOf('a user action').response.body.userAction,
    });
  });

  it.each(signatures.spellings)('normalises a signature: $name', ({ signature }) => {
    const { r, s } = signature;
    const v = 'recid' in signature ? signature.recid : undefined;
    const digest = parseHex32(digests.Eip712);
    const accepted = acceptSignature({ signature: { r, s, v }, digest, expectedSigner: address });
    expect(accepted).toBe(signatures.canonical.encoded);
  });

  it('normalises a signature without leading zeros', () => {
    const { body, signature, canonical } = signatures.short;
    const { r, s, recid } = signature;
    const digest = parseHex32(`0x${body.hash}`);
    const claim = { signature: { r, s, v: recid }, digest, expectedSigner: address };
    expect(acceptSignature(claim)).toBe(canonical.encoded);
  });

  it('refuses a signature of another key', () => {
    const { r, s, recid } = signatures.foreign.signature;
    const digest = parseHex32(digests.Eip712);
    const claim = { signature: { r, s, v: recid }, digest, expectedSigner: address };
    expect(() => acceptSignature(claim)).toThrow(
      expect.objectContaining({ code: 'signature_rejected' }),
    );
  });
});

describe('the key of a service account', () => {
  it('may be of P-256, and then signs SHA-256 as DER', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const message = Buffer.from('client data');
    const signature = parseServiceKey(new Secret(pem)).sign(message);
    expect(verify('sha256', message, publicKey, signature)).toBe(true);
  });

  it('is refused without its value if it is of another kind or unreadable', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const k256 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
    const others = [rsa, k256].map((key) => key.export({ type: 'pkcs8', format: 'pem' }));
    const publicPem = createPublicKey(userAction.servicePublicKey).export({
      type: 'spki',
      format: 'pem',
    });
    for (const value of [...others, publicPem, 'CANARY', ''].map(String)) {
      let error: unknown;
      try {
        parseServiceKey(new Secret(value));
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(PoolError);
      expect(error).toMatchObject({ code: 'invalid_configuration' });
      const printed = inspect(error, { depth: 9, showHidden: true });
      expect(printed).not.toContain(value === '' ? '\0' : value.slice(40, 80) || value);
    }
  });
});

describe('a webhook event', () => {
  const secret = new Secret(webhook.secret);
  const rawBody = Buffer.from(webhook.raw);
  const nowMs = 1000 * webhook.timestampSent;
  const event = { secret, rawBody, signature: webhook.signature, nowMs };

  it('is read if its HMAC covers the raw bytes', () => {
    expect(readCustodianAEvent(event)).toEqual({
      id: 'whe-00000-00000-0000000000000001',
      kind: 'policy.approval.pending',
      timestampSent: webhook.timestampSent,
    });
  });

  it.each([
    [
      'the same JSON in other bytes',
      { rawBody: Buffer.from(JSON.stringify(JSON.parse(webhook.raw))) },
    ],
    ['another secret', { secret: new Secret('other') }],
    [
      'an empty secret',
      {
        secret: new Secret(''),
        signature: `sha256=${createHmac('sha256', '').update(rawBody).digest('hex')}`,
      },
    ],
    ['no signature', { signature: undefined }],
    ['a signature without its algorithm', { signature: webhook.signature.slice(7) }],
    ['a signature that is too short', { signature: webhook.signature.slice(0, -2) }],
    ['an event from 5 minutes and a second ago', { nowMs: nowMs + 301_000 }],
    ['an event from the future', { nowMs: nowMs - 301_000 }],
  ])('is ignored with %s', (_name, change) => {
    expect(readCustodianAEvent({ ...event, ...change })).toBeUndefined();
  });

  it('is read up to 5 minutes after it was sent', () => {
    expect(readCustodianAEvent({ ...event, nowMs: nowMs + 300_000 })).toBeDefined();
  });
});
