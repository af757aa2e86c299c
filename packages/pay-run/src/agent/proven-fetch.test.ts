// Commands send a credential only to the agent that owns its port: attacks by a program that took the port.
import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  connect as tcpConnect,
} from 'node:net';
import { Secret } from '@pool/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withPortProof } from '../fixtures/port-proofs.ts';
import { createPortProof, portProofPath } from './port-proof.ts';
import { createProvenFetch } from './proven-fetch.ts';

const token = new Secret('ab'.repeat(32));
const credential = 'Bearer pool_live_canary';

async function listen(server: Server, host = '127.0.0.1'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Answers challenges like the agent, and keeps everything that it is sent. */
async function startAgent(own = token, host = '127.0.0.1') {
  const seen: string[] = [];
  const answer = withPortProof(own, (request, response) =>
    response.end(JSON.stringify({ answered: request.url })),
  );
  const url = await listen(
    createServer((request, response) => {
      seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
      answer(request, response);
    }),
    host,
  );
  return { url, seen };
}

/** A program that took the port, and keeps everything that it is sent. */
async function startImpostor(answer: RequestListener) {
  const seen: string[] = [];
  const url = await listen(
    createServer((request, response) => {
      seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
      request.on('data', (chunk: Buffer) => void seen.push(chunk.toString()));
      answer(request, response);
    }),
  );
  return { url, seen };
}

function ask(url: string): Promise<Response> {
  return createProvenFetch(() => token)(`${url}/api/disburse`, {
    method: 'POST',
    headers: { authorization: credential },
    body: 'salaries',
  });
}

async function expectNothingSent(url: string, seen: readonly string[], message: RegExp) {
  await expect(ask(url)).rejects.toMatchObject({
    code: 'agent_not_proven',
    retryable: false,
    message: expect.stringMatching(message),
  });
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.join()).not.toMatch(/canary|salaries/);
  expect(seen.join()).not.toContain(token.reveal());
}

describe('a command', () => {
  it.each(['127.0.0.1', '::1'])('asks the agent at %s after its proof', async (host) => {
    const { url, seen } = await startAgent(token, host);
    const answer = await ask(url);
    expect(await answer.json()).toEqual({ answered: '/api/disburse' });
    expect(seen.map((line) => line.split(/[ ?]/)[0])).toEqual([portProofPath, '/api/disburse']);
    expect(seen[1]).toContain(credential);
  });

  it('names the process that listens in the place of the agent', async () => {
    const { url, seen } = await startImpostor((_request, response) => response.end('hello'));
    const where = process.platform === 'linux' ? `\\(process ${process.pid}, ` : '';
    await expectNothingSent(url, seen, new RegExp(`${where}.*DISBURSE_PORT`));
  });

  it.each<[string, RequestListener]>([
    ['404', (_request, response) => response.writeHead(404).end('{"code":"not_found"}')],
    ['a proof of another length', (_request, response) => response.end('{"proof":"ab"}')],
    ['bytes without an end', (_request, response) => void response.write('x'.repeat(100_000))],
    [
      'the challenge',
      (request, response) => {
        const challenge = new URL(request.url ?? '', 'http://a').searchParams.get('challenge');
        response.end(JSON.stringify({ proof: challenge, end: 'x' }));
      },
    ],
  ])('sends nothing to a program that answers %s', async (_what, answer) => {
    const { url, seen } = await startImpostor(answer);
    await expectNothingSent(url, seen, /did not prove/);
  });

  it('sends nothing to the agent of another directory', async () => {
    const { url, seen } = await startAgent(new Secret('cd'.repeat(32)));
    await expectNothingSent(url, seen, /DISBURSE_HOME/);
  });

  it('refuses a proof that a program fetched from the agent on another port', async () => {
    const agent = await startAgent();
    const { url, seen } = await startImpostor((request, response) => {
      void fetch(`${agent.url}${request.url}`).then(async (answer) =>
        response.end(await answer.text()),
      );
    });
    await expectNothingSent(
      url,
      seen,
      /only passes on to the agent, which it reaches at 127.0.0.1/,
    );
    expect(agent.seen.join()).not.toMatch(/canary|salaries/);
  });

  it('refuses a program that passes on every byte to the agent', async () => {
    const agent = await startAgent();
    const url = await listen(
      createTcpServer((socket) => {
        const through = tcpConnect(Number(new URL(agent.url).port), '127.0.0.1');
        socket.pipe(through).pipe(socket);
        through.on('error', () => socket.destroy());
        socket.on('error', () => through.destroy());
      }),
    );
    await expectNothingSent(url, agent.seen, /only passes on/);
  });

  it('refuses a program at another address of the port of the agent', async () => {
    const agent = await startAgent();
    const taken = createServer((request, response) => {
      void fetch(`${agent.url}${request.url}`).then(async (answer) =>
        response.end(await answer.text()),
      );
    });
    const { port } = new URL(agent.url);
    await new Promise<void>((resolve) => taken.listen(Number(port), '127.0.0.2', resolve));
    onTestFinished(() => void taken.close());
    await expectNothingSent(`http://127.0.0.2:${port}`, agent.seen, /only passes on/);
  });

  it('refuses a proof of an earlier connection', async () => {
    const proofs: string[] = [];
    const { url, seen } = await startImpostor((request, response) => {
      const { localAddress: address, localPort: port } = request.socket;
      const challenge = new URL(request.url ?? '', 'http://a').searchParams.get('challenge') ?? '';
      proofs.push(JSON.stringify(createPortProof(token, challenge, { address, port })));
      // The first challenge is answered too late: by the time of the second.
      response.end(proofs.length === 1 ? '{}' : proofs[0]);
    });
    await expectNothingSent(url, seen, /did not prove/);
    await expectNothingSent(url, seen, /did not prove/);
  });

  it('sends nothing to a program that takes the port after the proof', async () => {
    const seen: string[] = [];
    let connections = 0;
    const server = createServer((request, response) => {
      const { localAddress: address, localPort: port } = request.socket;
      const challenge = new URL(request.url ?? '', 'http://a').searchParams.get('challenge');
      if (challenge === null) {
        seen.push(JSON.stringify(request.headers));
      }
      response.setHeader('connection', 'close');
      response.end(JSON.stringify(createPortProof(token, challenge ?? '', { address, port })));
    });
    server.on('connection', () => {
      connections += 1;
    });
    await expect(ask(await listen(server))).rejects.toThrow('the connection ended');
    expect([connections, seen]).toEqual([1, []]);
  });

  it('treats an agent that stops as one that does not answer', async () => {
    const { url } = await startImpostor((_request, response) => response.writeHead(503).end('{}'));
    await expect(ask(url)).rejects.toThrow('takes no requests');
  });
});

describe('the proof', () => {
  it.each(['', 'ab', 'AB'.repeat(32), `${'ab'.repeat(32)}\n`])(
    'is not made for a challenge that is not 32 bytes: %j',
    (challenge) => {
      expect(() => createPortProof(token, challenge, { address: '::1', port: 1 })).toThrow(
        'challenge',
      );
    },
  );

  it('is the same for both spellings of an IPv4 address', () => {
    const challenge = '00'.repeat(32);
    const [mapped, plain] = ['::ffff:127.0.0.1', '127.0.0.1'].map((address) =>
      createPortProof(token, challenge, { address, port: 8787 }),
    );
    expect(mapped).toEqual(plain);
  });
});
