/**
 * `disburse-agent backup create|verify|restore` (docs/operations/keys-and-backups.md).
 *
 * @module
 */
import { join, resolve } from 'node:path';
import { type ConfigLayers, findText, readVariable } from '@pool/configuration';
import { PoolError, type Secret } from '@pool/core';
import { readTenancyPin } from '@pool/operations';
import { exitCodes, type Output, withInterruption } from '@pool/pay-run';
import {
  computeHolderEncryptionKey,
  createHolderSigner,
  holderRole,
  openHolder,
  parseSecretKey,
} from '@pool/signers';
import { type BackupManifest, walletKeyPart } from '@pool/wallet';
import { contactsPath, openingsKeyPath } from '@pool/wallet/node';
import { type KeepingSettings, readKeepingSettings } from '../../config/config.ts';
import { allVariables } from '../../config/variables.ts';
import { version } from '../../config/version.ts';
import {
  type OpenWith,
  readIdentities,
  readPassphrase,
  type SealFor,
} from '../../state/backup/age-file.ts';
import { journalPart } from '../../state/backup/backup-parts.ts';
import {
  type BackupKeys,
  type BackupSource,
  createBackup,
} from '../../state/backup/create-backup.ts';
import { discardParts, readBackup } from '../../state/backup/read-backup.ts';
import { type Restored, restoreBackup } from '../../state/backup/restore-backup.ts';
import { invitedPath } from '../../state/invited-people.ts';

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
  const seal = chooseSeal(options);
  const source = await describeAgent(settings);
  const { manifest, bytes } = await withInterruption((signal) =>
    createBackup(path, seal, source, { nowMs: Date.now(), signal }),
  );
  if (options.json === true) {
    out({ path, bytes, ...describe(manifest) });
    return exitCodes.ok;
  }
  out(
    [
      `wrote ${path} (${bytes} bytes, encrypted, mode 0600)`,
      ...renderManifest(manifest),
      ...describeJobs(settings),
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
      ? describe(manifest)
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
      ? { folder, spendsFrom: new Date(spendsFromMs).toISOString(), ...describe(manifest) }
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
  const has = (part: string): boolean => parts.some(({ name }) => name === part);
  const steps = [
    'Make sure that the earlier agent does not run any more: two agents must not continue from one state.',
    `${has(settingsPart) ? `Complete ${folder}/${settingsPart}, name the files of the credentials in it, and rename it to agent.env.` : `Write ${folder}/agent.env, and name the files of the credentials in it: the page that made this backup has no settings of an agent.`} Mint credentials that you do not have with \`onboard --out\`. Set DISBURSE_HOME=${folder} if it is not the default directory.${has(journalPart) ? ` Set DISBURSE_SPEND_JOURNAL=sqlite:${folder}/${journalPart}.` : ''}`,
    ...(holder === null
      ? []
      : [
          `${has(walletKeyPart) ? `The key of the wallet is in this backup: set DISBURSE_HOLDER_PRIVATE_KEY_FILE=${folder}/${walletKeyPart}, and do not pay from the page and the agent at the same time.` : 'The spend key is not in a backup: name its file yourself.'} Set DISBURSE_HOLDER_VIEWING_KEY_FILE=${folder}/viewing-key.json${holder.earlierEncryptionPublicKeys.length === 0 ? '' : ` and DISBURSE_HOLDER_EARLIER_VIEWING_KEYS_FILE=${folder}/earlier-viewing-keys.json`}. Check that \`identity\` prints P ${holder.encryptionPublicKey}.`,
        ]),
    `Transfers and withdrawals begin at ${new Date(spendsFromMs).toISOString()}. Until then one that was made after the backup could still land.`,
    `What was paid after ${createdAt} is not in this state. Disbursements are safe: the contract pays a key once. Compare balance and history with the chain before you repeat a transfer or a withdrawal: its Idempotency-Key is not remembered.`,
  ];
  return ['', 'What to do now:', ...steps.map((step, index) => `${index + 1}. ${step}`)];
}

/** What is backed up, and what the configuration keeps elsewhere. */
async function describeAgent(settings: KeepingSettings): Promise<BackupSource> {
  const { home, jobStore, spendJournal, chainsFile, fingerprintKey, layers } = settings;
  return {
    stores: {
      home,
      elsewhere: {
        'jobs.sqlite': findStorePath(jobStore),
        [journalPart]: findStorePath(spendJournal),
      },
      files: {
        'tenancy.json': join(home, 'tenancy.json'),
        'fingerprint.key': join(home, 'fingerprint.key'),
        'contacts.json': contactsPath(home),
        'invitations.json': invitedPath(home),
        // Without it the openings in their database cannot be read.
        'openings.key': openingsKeyPath(home),
        'chains.json': chainsFile,
      },
    },
    texts: {
      ...(fingerprintKey === undefined
        ? {}
        : { 'fingerprint.configured': `${fingerprintKey.reveal()}\n` }),
      [settingsPart]: renderSettings(layers),
    },
    keys: await findKeys(settings),
    employerId: readTenancyPin(home)?.employerId ?? settings.employerId ?? null,
    agentVersion: version,
  };
}

/** Where the jobs are that are not in the backup. */
function describeJobs({ jobStore }: KeepingSettings): readonly string[] {
  if (jobStore === 'memory:') {
    return ['the job store is in memory, so no job is in the backup'];
  }
  return findStorePath(jobStore) === undefined
    ? [
        'the jobs are in PostgreSQL, so they are not in the backup: back up that database with its own tools',
      ]
    : [];
}

/** Undefined: no file. */
function findStorePath(url: string): string | undefined {
  return /^sqlite:(.+)$/.exec(url)?.[1];
}

/** Undefined: no holder is configured. A holder whose keys cannot be opened is an error: its backup would lack them. */
async function findKeys(settings: KeepingSettings): Promise<BackupKeys | undefined> {
  const { privateKey, ed25519Key, walletPub, viewingKey } = settings.holder;
  if (privateKey !== undefined || ed25519Key !== undefined || walletPub !== undefined) {
    const opened = await openHolder(settings);
    return {
      holder: {
        ...{ walletPub: opened.walletPub, address: opened.address, signer: opened.signer.name },
        encryptionPublicKey: opened.encryptionPublicKey,
        earlierEncryptionPublicKeys: opened.earlier.map((one) => one.encryptionPublicKey),
      },
      current: opened.viewingKey,
      earlier: opened.earlier.map((one) => one.viewingKey),
    };
  }
  return viewingKey === undefined ? undefined : findKeysAlone(settings.holder, viewingKey);
}

/** A machine that only reads: it has viewing keys, and no key of the wallet. */
function findKeysAlone(config: KeepingSettings['holder'], viewingKey: Secret): BackupKeys {
  const { curve } = holderRole(config.signer);
  const current = parseSecretKey(viewingKey);
  const earlier = config.earlierViewingKeys.flatMap((key) =>
    key.kind === 'scalar' ? [parseSecretKey(key.scalar)] : [],
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

const settingsPart = 'agent.env.restored';

/** A place of this machine, unless agents share it. */
const jobStoreNames: readonly string[] = ['DISBURSE_JOB_STORE', 'DISBURSE_JOB_STORE_PASSWORD'];

/** Places of this machine. The restored directory has its own. */
const placesHere: readonly string[] = [
  'DISBURSE_HOME',
  'AGENT_ENV',
  ...jobStoreNames,
  'DISBURSE_SPEND_JOURNAL',
  'DISBURSE_CHAINS_FILE',
  'NODE_ENV',
  'DISBURSE_FAULT',
];

/** An agent.env without credentials. A person completes it. */
export function renderSettings(layers: ConfigLayers): string {
  const isShared = /^postgres/.test(findText(layers, 'DISBURSE_JOB_STORE')?.text ?? '');
  const lines = allVariables
    .filter(({ name }) => !placesHere.includes(name) || (isShared && jobStoreNames.includes(name)))
    .flatMap((variable) => {
      const { name, credential } = variable;
      const { origin } = readVariable(variable, layers);
      if (origin.from === 'default' || origin.from === 'unset') {
        return [];
      }
      if (credential !== undefined) {
        return [`#${name}_FILE=`];
      }
      const { text = '' } = findText(layers, name) ?? {};
      return isPlain(text) ? [`${name}=${text}`] : [`# ${name} is not copied: set it again`];
    });
  return `${[
    '# Settings of the agent whose backup was restored. It contains no credential and no key.',
    '# Complete it, name the file of each credential that stands as a comment, and rename the file to agent.env.',
    ...lines,
  ].join('\n')}\n`;
}

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && !/["'`#\\]/.test(text);
}
