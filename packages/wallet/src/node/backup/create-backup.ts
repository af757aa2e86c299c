/**
 * Makes a backup of one agent: everything that a restored agent needs to lose no note and to pay nothing twice, and no spend key.
 *
 * @module
 */
import { join } from 'node:path';
import { bigintToHex32, Secret } from '@pool/core';
import { computeEncryptionPublicKey, computeX25519PublicKey, parseViewingKey } from '@pool/notes';
import { computeHolderEncryptionKey, holderRole } from '@pool/signers';
import {
  type BackupHolder,
  type BackupManifest,
  closeAll,
  computeManifestMac,
  contactsPath,
  createMemorySnapshot,
  createSealer,
  earlierViewingKeysPart,
  encodeHead,
  journalPart,
  openingsKeyPath,
  type SealFor,
  type Snapshot,
  takeSnapshots,
  viewingKeyPart,
  writeAgeFile,
} from '@pool/wallet/node';
import type { KeepingSettings } from '../../config/config.ts';
import { version } from '../../config/version.ts';
import { openHolder } from '../../services/signers/holder.ts';
import { readTenancyPin } from '../../state/tenancy-pin.ts';
import { renderSettings } from './settings-file.ts';

export type CreatedBackup = { readonly manifest: BackupManifest; readonly bytes: number };

type Keys = {
  readonly holder: BackupHolder;
  readonly current: Secret<bigint>;
  readonly earlier: readonly Secret<bigint>[];
};

/**
 * Works while the agent runs. Sends nothing.
 * @param path - of the new file
 * @throws PoolError `invalid_request`, `file_not_written`, `interrupted`; the errors of {@link openHolder}
 */
export async function createBackup(
  path: string,
  sealFor: SealFor,
  settings: KeepingSettings,
  input: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<CreatedBackup> {
  const sealer = createSealer(sealFor);
  const keys = await findKeys(settings);
  const employerId = readTenancyPin(settings.home)?.employerId ?? settings.employerId ?? null;
  const snapshots = [
    ...takeSnapshots(describeStores(settings)),
    ...createSmallParts(settings, keys),
  ];
  try {
    const unsigned = {
      format: 'pool-backup' as const,
      version: 1 as const,
      createdAt: new Date(input.nowMs).toISOString(),
      agentVersion: version,
      holder: keys?.holder ?? null,
      employerId,
      parts: snapshots.map(({ name, bytes, sha256, counts }) => ({ name, bytes, sha256, counts })),
    };
    const mac = keys === undefined ? null : computeManifestMac(unsigned, keys.current.reveal());
    const manifest: BackupManifest = { ...unsigned, mac };
    const plaintext = joinBytes(manifest, snapshots);
    return { manifest, bytes: await writeAgeFile(path, sealer, plaintext, input.signal) };
  } finally {
    closeAll(snapshots);
  }
}

function describeStores({ home, jobStore, spendJournal, chainsFile }: KeepingSettings) {
  return {
    home,
    elsewhere: {
      'jobs.sqlite': findStorePath(jobStore),
      [journalPart]: findStorePath(spendJournal),
    },
    files: {
      'tenancy.json': join(home, 'tenancy.json'),
      'fingerprint.key': join(home, 'fingerprint.key'),
      'contacts.json': contactsPath(home),
      // Without it the openings in their database cannot be read.
      'openings.key': openingsKeyPath(home),
      'chains.json': chainsFile,
    },
  };
}

/** Undefined: in memory. */
function findStorePath(url: string): string | undefined {
  return /^sqlite:(.+)$/.exec(url)?.[1];
}

function createSmallParts(settings: KeepingSettings, keys: Keys | undefined): readonly Snapshot[] {
  return [
    ...(settings.fingerprintKey === undefined
      ? []
      : [createMemorySnapshot('fingerprint.configured', `${settings.fingerprintKey.reveal()}\n`)]),
    createMemorySnapshot('agent.env.restored', renderSettings(settings.layers)),
    ...(keys === undefined
      ? []
      : [
          createMemorySnapshot(viewingKeyPart, describeKey(keys.current)),
          ...(keys.earlier.length === 0
            ? []
            : [
                createMemorySnapshot(
                  earlierViewingKeysPart,
                  `${JSON.stringify(keys.earlier.map((key) => bigintToHex32(key.reveal())))}\n`,
                ),
              ]),
        ]),
  ];
}

/** As `viewing-key new` prints it, so that DISBURSE_HOLDER_VIEWING_KEY_FILE can name the restored file. */
function describeKey(viewingKey: Secret<bigint>): string {
  const key = viewingKey.reveal();
  const document = {
    scalar: bigintToHex32(key),
    encryptionPublicKeys: {
      babyjubjub: computeEncryptionPublicKey(key),
      x25519: computeX25519PublicKey(key),
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Undefined: no holder is configured. A holder whose keys cannot be opened is an error: its backup would lack them. */
async function findKeys(settings: KeepingSettings): Promise<Keys | undefined> {
  const { holder: config } = settings;
  const hasSigner =
    config.privateKey !== undefined ||
    config.ed25519Key !== undefined ||
    config.walletPub !== undefined;
  if (!hasSigner && config.viewingKey === undefined) {
    return undefined;
  }
  if (hasSigner) {
    const { signer, walletPub, address, viewingKey, encryptionPublicKey, earlier } =
      await openHolder(settings);
    return {
      holder: {
        ...{ walletPub, address, signer: signer.name, encryptionPublicKey },
        earlierEncryptionPublicKeys: earlier.map((one) => one.encryptionPublicKey),
      },
      current: viewingKey,
      earlier: earlier.map((one) => one.viewingKey),
    };
  }
  return findKeysAlone(config);
}

/** A machine that only reads: it has viewing keys, and no key of the wallet. */
function findKeysAlone(config: KeepingSettings['holder']): Keys | undefined {
  if (config.viewingKey === undefined) {
    return undefined;
  }
  const { curve } = holderRole(config.signer);
  const current = parseKey(config.viewingKey);
  const earlier = config.earlierViewingKeys.flatMap((key) =>
    key.kind === 'scalar' ? [parseKey(key.scalar)] : [],
  );
  return {
    holder: {
      signer: 'none',
      encryptionPublicKey: computeHolderEncryptionKey(curve, current),
      earlierEncryptionPublicKeys: earlier.map((key) => computeHolderEncryptionKey(curve, key)),
    },
    current,
    earlier,
  };
}

function parseKey(text: Secret): Secret<bigint> {
  return new Secret(parseViewingKey(text.reveal()));
}

function* joinBytes(
  manifest: BackupManifest,
  snapshots: readonly Snapshot[],
): Generator<Uint8Array, void, undefined> {
  yield encodeHead(manifest);
  for (const snapshot of snapshots) {
    yield* snapshot.chunks();
  }
}
