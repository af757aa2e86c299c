/** Webhook events as the provider documents them: signed over raw bytes, duplicated and out of order. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createClient } from './fixtures/client.ts';
import { hash, walletId, walletKey } from './fixtures/requests.ts';
import { createSampleOrganisation } from './sample.ts';
import { type ServedCustodianA, serveCustodianA } from './serve.ts';

const secret = 'whs-0000000000000000';
const organisation = createSampleOrganisation({ [walletId]: walletKey });
type Received = { readonly raw: string; readonly signature: string | undefined };
let received: Received[] = [];
let receiver: Server;
let served: ServedCustodianA;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const signature = request.headers['x-webhook-signature']?.toString();
      received.push({ raw: Buffer.concat(chunks).toString('utf8'), signature });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  served = await serveCustodianA({
    ...organisation.config,
    webhooks: [{ id: 'wh-1', url: `http://127.0.0.1:${port}/`, secret, events: ['*'] }],
    settings: { webhookHold: true },
  });
});
beforeEach(() => {
  served.control.reset();
  received = [];
});
afterAll(async () => {
  await served.close();
  receiver.close();
});

async function requestAndDeny(): Promise<void> {
  const path = `/wallets/${walletId}/signatures`;
  const agent = createClient(served.url, organisation.initiator);
  const { approvalId } = (await agent.send('POST', path, hash)).body;
  served.control.vote(approvalId, organisation.approver.userId, 'Denied');
}

function kinds(): string[] {
  return received.map(({ raw }) => (JSON.parse(raw) as { kind: string }).kind);
}

const inOrder = [
  'wallet.signature.requested',
  'policy.approval.pending',
  'wallet.signature.rejected',
  'policy.approval.resolved',
];

it('signs the raw bytes and says when it sent them', async () => {
  await requestAndDeny();
  await served.control.flushWebhooks();
  expect(kinds()).toEqual(inOrder);
  for (const { raw, signature } of received) {
    expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
    const { timestampSent } = JSON.parse(raw) as { timestampSent: number };
    expect(Math.abs(timestampSent - Date.now() / 1_000)).toBeLessThan(300);
  }
});

it('delivers events twice and in reverse when it is told to', async () => {
  served.control.changeSettings({ webhookCopies: 2, webhookOrder: 'reversed' });
  await requestAndDeny();
  expect(received).toHaveLength(0);
  await served.control.flushWebhooks();
  expect(kinds()).toEqual(inOrder.toReversed().flatMap((kind) => [kind, kind]));
  const ids = received.map(({ raw }) => (JSON.parse(raw) as { id: string }).id);
  expect(new Set(ids).size).toBe(4);
});

it('goes on when the receiver is down', async () => {
  const [webhook] = served.control.state.webhooks;
  if (webhook === undefined) throw new Error('no webhook');
  served.control.replaceWebhooks([{ ...webhook, url: 'http://127.0.0.1:1/' }]);
  await requestAndDeny();
  await served.control.flushWebhooks();
  expect(served.control.deliveries().map(({ status }) => status)).toEqual(Array(4).fill('error'));
});
