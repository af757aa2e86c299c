import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { computeManifestDigest, PoolError, Secret } from '@pool/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fundFile } from '../fixtures/manifest-files.ts';
import { funder } from '../fixtures/requests.ts';
import { createApproverClient } from './approver-client.ts';

const token = new Secret('approve-token-canary');
const digest = computeManifestDigest(fundFile.manifest);
const wallet = { address: funder, role: 'funder', custodian: 'custodian_a' } as const;

async function clientOf(status: number, answer: unknown) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    request.setEncoding('utf8');
    let body = '';
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`, body);
      response.writeHead(status).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: createApproverClient({ url, token }), seen };
}

describe('the client of the approve process', () => {
  it('posts the file with its token and accepts the digest of its manifest', async () => {
    const { client, seen } = await clientOf(200, { manifestDigest: digest, other: 1 });
    await client.postManifest(fundFile);
    expect(seen[0]).toBe('POST /v1/manifests Bearer approve-token-canary');
    expect(JSON.parse(seen[1] ?? '')).toEqual(fundFile);
  });

  it.each([
    [200, { manifestDigest: `0x${'00'.repeat(32)}` }, 'approver_invalid_response'],
    [200, {}, 'approver_invalid_response'],
    [500, { message: 'approve-token-canary' }, 'approver_unreachable'],
    [401, { message: 'token approve-token-canary is unknown' }, 'approver_refused'],
    [404, { message: 'no such route' }, 'approver_refused'],
    [409, { code: 'manifest_conflict', message: 'job-has-other-manifest' }, 'manifest_conflict'],
    [503, { code: 'manifest_not_ready', message: 'a fact is missing' }, 'approver_unreachable'],
  ])('throws a retryable error for HTTP %i %j', async (status, answer, code) => {
    const { client } = await clientOf(status, answer);
    const error: unknown = await client.postManifest(fundFile).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PoolError);
    expect(error).toMatchObject({ code, retryable: true });
    expect(inspect([client, error], { depth: 9, showHidden: true })).not.toContain('canary');
  });

  it.each([
    [422, 'manifest_refused'],
    [400, 'invalid_request'],
    [413, 'payload_too_large'],
  ])('throws a final error with the reason for HTTP %i %s', async (status, code) => {
    const { client } = await clientOf(status, { code, message: 'no (employer-not-listed)' });
    await expect(client.postManifest(fundFile)).rejects.toMatchObject({
      code: 'manifest_refused',
      retryable: false,
      message: expect.stringMatching(/nothing was sent to the custodian.*\(employer-not-listed\)/),
    });
  });

  it('finds a gate that accepts its token and judges for its wallets', async () => {
    const roles = ['funder', 'holder'];
    const { client, seen } = await clientOf(200, { custodian: 'custodian_a', roles });
    await client.probe([wallet, { ...wallet, role: 'holder' }]);
    const question = `GET /v1/wallets/${wallet.address} Bearer approve-token-canary`;
    expect(seen).toEqual([question, '', question, '']);
  });

  it.each([
    [401, { code: 'unauthorized', message: 'send approve-token-canary' }, 'approver_refused'],
    [403, { code: 'forbidden_host', message: 'not served here' }, 'approver_invalid_response'],
    [404, { code: 'not_found', message: 'no route' }, 'approver_invalid_response'],
    [200, { manifestDigest: digest }, 'approver_invalid_response'],
    [502, undefined, 'approver_unreachable'],
    [200, { custodian: 'custodian_a', roles: ['holder'] }, 'manifest_refused'],
    [200, { custodian: 'custodian_b', roles: ['funder'] }, 'manifest_refused'],
  ])('finds no such gate for HTTP %i %j', async (status, answer, code) => {
    const { client } = await clientOf(status, answer);
    const error: unknown = await client.probe([wallet]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: 9 })).not.toContain('canary');
  });

  it('is aborted by the caller', async () => {
    const { client, seen } = await clientOf(200, { manifestDigest: digest });
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(client.postManifest(fundFile, signal)).rejects.toThrow('stop');
    expect(seen).toEqual([]);
  });
});
