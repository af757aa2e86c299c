// A holder of W and its viewing key alone: it reads and signs nothing. A spend with one is in holder-routes and balance.e2e.
import { type DisclosureContent, PoolError, parseWalletPub, Secret } from '@pool/core';
import type { SpendOperation } from '@pool/notes';
import { assertSigns, openHolder } from '@pool/signers';
import { describe, expect, it } from 'vitest';
import encryptionVectors from '../../../../../vectors/encryption-key.json' with { type: 'json' };
import walletVectors from '../../../../../vectors/wallet-id.json' with { type: 'json' };
import type { HolderConfig } from '../../config/holder-config.ts';

const [wallet, stranger] = walletVectors.wallets;
const [keys] = encryptionVectors.keys;
if (wallet === undefined || stranger === undefined || keys === undefined) {
  throw new Error('the vectors have no keys');
}
const walletPub = parseWalletPub(wallet.walletPub);
const privateKey = new Secret(wallet.privateKey);
const viewingKey = new Secret(keys.viewingKey);

function configure(changes: Partial<HolderConfig>): HolderConfig {
  return {
    signer: 'local-key',
    remote: undefined,
    voteLimitSeconds: 3_600,
    isProduction: false,
    privateKey: undefined,
    ed25519Key: undefined,
    walletPub: undefined,
    viewingKey: undefined,
    earlierViewingKeys: [],
    encryptionPublicKey: undefined,
    tokenSymbol: 'USDC',
    balanceToken: undefined,
    transferToken: undefined,
    sendToken: undefined,
    sendDestinations: new Map(),
    transferMaxAmount: undefined,
    sendMaxAmount: undefined,
    ...changes,
  };
}

async function open(changes: Partial<HolderConfig>) {
  return await openHolder({ chain: undefined, chainsFile: '/none', holder: configure(changes) });
}

describe('a holder of W and its viewing key alone', () => {
  it('has address, W and P, and needs no chains.json', async () => {
    const holder = await open({ walletPub, viewingKey });
    expect(holder).toMatchObject({
      walletPub: wallet.walletPub,
      address: wallet.address,
      encryptionPublicKey: keys.encryptionPublicKey,
      signer: { name: 'read-only', deterministic: false },
    });
    expect(holder.viewingKey.reveal()).toBe(BigInt(keys.viewingKey));
  });

  it('signs nothing [service.viewing-key-moves-nothing]', async () => {
    const { signer } = await open({ walletPub, viewingKey });
    const attempts = [
      signer.signIn({ message: '', expected: { domain: '', uri: '', chainId: 1 } }),
      signer.signViewingKeyText('pool.example'),
      signer.signSpend({} as SpendOperation, new Uint8Array(31)),
      signer.signDisclosure({} as DisclosureContent),
    ];
    for (const attempt of attempts) {
      await expect(attempt).rejects.toMatchObject({ code: 'holder_read_only' });
    }
  });

  it('is refused before a spend begins', () => {
    expect(() => assertSigns(configure({ walletPub, viewingKey }), 'spend')).toThrow(
      expect.objectContaining({ code: 'holder_read_only', status: 403 }),
    );
    expect(() =>
      assertSigns(configure({ walletPub, viewingKey, privateKey }), 'spend'),
    ).not.toThrow(PoolError);
  });

  it('is refused without the viewing key, and names the variable', async () => {
    await expect(open({ walletPub })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('DISBURSE_HOLDER_VIEWING_KEY is required'),
    });
  });

  it('is refused if W is not that of a configured key', async () => {
    const other = parseWalletPub(stranger.walletPub);
    await expect(open({ walletPub: other, privateKey, viewingKey })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('DISBURSE_HOLDER_WALLET_PUB'),
    });
    expect(await open({ walletPub, privateKey, viewingKey })).toMatchObject({
      signer: { name: 'local-key' },
    });
  });
});
