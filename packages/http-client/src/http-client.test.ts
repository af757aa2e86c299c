import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PoolError, Secret } from '@pool/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { observeRequests } from './fetch-bounded.ts';
import { createHttpClient, describeAnswer } from './http-client.ts';
import { tooLarge } from './read-cut-json.ts';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failureOf(promise: Promise<unknown>): Promise<PoolError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PoolError);
  return error as PoolError;
}

describe('an exchange with a custodian', () => {
  it('sends the body byte for byte below the path of the base address', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
        response.writeHead(202).end('{"id":"1"}');
      });
    });
    const call = createHttpClient({ url: `${url}/v1/`, service: 'custodian' });
    const answer = await call({
      method: 'POST',
      path: '/sign',
      query: { page: 'a b' },
      headers: { authorization: 'Bearer t' },
      body: '{"a":  "ü"}',
    });
    expect(seen).toEqual(['POST /v1/sign?page=a+b Bearer t {"a":  "ü"}']);
    expect([answer.status, answer.body]).toEqual([202, { id: '1' }]);
  });

  it('returns an error answer with its status, and no body if it is not JSON', async () => {
    const url = await serve((_request, response) => response.writeHead(500).end('<html>'));
    const call = createHttpClient({ url, service: 'custodian' });
    const answer = await call({ method: 'GET', path: '/' });
    expect([answer.status, answer.body]).toEqual([500, undefined]);
  });

  it('does not follow a redirect', async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      requests += 1;
      response.writeHead(307, { location: '/other' }).end();
    });
    const call = createHttpClient({ url, service: 'custodian' });
    const error = await failureOf(call({ method: 'GET', path: '/' }));
    expect([error.code, error.retryable, requests]).toEqual(['custodian_unreachable', true, 1]);
  });

  it('reads at most 1 MiB', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(1024 * 1024 + 1)));
    const call = createHttpClient({ url, service: 'custodian' });
    const error = await failureOf(call({ method: 'GET', path: '/' }));
    expect([error.code, error.retryable]).toEqual(['custodian_invalid_response', false]);
  });

  it('reads more where it cuts what is too large, and at most what is asked for', async () => {
    const body = JSON.stringify([{ id: '1', text: 'x'.repeat(1024 * 1024) }]);
    const url = await serve((_request, response) => response.end(body));
    const call = createHttpClient({ url, service: 'custodian' });
    const cut = { depth: 2, maxLength: 1024, maxBytes: 2 * 1024 * 1024 };
    const answer = await call({ method: 'GET', path: '/', cut });
    expect(answer.body).toEqual([{ id: '1', text: tooLarge }]);
    const error = await failureOf(
      call({ method: 'GET', path: '/', cut: { ...cut, maxBytes: 1024 * 1024 } }),
    );
    expect(error.code).toBe('custodian_invalid_response');
  });

  it('ends after its time limit, and reports a retryable failure', async () => {
    const url = await serve(() => undefined);
    const call = createHttpClient({ url, service: 'custodian', timeoutMs: 20 });
    const error = await failureOf(call({ method: 'GET', path: '/' }));
    expect([error.code, error.retryable]).toEqual(['custodian_unreachable', true]);
    expect(error.message).toContain('20 ms');
  });

  it('reports a dropped connection as a retryable failure', async () => {
    const url = await serve((request) => request.socket.destroy());
    const call = createHttpClient({ url, service: 'custodian' });
    const error = await failureOf(call({ method: 'POST', path: '/', body: '{}' }));
    expect([error.code, error.retryable]).toEqual(['custodian_unreachable', true]);
  });

  it('throws the reason of the caller who aborts it, before and during the exchange', async () => {
    let requests = 0;
    const reason = new Error('stop');
    const controller = new AbortController();
    const url = await serve(() => {
      requests += 1;
      controller.abort(reason);
    });
    const call = createHttpClient({ url, service: 'custodian' });
    const exchange = { method: 'GET', path: '/', signal: controller.signal } as const;
    await expect(call(exchange)).rejects.toBe(reason);
    await expect(call(exchange)).rejects.toBe(reason);
    expect(requests).toBe(1);
  });

  it.each(['http://custodian.example', 'https://user:pw@custodian.example', 'file:///etc'])(
    'refuses the address %s',
    (url) => {
      expect(() => createHttpClient({ url, service: 'custodian' })).toThrow(
        expect.objectContaining({ code: 'invalid_configuration' }),
      );
    },
  );
});

describe('the reason of an error answer', () => {
  const headers = new Headers();

  it.each([
    [{ message: 'no\u001b[31m such\nwallet' }, 'HTTP 404: no [31m such wallet'],
    [{ error: { message: 'not found', id: '1' } }, 'HTTP 404: not found'],
    [{ error: 'not found' }, 'HTTP 404: not found'],
    [{ message: 'x'.repeat(999) }, `HTTP 404: ${'x'.repeat(300)}...`],
    [{ error: 7 }, 'HTTP 404'],
    [undefined, 'HTTP 404'],
  ])('is short and printable (%#)', (body, expected) => {
    expect(describeAnswer({ status: 404, headers, body })).toBe(expected);
  });

  it('does not repeat a credential that the peer echoes', () => {
    const body = { error: { message: 'Bearer abc.def is expired' } };
    const reason = describeAnswer({ status: 401, headers, body }, [new Secret('abc.def')]);
    expect(reason).toBe('HTTP 401: Bearer [redacted] is expired');
  });
});

it('lets an observer add headers, and keeps those of the request', async () => {
  const seen: (string | undefined)[] = [];
  const url = await serve(({ headers }, response) => {
    seen.push(headers['traceparent'] as string | undefined, headers.authorization);
    response.writeHead(200).end('{}');
  });
  const calls: string[] = [];
  observeRequests(async (service, method, send) => {
    calls.push(`${method} ${service}`);
    return await send({ traceparent: 'from the observer' });
  });
  onTestFinished(() => {
    observeRequests(undefined);
  });
  const headers = { authorization: 'Bearer t' };
  await createHttpClient({ url, service: 'platform' })({ method: 'GET', path: '/', headers });
  expect(calls).toEqual(['GET platform']);
  expect(seen).toEqual(['from the observer', 'Bearer t']);
});
