// No secret leaves the process. The test starts the real binary with canary secrets, sends good and bad requests, and
// searches everything that the process printed, answered and stored.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePorts, startNodeProcess, waitUntilReady } from '@pool/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bootstrap, employerId, pool } from '../fixtures/test-app.ts';

const edgeToken = 'pool_edge_canaryEdge1234567890';
const funderKey = `0x${'c0ffee'.repeat(10)}c0ff`;
const fingerprintKey = `0x${'feedface'.repeat(8)}`;
const gateSecret = 'canaryGateSecret1234567890';
const bearer = `pool_live_CanaryCa_${'canaryKey'.padEnd(43, 'Z')}`;
const canaries = [
  edgeToken,
  funderKey,
  funderKey.slice(2),
  fingerprintKey.slice(2),
  gateSecret,
  bearer,
];

let home: string;
let platform: Server;
let platformUrl: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'canary-'));
  // A platform that knows the agent, and answers every other request with its headers.
  platform = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.endsWith('/bootstrap') === true) {
      response.end(JSON.stringify(bootstrap));
      return;
    }
    response.statusCode = 500;
    response.end(JSON.stringify({ code: 'echo', message: JSON.stringify(request.headers) }));
  });
  await new Promise<void>((resolve) => {
    platform.listen(0, '127.0.0.1', resolve);
  });
  platformUrl = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
  writeFileSync(
    join(home, 'chains.json'),
    JSON.stringify({
      evidence: { domain: 'pool.test', uri: 'https://pool.test' },
      chains: {
        anvil: {
          family: 'evm',
          chainId: 31337,
          rpcUrl: 'http://127.0.0.1:9',
          pool,
          registry: bootstrap.chains['anvil']?.registry,
          deployedAtBlock: 0,
          finality: { kind: 'finalized-tag' },
          maxRecipients: 64,
          tokens: {
            USDC: { address: bootstrap.chains['anvil']?.tokens['USDC'], decimals: 6 },
          },
        },
      },
    }),
  );
});
afterEach(async () => {
  await new Promise((resolve) => {
    platform.close(resolve);
  });
  rmSync(home, { recursive: true });
});

function readAll(directory: string): string {
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .map((path) => (statSync(path).isDirectory() ? readAll(path) : readFileSync(path, 'latin1')))
    .join('\n');
}

/** The answer to these bytes. */
async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(bytes.replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'));
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  return Buffer.concat(chunks).toString('latin1');
}

it('prints, answers and stores no secret [service.secrets-stay, variable.funder-key-warning]', async () => {
  const [port = 0] = await findFreePorts(1);
  const agent = startNodeProcess({
    name: 'canary',
    script: fileURLToPath(new URL('../main.ts', import.meta.url)),
    args: ['serve'],
    logPath: join(home, 'agent.log'),
    env: {
      NODE_ENV: 'production',
      DISBURSE_HOME: home,
      DISBURSE_PORT: String(port),
      DISBURSE_LOG_LEVEL: 'trace',
      DISBURSE_PLATFORM_URL: `${platformUrl}/agent-edge`,
      DISBURSE_PLATFORM_TOKEN: edgeToken,
      DISBURSE_PLATFORM_VERIFY_URL: `${platformUrl}/api/employers/verify-key`,
      DISBURSE_POOL_GATE_URL: `${platformUrl}/gate`,
      POOL_GATE_OAUTH_TOKEN_URL: `${platformUrl}/oauth/token`,
      POOL_GATE_OAUTH_CLIENT_ID: 'agent',
      POOL_GATE_OAUTH_CLIENT_SECRET: gateSecret,
      DISBURSE_FUNDER_PRIVATE_KEY: funderKey,
      DISBURSE_FINGERPRINT_KEY: fingerprintKey,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const token = await waitUntilReady(agent, async () => {
    const answer = await fetch(`${url}/api/livez`).catch(() => undefined);
    return answer?.ok === true
      ? readFileSync(join(home, 'loopback.token'), 'utf8').trim()
      : undefined;
  });
  const answers: string[] = [];
  const ask = async (credential: string, body: unknown): Promise<void> => {
    const response = await fetch(`${url}/api/disburse`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${credential}`,
        'content-type': 'application/json',
        'idempotency-key': 'canary',
      },
      body: JSON.stringify(body),
    });
    answers.push(`${response.status} ${await response.text()}`);
  };
  const request = { token: 'USDC', recipients: [{ recipientAddress: pool, amount: '5' }] };
  await ask(bearer, request);
  await ask(edgeToken, request);
  await ask(token, { ...request, [edgeToken]: bearer });
  await ask(token, { ...request, token: bearer });
  await ask(token, request);
  const readyz = await fetch(`${url}/api/readyz`);
  const ready = await readyz.text();
  const validate = await fetch(`${url}/api/validate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...request,
      recipients: [...request.recipients, { ...request.recipients[0], amount: bearer }],
    }),
  });
  const report = await validate.text();
  answers.push(`${readyz.status} ${ready}`, `${validate.status} ${report}`);
  const unreadable = await Promise.all([
    sendRaw(port, 'GET /api/livez HTTP/1.1\r\n\r\n'),
    sendRaw(port, 'GET /api/livez HTTP/1.1\r\nHost: a b\r\n\r\n'),
    sendRaw(port, 'GET \\\\evil HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  ]);
  await agent.stop();

  // Even an incomplete request gets an answer of the common form.
  expect(unreadable.map((text) => text.slice(0, 12))).toEqual([
    'HTTP/1.1 400',
    'HTTP/1.1 400',
    'HTTP/1.1 400',
  ]);
  for (const text of unreadable) {
    expect(text).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
    expect(text).toMatch(/"code":"(forbidden_host|invalid_request)"/);
  }
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual([
    '503',
    '401',
    '400',
    '400',
    '503',
    '503',
    '200',
  ]);
  expect(JSON.parse(ready)).toMatchObject({
    ok: false,
    checks: {
      accelerator: { ok: true, detail: { kind: 'cpu' } },
      signer: { ok: true, detail: { kind: 'local-key' } },
      poolGate: { ok: false, detail: { kind: 'unreachable' } },
      platform: { ok: true, detail: { kind: 'reachable' } },
    },
  });
  // No RPC answers, the gate URL is not a gate, and the platform knows no recipient.
  expect(JSON.parse(report)).toMatchObject({
    ok: false,
    allowanceState: 'unknown',
    issues: [
      { requestIndex: 1, code: 'invalid-amount' },
      { requestIndex: 1, code: 'duplicate-recipient' },
    ],
    preflight: [
      { code: 'chain_unreachable' },
      { code: 'gate_unreachable' },
      { code: 'platform_unreachable' },
    ],
  });
  const log = readFileSync(join(home, 'agent.log'), 'utf8');
  // The agent ran, warned of the key in a production-flagged environment, and bootstrapped.
  expect(log).toContain('DISBURSE_FUNDER_PRIVATE_KEY');
  expect(log).toContain('bootstrap done');
  expect(log).not.toContain(token);
  expect(log).not.toContain(employerId);
  const everything = [...answers, readAll(home)].join('\n');
  for (const canary of canaries) {
    expect(everything).not.toContain(canary);
  }
});
