// A peer that repeats the credentials of a request in its error: none of them is in the error of the adapter. The approve process: approver-client.test.ts.
import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '@pool/core';
import type { HttpClientOptions } from '@pool/http-client';
import { expect, it } from 'vitest';
import { createCustodianAClient } from '../custodian-a/custodian-client.ts';
import { createCustodianBClient } from '../custodian-b/custodian-client.ts';

const url = 'https://peer.example';
const token = new Secret('a-token-that-is-long-enough');
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const serviceKey = new Secret(generateKeyPairSync('ed25519').privateKey.export(pkcs8).toString());
const apiSecret = new Secret(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pkcs8).toString(),
);

type Peer = NonNullable<HttpClientOptions['fetch']>;

it.each<[string, (fetch: Peer) => Promise<Error>]>([
  [
    'custodian A',
    async (fetch) => {
      const account = { url, token, credentialId: 'cr-1', serviceKey, fetch };
      const client = createCustodianAClient(account);
      return client.createRefusal(await client.get('/wallets/1'), 'the wallet');
    },
  ],
  [
    'custodian B',
    async (fetch) => {
      const client = createCustodianBClient({ url, apiKey: token, apiSecret, fetch });
      return client.createRefusal(await client.get('/v1/vault'), 'the vault account');
    },
  ],
])('%s repeats no credential', async (_name, call) => {
  const sent: string[] = [];
  const error = await call(async (_input, { headers }) => {
    sent.push(...Object.values(headers as Record<string, string>));
    const message = `refused: ${sent.join(' ')}`;
    return new Response(JSON.stringify({ message }), { status: 403 });
  });
  expect(sent.some((header) => header.includes(token.reveal()))).toBe(true);
  expect(error.message).toMatch(/refused: .*\[redacted\]/);
  expect(error.message).not.toContain(token.reveal());
  // A token of custodian B is spent, and names its user.
  expect(error.message).not.toContain('eyJ');
});
