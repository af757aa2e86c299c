/** How many calls to contracts run at once, and what they check. */
import { parseEvmAddress } from '@pool/core';
import { hashMessage, Wallet } from 'ethers';
import { describe, expect, it } from 'vitest';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import {
  createContractWallets,
  maxQuestionsAtOnce,
  maxQuestionsOfCaller,
} from './contract-wallets.ts';

function createAddress() {
  return parseEvmAddress(Wallet.createRandom().address);
}
const owner = createAddress();

describe('calls to contracts at sign-in', () => {
  const evidence = { message: 'm', signature: '0x' } as const;

  it('on a chain that hangs do not block calls on another chain', async () => {
    const [hanging, healthy] = [
      { settings: testSettings, checkContractSignature: () => new Promise<never>(() => undefined) },
      {
        settings: { ...testSettings, chainId: 10 },
        checkContractSignature: () => Promise.resolve('valid' as const),
      },
    ];
    const walletsOf = createContractWallets([hanging, healthy]);
    const ask = (caller: string, chainId: number) =>
      walletsOf(caller).ask(chainId, owner, evidence);
    for (let asked = 0; asked < maxQuestionsAtOnce; asked += 1) {
      void ask(`caller ${asked}`, testSettings.chainId);
    }
    await expect(ask('a', testSettings.chainId)).rejects.toMatchObject({
      code: 'too_many_sign_ins',
    });
    expect(await ask('a', 10)).toBe('valid');
  });

  it('of one caller have a limit, so that other callers have places', async () => {
    const waiting: PromiseWithResolvers<'invalid'>[] = [];
    const walletsOf = createContractWallets([
      {
        settings: testSettings,
        checkContractSignature: () => {
          const answer = Promise.withResolvers<'invalid'>();
          waiting.push(answer);
          return answer.promise;
        },
      },
    ]);
    const ask = (caller: string) => walletsOf(caller).ask(testSettings.chainId, owner, evidence);
    const all = Array.from({ length: maxQuestionsOfCaller }, () => ask('stranger'));
    await expect(ask('stranger')).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      details: { retryAfterSeconds: 1 },
    });
    all.push(ask('somebody'));
    waiting[0]?.resolve('invalid');
    await all[0];
    all.push(ask('stranger'));
    await expect(ask('stranger')).rejects.toMatchObject({ code: 'rate_limited' });
    for (const { resolve } of waiting) resolve('invalid');
    expect(await Promise.all(all)).toEqual(all.map(() => 'invalid'));
  });

  it('have a limit per chain, and each call frees its place when it returns or fails', async () => {
    const waiting: PromiseWithResolvers<'valid'>[] = [];
    const chain = {
      settings: testSettings,
      checkContractSignature: () => {
        const answer = Promise.withResolvers<'valid'>();
        waiting.push(answer);
        return answer.promise;
      },
    };
    const walletsOf = createContractWallets([chain]);
    const ask = () => {
      const address = createAddress();
      return walletsOf(address).ask(testSettings.chainId, address, evidence);
    };
    const all = Array.from({ length: maxQuestionsAtOnce }, ask);
    const settled = Promise.allSettled(all);
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_sign_ins', status: 503 });
    waiting[0]?.reject(new Error('gone'));
    await expect(all[0]).rejects.toThrow('gone');
    const next = ask();
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_sign_ins' });
    for (const { resolve } of waiting) resolve('valid');
    await settled;
    expect(await next).toBe('valid');
    expect(await walletsOf('a').ask(1, createAddress(), evidence)).toBe('no-contract');
  });

  it('ask about the EIP-191 hash of the text', async () => {
    const digests: string[] = [];
    const chain = {
      settings: testSettings,
      checkContractSignature: ({ digest }: { digest: string }) => {
        digests.push(digest);
        return Promise.resolve('invalid' as const);
      },
    };
    await createContractWallets([chain])('a').ask(31337, owner, evidence);
    expect(digests).toEqual([hashMessage('m')]);
  });
});
