// The choice of the gate: the configured one, else the one that is vended now.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@pool/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createGateSource } from './gate-source.ts';

const root = `0x${'0a'.repeat(32)}`;
const answers: Readonly<Record<string, unknown>> = {
  '/oauth/token': { access_token: 'token', token_type: 'bearer', expires_in: 3600 },
  '/v1/paths': { root, paths: [], missing: [] },
  '/v1/root': { root, wallets: 0 },
};
const servers: Server[] = [];
let seen: string[] = [];

/** A gate that answers every request with its own root. */
async function startGate(name: string): Promise<string> {
  const server = createServer((request, response) => {
    seen.push(`${name} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[request.url ?? '']));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(() => {
  seen = [];
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

function vend(url: string) {
  const oauth = { tokenUrl: `${url}/oauth/token`, clientId: 'a', clientSecret: 's', scope: 'x' };
  return { url, oauth };
}

it('uses the gate that is vended now, also for a job that began with another one [variable.gate]', async () => {
  const [first, second] = [await startGate('first'), await startGate('second')];
  const gates = createGateSource(undefined);
  expect(gates.isConfigured()).toBe(false);
  expect(gates.port()).toBeUndefined();
  gates.update(vend(first));
  const port = gates.port();
  await port?.paths([root]);
  gates.update(vend(first));
  await port?.paths([root]);
  gates.update(vend(second));
  await port?.paths([root]);
  // The same settings keep their access token.
  expect(seen).toEqual([
    'first /oauth/token',
    'first /v1/paths',
    'first /v1/paths',
    'second /oauth/token',
    'second /v1/paths',
  ]);
});

it('lets a job wait when no gate is vended', async () => {
  const gates = createGateSource(undefined);
  gates.update(vend(await startGate('first')));
  const port = gates.port();
  gates.update(undefined);
  expect(gates.isConfigured()).toBe(false);
  const refusal = { code: 'gate_unreachable', retryable: true };
  await expect(port?.paths([root])).rejects.toMatchObject(refusal);
  await expect(gates.probe()).rejects.toMatchObject(refusal);
  expect(seen).toEqual([]);
});

it('uses the configured gate, whatever is vended [variable.gate]', async () => {
  const [own, vended] = [await startGate('own'), await startGate('vended')];
  const { url, oauth } = vend(own);
  const gates = createGateSource({ url, ...oauth, clientSecret: new Secret('s') });
  gates.update(vend(vended));
  gates.update(undefined);
  await gates.port()?.paths([root]);
  await gates.probe();
  expect(seen).toEqual(['own /oauth/token', 'own /v1/paths', 'own /oauth/token', 'own /v1/root']);
});
