/**
 * `disburse-agent backup create|verify|restore` (docs/operations/keys-and-backups.md).
 *
 * @module
 */
import { resolve } from 'node:path';
import { PoolError } from '@pool/core';
import { exitCodes } from '@pool/pay-run';
import {
  type BackupManifest,
  discardParts,
  journalPart,
  type OpenWith,
  type Restored,
  readBackup,
  readIdentities,
  readPassphrase,
  restoreBackup,
  type SealFor,
} from '@pool/wallet/node';
import { readKeepingSettings } from '../../config/config.ts';
import { createHolderSigner } from '../../services/signers/holder.ts';
import { type Output, withInterruption } from '../../terminal/command-output.ts';
import { createBackup } from './create-backup.ts';

export type CreateBackupOptions = {
  readonly out: string;
  readonly encryptTo: readonly string[];
  readonly passphraseFile?: string;
  readonly json?: boolean;
  readonly envFile?: string;
};

export type OpenBackupOptions = {
  readonly identity?: string;
  readonly passphraseFile?: string;
  readonly json?: boolean;
};

export type RestoreBackupOptions = OpenBackupOptions & {
  readonly to?: string;
  readonly envFile?: string;
};

/** @returns the exit code */
export async function runBackupCreate(
  options: CreateBackupOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const settings = readKeepingSettings(options.envFile);
  const path = resolve(options.out);
  const { manifest, bytes } = await withInterruption((signal) =>
    createBackup(path, chooseSeal(options), settings, { nowMs: Date.now(), signal }),
  );
  if (options.json === true) {
    out(JSON.stringify({ path, bytes, ...describe(manifest) }, null, 2));
    return exitCodes.ok;
  }
  out(
    [
      `wrote ${path} (${bytes} bytes, encrypted, mode 0600)`,
      ...renderManifest(manifest),
      ...(settings.jobStore === 'memory:'
        ? ['the job store is in memory, so no job is in the backup']
        : []),
      'It contains viewing keys and no spend key: keep the key of the wallet, and the age identity or passphrase, separately.',
      `Copy it to another machine, and check it there: disburse-agent backup verify ${options.out}`,
    ].join('\n'),
  );
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runBackupVerify(
  path: string,
  options: OpenBackupOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const manifest = await readBackup(path, chooseOpen(options), discardParts);
  out(
    options.json === true
      ? JSON.stringify(describe(manifest), null, 2)
      : [`${path} is complete, and every part is what it was`, ...renderManifest(manifest)].join(
          '\n',
        ),
  );
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runBackupRestore(
  path: string,
  options: RestoreBackupOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const settings = readKeepingSettings(options.envFile);
  const { holder } = settings;
  const hasSigner = holder.privateKey !== undefined || holder.ed25519Key !== undefined;
  const expected = {
    walletPub: hasSigner ? await createHolderSigner(holder).walletPub() : undefined,
    encryptionPublicKey: holder.encryptionPublicKey,
    employerId: settings.employerId,
  };
  const restored = await withInterruption((signal) =>
    restoreBackup(path, chooseOpen(options), {
      folder: options.to ?? settings.home,
      expected,
      nowMs: Date.now(),
      signal,
    }),
  );
  const { manifest, folder, spendsFromMs } = restored;
  out(
    options.json === true
      ? JSON.stringify(
          {
            folder,
            spendsFrom: new Date(spendsFromMs).toISOString(),
            ...describe(manifest),
          },
          null,
          2,
        )
      : [`restored into ${folder}`, ...renderManifest(manifest), ...renderNext(restored)].join(
          '\n',
        ),
  );
  return exitCodes.ok;
}

function chooseSeal({ encryptTo, passphraseFile }: CreateBackupOptions): SealFor {
  if (encryptTo.length > 0 === (passphraseFile !== undefined)) {
    throw new PoolError(
      'invalid_request',
      'a backup is always encrypted: give --encrypt-to <age recipient>, once or more, or --passphrase-file <path>',
    );
  }
  return passphraseFile === undefined
    ? { kind: 'recipients', recipients: encryptTo }
    : { kind: 'passphrase', passphrase: readPassphrase(passphraseFile) };
}

function chooseOpen({ identity, passphraseFile }: OpenBackupOptions): OpenWith {
  if (identity !== undefined && passphraseFile === undefined) {
    return { kind: 'identities', identities: readIdentities(identity) };
  }
  if (identity === undefined && passphraseFile !== undefined) {
    return { kind: 'passphrase', passphrase: readPassphrase(passphraseFile) };
  }
  throw new PoolError(
    'invalid_request',
    'give --identity <file of age-keygen>, or --passphrase-file <path>, as the backup was encrypted',
  );
}

function describe({ createdAt, agentVersion, holder, employerId, parts }: BackupManifest) {
  return {
    createdAt,
    agentVersion,
    holder,
    employerId,
    parts: parts.map(({ name, bytes, counts }) => ({ name, bytes, counts })),
  };
}

function renderManifest({
  createdAt,
  agentVersion,
  holder,
  employerId,
  parts,
}: BackupManifest): readonly string[] {
  return [
    `made ${createdAt} by version ${agentVersion}`,
    ...(holder === null
      ? ['no holder, and so no viewing key; nothing proves who made it']
      : [
          `W ${holder.walletPub ?? '(made with a viewing key alone)'}`,
          `P ${holder.encryptionPublicKey}`,
          ...holder.earlierEncryptionPublicKeys.map((key) => `earlier P ${key}`),
        ]),
    ...(employerId === null ? [] : [`employer ${employerId}`]),
    ...parts.map(({ name, bytes, counts }) => {
      const rows = Object.entries(counts).map(([table, count]) => `${count} ${table}`);
      return `  ${name}: ${bytes} bytes${rows.length === 0 ? '' : ` (${rows.join(', ')})`}`;
    }),
  ];
}

function renderNext({ manifest, folder, spendsFromMs }: Restored): readonly string[] {
  const { holder, createdAt, parts } = manifest;
  const hasJournal = parts.some(({ name }) => name === journalPart);
  const steps = [
    'Make sure that the earlier agent does not run any more: two agents must not continue from one state.',
    `Complete ${folder}/agent.env.restored, name the files of the credentials in it, and rename it to agent.env. Mint credentials that you do not have with \`onboard --out\`. Set DISBURSE_HOME=${folder} if it is not the default directory.${hasJournal ? ` Set DISBURSE_SPEND_JOURNAL=sqlite:${folder}/${journalPart}.` : ''}`,
    ...(holder === null
      ? []
      : [
          `The spend key is not in a backup: name its file yourself. Set DISBURSE_HOLDER_VIEWING_KEY_FILE=${folder}/viewing-key.json${holder.earlierEncryptionPublicKeys.length === 0 ? '' : ` and DISBURSE_HOLDER_EARLIER_VIEWING_KEYS_FILE=${folder}/earlier-viewing-keys.json`}. Check that \`identity\` prints P ${holder.encryptionPublicKey}.`,
        ]),
    `Transfers and withdrawals begin at ${new Date(spendsFromMs).toISOString()}. Until then one that was made after the backup could still land.`,
    `What was paid after ${createdAt} is not in this state. Disbursements are safe: the contract pays a key once. Compare balance and history with the chain before you repeat a transfer or a withdrawal: its Idempotency-Key is not remembered.`,
  ];
  return ['', 'What to do now:', ...steps.map((step, index) => `${index + 1}. ${step}`)];
}
