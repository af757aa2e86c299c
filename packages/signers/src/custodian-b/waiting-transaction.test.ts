// Outages while a transaction waits at custodian B: the gate without its manifests, and pages of a proxy.
import { PoolError } from '@pool/core';
import { createSignRequest } from '@pool/policy';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CustodianBStage,
  type CustodianBStageOptions,
  openCustodianB,
} from '../fixtures/conformance/custodian-b-harness.ts';
import { fundFile } from '../fixtures/manifest-files.ts';
import { requests, signInAtMs } from '../fixtures/requests.ts';
import type { Outcome, Progress } from '../signer.ts';
import { type CustodianBSignerOptions, createCustodianBSigner } from './custodian-b-signer.ts';

const { fund } = requests;
const withFile = createSignRequest({ ...fund, file: fundFile });

async function open(options: CustodianBStageOptions = {}): Promise<CustodianBStage> {
  const stage = await openCustodianB({}, options);
  onTestFinished(stage.close);
  return stage;
}

function createSigner(stage: CustodianBStage, overrides: Partial<CustodianBSignerOptions> = {}) {
  return createCustodianBSigner({ ...stage.options, ...overrides });
}

function idOf(step: Progress | Outcome): string {
  return step.providerId ?? '';
}

describe('custodian B, while a transaction waits', () => {
  it('a manifest that the gate refuses ends the request at once, unless the custodian has it', async () => {
    const stage = await open();
    const refused = new PoolError('manifest_refused', 'the employer is not listed');
    const approver = { postManifest: () => Promise.reject(refused) };
    expect(await createSigner(stage, { approver }).submit(withFile)).toMatchObject({
      state: 'failed',
      retryable: false,
      code: 'manifest_refused',
    });
    await createSigner(stage).submit(withFile);
    expect(await createSigner(stage, { approver }).submit(withFile)).toMatchObject({
      state: 'awaiting-approval',
    });
  });

  it('the manifest is passed again while the request waits: after a restart, and every 5 minutes', async () => {
    let nowMs = signInAtMs;
    const stage = await open({ nowMs: () => nowMs });
    const id = idOf(await createSigner(stage).submit(withFile));
    let posts = 0;
    const approver = {
      postManifest: async () => {
        posts += 1;
      },
    };
    const signer = createSigner(stage, { approver });
    const counts: number[] = [];
    for (const seconds of [0, 299, 300]) {
      nowMs = signInAtMs + 1_000 * seconds;
      await signer.read(id, withFile);
      counts.push(posts);
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  it.each([
    ['a page', () => new Response('<html>maintenance</html>')],
    ['a redirect', () => new Response(undefined, { status: 302, headers: { location: '/m' } })],
  ])('%s of a proxy instead of an answer is an outage', async (_what, page) => {
    const stage = await open();
    const id = idOf(await createSigner(stage).submit(fund));
    const away = createSigner(stage, { fetch: async () => page() });
    for (const step of [await away.read(id, fund), await away.find(fund)]) {
      expect(step).toMatchObject({
        state: 'failed',
        retryable: true,
        code: 'custodian_unreachable',
      });
    }
  });
});
