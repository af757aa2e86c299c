// Outages while a request waits at custodian A: the gate without its manifests, pages of a proxy, an abort.
import { PoolError } from '@pool/core';
import { createSignRequest } from '@pool/policy';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CustodianAStage,
  funderWalletId,
  openCustodianA,
} from '../fixtures/conformance/custodian-a-harness.ts';
import { fundFile } from '../fixtures/manifest-files.ts';
import { privateKey, requests, signInAtMs } from '../fixtures/requests.ts';
import { type CustodianASignerOptions, createCustodianASigner } from './custodian-a-signer.ts';

let stage: CustodianAStage;
let nowMs = signInAtMs;

beforeAll(async () => {
  stage = await openCustodianA({ [funderWalletId]: privateKey });
});
beforeEach(() => {
  stage.served.control.reset();
  nowMs = signInAtMs;
});
afterAll(() => stage.served.close());

function signerOf(change: Partial<CustodianASignerOptions> = {}) {
  return createCustodianASigner({ ...stage.options, nowMs: () => nowMs, ...change });
}

/** A network that changes single answers on their way. */
function through(change: (input: string, answer: Response) => Response) {
  return {
    fetch: async (input: string, init: RequestInit) => change(input, await fetch(input, init)),
  };
}

describe('the approve process', () => {
  const { externalId: _, ...fund } = requests.fund;
  const withFile = createSignRequest({ ...fund, file: fundFile });

  it('that refuses a manifest ends it at once, unless the custodian has the request', async () => {
    const refused = new PoolError('manifest_refused', 'the employer is not listed');
    const approver = { postManifest: () => Promise.reject(refused) };
    expect(await signerOf({ approver }).submit(withFile)).toMatchObject({
      state: 'failed',
      retryable: false,
      code: 'manifest_refused',
    });
    await signerOf().submit(withFile);
    expect(await signerOf({ approver }).submit(withFile)).toMatchObject({
      state: 'awaiting-approval',
    });
  });

  it('gets the file again while the request waits: after a restart, and every 5 minutes', async () => {
    const id = (await signerOf().submit(withFile)).providerId ?? '';
    let posts = 0;
    const approver = {
      postManifest: async () => {
        posts += 1;
      },
    };
    const signer = signerOf({ approver });
    const counts: number[] = [];
    for (const seconds of [0, 1, 298, 1, 299, 1]) {
      nowMs += 1_000 * seconds;
      await signer.read(id, withFile);
      counts.push(posts);
    }
    expect(counts).toEqual([1, 1, 1, 2, 2, 3]);
    stage.vote('Approved');
    await expect
      .poll(() => signer.read(id, withFile), { interval: 1 })
      .toMatchObject({ state: 'signed' });
    nowMs += 600_000;
    await signer.read(id, withFile);
    expect(posts).toBe(3);
  });

  it('that does not take the file again is an outage, whatever it says, and is asked every minute', async () => {
    const id = (await signerOf().submit(withFile)).providerId ?? '';
    let posts = 0;
    const approver = {
      postManifest: () => {
        posts += 1;
        return Promise.reject(new PoolError('manifest_refused', 'the employer is not listed'));
      },
    };
    const signer = signerOf({ approver });
    const outage = { state: 'failed', retryable: true, code: 'manifest_refused' };
    expect(await signer.read(id, withFile)).toMatchObject(outage);
    nowMs += 59_000;
    expect(await signer.read(id, withFile)).toMatchObject(outage);
    expect(posts).toBe(1);
    nowMs += 1_000;
    await signer.read(id, withFile);
    expect(posts).toBe(2);
    stage.vote('Approved');
    await expect
      .poll(() => signer.read(id, withFile), { interval: 1 })
      .toMatchObject({ state: 'signed' });
  });
});

describe('a page of a proxy instead of an answer', () => {
  const pages = [
    ['a page', () => new Response('<html>maintenance</html>')],
    ['nothing', () => new Response('')],
    ['a redirect', () => new Response(undefined, { status: 302, headers: { location: '/m' } })],
  ] as const;

  it.each(pages)('(%s) to a read is an outage', async (_what, page) => {
    const id = (await signerOf().submit(requests.fund)).providerId ?? '';
    const away = signerOf({ fetch: async () => page() });
    for (const step of [
      await away.read(id, requests.fund),
      await away.find(requests.fund),
      await away.submit(requests.fund),
    ]) {
      expect(step).toMatchObject({
        state: 'failed',
        retryable: true,
        code: 'custodian_unreachable',
      });
    }
  });

  it.each(pages)('(%s) to the call before a create is an outage', async (_what, page) => {
    const fetch = through((input, answer) => (/auth\/action/.test(input) ? page() : answer));
    expect(await signerOf(fetch).submit(requests.fund)).toMatchObject({
      state: 'failed',
      retryable: true,
      code: 'custodian_unreachable',
    });
    expect(stage.countCreates()).toBe(0);
  });

  it('that is JSON of another form stays final', async () => {
    const away = signerOf({ fetch: async () => Response.json({ status: 'maintenance' }) });
    expect(await away.find(requests.fund)).toMatchObject({
      state: 'failed',
      retryable: false,
      code: 'custodian_invalid_response',
    });
  });
});

describe('an abort whose reason is an error of this repository', () => {
  it('is thrown, and never an outcome', async () => {
    const reason = new PoolError('timed_out', 'the lease is lost');
    const signal = AbortSignal.abort(reason);
    const signer = signerOf();
    await expect(signer.submit(requests.fund, { signal })).rejects.toBe(reason);
    await expect(signer.read('sig', requests.fund, { signal })).rejects.toBe(reason);
  });
});
