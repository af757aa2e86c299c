// The earlier viewing keys of the configured holder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { type HolderPlace, openHolder } from '@pool/signers';
import { describe, expect, it, onTestFinished } from 'vitest';
import encryptionVectors from '../../../../../vectors/encryption-key.json' with { type: 'json' };
import walletVectors from '../../../../../vectors/wallet-id.json' with { type: 'json' };
import type { HolderConfig } from '../../config/holder-config.ts';

const [wallet] = walletVectors.wallets.slice(-1);
const [first, second] = encryptionVectors.keys.slice(-2);
if (wallet === undefined || first === undefined || second === undefined) {
  throw new Error('the vectors have no keys');
}

function createSettings(changes: Partial<HolderConfig> = {}): HolderPlace {
  const directory = mkdtempSync(join(tmpdir(), 'holder-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const chainsFile = join(directory, 'chains.json');
  const evidence = { domain: 'pool.example', uri: 'https://pool.example' };
  writeFileSync(chainsFile, JSON.stringify({ evidence, chains: { sol: { family: 'solana' } } }));
  return {
    chain: undefined,
    chainsFile,
    holder: {
      signer: 'local-key',
      remote: undefined,
      voteLimitSeconds: 3_600,
      isProduction: false,
      privateKey: new Secret(wallet?.privateKey ?? ''),
      ed25519Key: undefined,
      walletPub: undefined,
      viewingKey: new Secret(first?.viewingKey ?? ''),
      earlierViewingKeys: [],
      encryptionPublicKey: undefined,
      tokenSymbol: 'USDC',
      balanceToken: undefined,
      transferToken: new Secret('pool_live_transfer'),
      sendToken: new Secret('pool_live_send'),
      sendDestinations: new Map(),
      transferMaxAmount: undefined,
      sendMaxAmount: undefined,
      ...changes,
    },
  };
}

function scalar(text: string) {
  return { kind: 'scalar', scalar: new Secret(text) } as const;
}

describe('earlier viewing keys', () => {
  it('give the P of each, in their order, the derived one included', async () => {
    const derived = await openHolder(createSettings({ viewingKey: undefined }));
    const holder = await openHolder(
      createSettings({ earlierViewingKeys: [{ kind: 'derived' }, scalar(second.viewingKey)] }),
    );
    expect(holder.encryptionPublicKey).toBe(first.encryptionPublicKey);
    expect(holder.earlier.map(({ encryptionPublicKey }) => encryptionPublicKey)).toEqual([
      derived.encryptionPublicKey,
      second.encryptionPublicKey,
    ]);
  });

  it('may list the present one, which an interrupted rotation leaves there', async () => {
    const listed = [scalar(first.viewingKey), scalar(second.viewingKey)];
    const holder = await openHolder(createSettings({ earlierViewingKeys: listed }));
    expect(holder.earlier.map(({ encryptionPublicKey }) => encryptionPublicKey)).toEqual([
      second.encryptionPublicKey,
    ]);
  });

  it('are refused if they name one twice', async () => {
    const earlierViewingKeys = [scalar(second.viewingKey), scalar(second.viewingKey)];
    await expect(openHolder(createSettings({ earlierViewingKeys }))).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('DISBURSE_HOLDER_EARLIER_VIEWING_KEYS'),
    });
  });
});
