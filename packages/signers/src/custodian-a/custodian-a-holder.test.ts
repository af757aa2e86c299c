import {
  computeWalletAddress,
  type ManifestFile,
  parseEvmAddress,
  parseWalletPub,
  type SpendFile,
} from '@pool/core';
import { computeRequestDigest } from '@pool/policy';
import { recoverAddress, Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CustodianAStage,
  openCustodianA,
} from '../fixtures/conformance/custodian-a-harness.ts';
import { fundFile } from '../fixtures/manifest-files.ts';
import { requests, signInExpected, signInText, wallet } from '../fixtures/requests.ts';
import type { Progress } from '../signer.ts';
import { type CustodianAHolderOptions, createCustodianAHolder } from './custodian-a-holder.ts';

const walletPub = parseWalletPub(wallet.signingKey.compressedPublicKey);
const address = computeWalletAddress(walletPub);
const funder = {
  address: parseEvmAddress(new Wallet(`0x${'44'.repeat(32)}`).address),
  walletId: 'wa-funder',
};
const { operation, salt } = requests.spend.payload;
let stage: CustodianAStage;

beforeAll(async () => {
  stage = await openCustodianA();
});
beforeEach(() => stage.served.control.reset());
afterAll(() => stage.served.close());

function holderOf(change: Partial<CustodianAHolderOptions> = {}) {
  const { address: _, ...account } = stage.options;
  return createCustodianAHolder({
    ...account,
    walletPub,
    funder,
    pollMs: 2_000,
    sleep: async () => stage.vote('Approved'),
    ...change,
  });
}

describe('a holder at custodian A', () => {
  it('signs a spend after the vote, and hands its file over first', async () => {
    const posted: ManifestFile[] = [];
    const states: Progress['state'][] = [];
    const approver = {
      postManifest: async (file: ManifestFile) => {
        posted.push(file);
      },
    };
    const file = { ...fundFile } as unknown as SpendFile;
    const { rSig, s, parity } = await holderOf({ approver }).signSpend(operation, salt, {
      file,
      onProgress: ({ state }) => states.push(state),
    });
    const hex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;
    const digest = computeRequestDigest(requests.spend);
    const signer = recoverAddress(digest, { r: hex(rSig), s: hex(s), yParity: parity });
    expect(signer).toBe(address);
    expect(posted).toEqual([file]);
    expect(states).toEqual(['awaiting-approval', 'signing']);
    const [create] = stage.served.control.requests({ method: 'POST', path: '/signatures$' });
    expect(JSON.parse(create?.body ?? '')).toEqual({
      kind: 'Hash',
      hash: digest.slice(2),
      externalId: requests.spend.externalId,
    });
  });

  it('signs in with the text as hex', async () => {
    const signature = await holderOf().signIn({ message: signInText, expected: signInExpected });
    expect(signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/);
    const [create] = stage.served.control.requests({ method: 'POST', path: '/signatures$' });
    expect(JSON.parse(create?.body ?? '')).toMatchObject({
      kind: 'Eip191',
      message: `0x${Buffer.from(signInText).toString('hex')}`,
    });
  });

  it('derives no viewing key', async () => {
    await expect(holderOf().signViewingKeyText('pool.example')).rejects.toMatchObject({
      code: 'viewing_key_required',
    });
    expect(holderOf()).toMatchObject({
      name: 'custodian_a',
      deterministic: false,
      needsVote: true,
    });
  });

  it('reports a denial', async () => {
    const sleep = async () => stage.vote('Denied');
    await expect(holderOf({ sleep }).signSpend(operation, salt)).rejects.toMatchObject({
      code: 'signer_refused',
    });
  });

  it('takes back the request of a spend, which nobody can approve then', async () => {
    const stop = new AbortController();
    const sleep = async () => stop.abort(new Error('stop'));
    const waiting = holderOf({ sleep }).signSpend(operation, salt, { signal: stop.signal });
    await expect(waiting).rejects.toThrow();
    await holderOf().withdrawSpend?.(operation, salt);
    const { approvals, signatures } = stage.served.control.state;
    expect(approvals.map(({ status }) => status)).toEqual(['Denied']);
    expect(signatures.map(({ status }) => status)).toEqual(['Rejected']);
    await holderOf().withdrawSpend?.(operation, salt);
    expect(stage.served.control.requests({ method: 'POST', path: '/decisions$' })).toHaveLength(1);
  });

  it('says that a request could not be taken back, because the custodian does not answer', async () => {
    stage.served.control.addFault({ method: 'GET', path: '/signatures', kind: 'error-before' });
    await expect(holderOf().withdrawSpend?.(operation, salt)).rejects.toMatchObject({
      retryable: true,
    });
  });

  it.each([
    [
      'the id of the funder’s wallet',
      { funder: { ...funder, walletId: 'wa-00000-funds-0000000000000001' } },
    ],
    ['the address of the funder', { funder: { address } }],
  ])('is not made with %s', (_name, change) => {
    expect(() => holderOf(change)).toThrow(
      expect.objectContaining({ code: 'custodian_misconfigured' }),
    );
  });

  it('is asked for the key of its wallet, each time anew, and for no signature', async () => {
    const holder = holderOf();
    await holder.probe?.();
    await holder.probe?.();
    expect(stage.served.control.requests({ method: 'GET', path: '/wallets/' })).toHaveLength(2);
    expect(stage.countCreates()).toBe(0);
    const other = parseWalletPub(new Wallet(`0x${'45'.repeat(32)}`).signingKey.compressedPublicKey);
    await expect(holderOf({ walletPub: other }).probe?.()).rejects.toMatchObject({
      code: 'custodian_misconfigured',
    });
    stage.served.control.addFault({ method: 'GET', path: '/wallets/', kind: 'error-before' });
    await expect(holder.probe?.()).rejects.toMatchObject({ code: 'custodian_unreachable' });
  });

  it.each([
    ['origin', { origin: 'https://other.example' }],
    ['credential', { credentialId: 'credential-of-nobody' }],
  ])(
    'is told that the custodian refuses its %s, before a request is made',
    async (_name, change) => {
      const holder = holderOf(change);
      for (let count = 0; count < 2; count += 1) {
        await expect(holder.probe?.()).rejects.toMatchObject({
          code: 'custodian_misconfigured',
          message: expect.stringMatching(/HTTP 401.*credential id or the origin/) as string,
        });
      }
      expect(stage.countCreates()).toBe(0);
    },
  );

  it('is made without a funder, and signs nothing if the wallet has another key', async () => {
    const other = parseWalletPub(new Wallet(`0x${'45'.repeat(32)}`).signingKey.compressedPublicKey);
    const holder = holderOf({ funder: undefined, walletPub: other });
    await expect(holder.signSpend(operation, salt)).rejects.toMatchObject({
      code: 'signer_refused',
    });
    expect(stage.countCreates()).toBe(0);
  });
});
