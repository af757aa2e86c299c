// What is said of a login that fails in the exchange of a SCRAM password. The server is a few bytes of its protocol.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { explainRefusal, toDatabaseError } from './postgres-errors.ts';
import { createPostgresPool } from './postgres-pool.ts';
import { parsePostgresUrl } from './postgres-url.ts';

/** AuthenticationSASL (10) and AuthenticationSASLContinue (11). */
function encode(kind: number, text: string): Buffer {
  const body = Buffer.concat([Buffer.from([0, 0, 0, kind]), Buffer.from(text)]);
  return Buffer.concat([Buffer.from('R'), Buffer.from([0, 0, 0, body.length + 4]), body]);
}

const offer = encode(10, 'SCRAM-SHA-256\0\0');

it.each([
  ['no password', '', [offer, encode(11, 'r=x,s=AAAA,i=4096')], /asks for a password/],
  ['a foreign nonce', ':secret', [offer, encode(11, 'r=x,s=AAAA,i=4096')], /did not prove/],
  ['an unknown method', ':secret', [encode(10, 'OTHER\0\0')], /no supported method/],
])('a login with %s', async (_name, password, answers, expected) => {
  const left = [...answers];
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write(left.shift() ?? ''));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = parsePostgresUrl(`postgres://pool${password}@127.0.0.1:${port}/pool`);
  if (typeof settings === 'string') {
    throw new Error(settings);
  }
  const pool = createPostgresPool({ settings, name: 'test', size: 1 });
  const error: unknown = await pool.connect().catch((thrown: unknown) => thrown);
  await pool.end();
  server.close();
  // Nothing was asked of the server yet, so a running service may try again.
  expect(error).toMatchObject({ code: 'database_unavailable', retryable: true });
  const { cause } = error as Error;
  expect(toDatabaseError(cause)).toMatchObject({ code: 'database_unavailable' });
  expect(explainRefusal(cause)).toMatch(expected);
});
