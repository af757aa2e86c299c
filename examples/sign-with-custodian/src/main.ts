/**
 * Usage: node src/main.ts, with the variables that the README lists.
 *
 * Prints its address as JSON when it listens.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseEvmAddress, Secret } from '@pool/core';
import { createCustodianASigner } from '@pool/signers';
import { createSignInService, type SignIn, type SignInService } from './service.ts';

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is missing; see the README`);
  }
  return value;
}

function readSecret(name: string): Secret {
  return new Secret(readFileSync(readVariable(name), 'utf8').trim());
}

async function readMessage(request: IncomingMessage): Promise<string | undefined> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request as AsyncIterable<string>) {
    text += chunk;
    if (text.length > 10_000) {
      return undefined;
    }
  }
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

async function answer(service: SignInService, request: IncomingMessage) {
  const [, room, id = ''] = (request.url ?? '').split('/');
  const route = room === 'sign-ins' ? `${request.method} ${id === '' ? '' : 'id'}` : '';
  switch (route) {
    case 'POST ': {
      const message = await readMessage(request);
      return message === undefined ? undefined : await service.start(message);
    }
    case 'GET id':
      return await service.read(id);
    case 'DELETE id':
      return await service.withdraw(id);
    default:
      return undefined;
  }
}

function statusOf(result: SignIn | undefined): number {
  if (result === undefined) {
    return 404;
  }
  return 'signature' in result ? 200 : 202;
}

const site = new URL(readVariable('SITE'));
const service = await createSignInService({
  signer: createCustodianASigner({
    url: readVariable('CUSTODIAN_URL'),
    origin: readVariable('CUSTODIAN_ORIGIN'),
    token: readSecret('CUSTODIAN_TOKEN_FILE'),
    credentialId: readVariable('CUSTODIAN_CREDENTIAL_ID'),
    serviceKey: readSecret('CUSTODIAN_KEY_FILE'),
    walletId: readVariable('CUSTODIAN_WALLET_ID'),
    address: parseEvmAddress(readVariable('WALLET_ADDRESS')),
    allow: { kinds: ['sign-in'] },
  }),
  store: readVariable('STORE'),
  expected: {
    domain: site.host,
    uri: site.origin,
    chainId: Number(readVariable('CHAIN_ID')),
  },
});

const server = createServer((request, response) => {
  answer(service, request).then(
    (result) => {
      response.writeHead(statusOf(result), { 'content-type': 'application/json' });
      response.end(JSON.stringify(result ?? { message: 'there is no such sign-in' }));
    },
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
server.listen(Number(readVariable('PORT')), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
