// Where a signed answer comes from, and what an address may answer.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { parseOwnersSignature } from './owners-commands.ts';
import { readReleaseSource } from './release-source.ts';

const url = 'https://safe.example/api/v1/messages/0x12/?secret=1';
const json = { 'content-type': 'application/json; charset=utf-8' };

async function never(): Promise<never> {
  throw new Error('nothing must be fetched');
}

function answer(body: string, init: ResponseInit) {
  return async () => new Response(body, init);
}

describe('the source of an answer', () => {
  it('is a file, or JSON at an https address', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'source-')), 'https:');
    writeFileSync(file, '{}');
    expect(await readReleaseSource(file, never)).toEqual({ name: file, text: '{}' });
    const found = await readReleaseSource(url, answer('{"a":1}', { headers: json }));
    expect(found).toEqual({ name: 'https://safe.example', text: '{"a":1}' });
  });

  it.each([
    ['http://safe.example/x', /must begin with https/],
    ['http://127.0.0.1/x', /must begin with https/],
    ['file:///etc/passwd', /must begin with https/],
    ['https://me:word@safe.example/x', /no name or password/],
  ])('is not %s', async (place, message) => {
    const read = readReleaseSource(place, never);
    await expect(read).rejects.toMatchObject({
      code: 'invalid_release',
      message: expect.stringMatching(message),
    });
    await expect(read).rejects.toThrow(/nothing was stored/);
  });

  it.each([
    ['another status', answer('{}', { status: 404, headers: json }), /it answered 404/],
    [
      'a redirect',
      answer('', { status: 302, headers: { location: 'https://a.example' } }),
      /redir/,
    ],
    ['a page', answer('0x12', { headers: { 'content-type': 'text/html' } }), /is not JSON/],
    ['no type', answer('0x12', {}), /is not JSON/],
    ['too much', answer('1'.repeat(1024 * 1024 + 1), { headers: json }), /at most 1 MiB/],
    [
      'an address inside',
      async () => {
        throw new PoolError('webhook_target_refused', 'inside');
      },
      /address that is not public/,
    ],
  ])('refuses %s, and names the origin only', async (_what, fetch, message) => {
    const read = readReleaseSource(url, fetch);
    await expect(read).rejects.toMatchObject({
      code: 'invalid_release',
      message: expect.stringMatching(message),
    });
    await expect(read).rejects.not.toThrow(/secret|0x12/);
  });
});

describe('the signatures of owners', () => {
  const parse = (text: string) => parseOwnersSignature({ name: 'a file', text });

  it('are hex, the prepared signature of a message, or its confirmations by owner address', () => {
    expect(parse(' 0xABcd\n')).toEqual({ signature: '0xabcd' });
    const owners = { safe: '0x1', messageHash: '0x2', proposedBy: 'any' };
    expect(parse(JSON.stringify({ ...owners, preparedSignature: '0xAA' }))).toEqual({
      ...{ safe: '0x1', messageHash: '0x2', signature: '0xaa' },
    });
    const confirmations = [
      { owner: '0xB', signature: '0xbb' },
      { owner: '0xa', signature: '0xaa' },
    ];
    expect(parse(JSON.stringify({ preparedSignature: null, confirmations }))).toMatchObject({
      signature: '0xaabb',
    });
  });

  it('are missing while nobody has signed', () => {
    expect(() => parse('{"confirmations":[]}')).toThrow(/no signature of an owner yet/);
  });

  it('are not the answer of "release sign", and not a file with a name twice', () => {
    expect(parse('{"format":"pool/release-answer/1"}')).toBeUndefined();
    expect(() => parse('{"safe":"0x1","safe":"0x2"}')).toThrow(/duplicate JSON key/);
  });
});
