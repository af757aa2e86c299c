/**
 * The first half of a rotation: the configuration gets the new viewing key as the present one, and the present one as an earlier one. This
 * is on disk before anything is registered, so whatever is lost afterwards, the agent can open the notes of both P.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ConfigLayers, editEnvFile, findText } from '@pool/configuration';
import { bigintToHex32, PoolError, Secret } from '@pool/core';
import { parseViewingKey } from '@pool/notes';
import { computeHolderEncryptionKey } from '@pool/signers';
import { replaceDurableFile } from '@pool/storage';
import type { Holder, HolderKey } from '@pool/wallet/node';

export type NewKey = HolderKey & { readonly path: string };

/** Where the keys are configured. */
export type KeySettings = {
  /** The agent directory, which exists. */
  readonly home: string;
  readonly layers: ConfigLayers;
  /** Names of the variables of v, of earlier v, and of P. */
  readonly names: {
    readonly viewingKey: string;
    readonly earlierViewingKeys: string;
    readonly encryptionPublicKey: string;
  };
  readonly holder: {
    /** Undefined: it derives from a signature. */
    readonly viewingKey: Secret | undefined;
    readonly earlierViewingKeys: readonly (
      | { readonly kind: 'derived' }
      | { readonly kind: 'scalar'; readonly scalar: Secret }
    )[];
  };
};

/** The key in a file: the document of `viewing-key new`, or its bare scalar. @throws PoolError `invalid_request`, without the text */
export function readNewKey(file: string, { signer }: Holder): NewKey {
  const path = resolve(file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new PoolError('invalid_request', `the file of --new-key cannot be read`, { cause });
  }
  try {
    const scalar = text.startsWith('{') ? (JSON.parse(text) as { scalar?: unknown }).scalar : text;
    const viewingKey = new Secret(parseViewingKey(String(scalar)));
    return {
      path,
      viewingKey,
      encryptionPublicKey: computeHolderEncryptionKey(signer.curve, viewingKey),
    };
  } catch {
    // The cause is dropped on purpose: it may quote the key.
    throw new PoolError(
      'invalid_request',
      '--new-key must name a file with a viewing key in clear, as `viewing-key new` prints it; decrypt an age file first',
    );
  }
}

/**
 * Writes the new configuration.
 * @returns paths of the files that were written
 * @throws PoolError `rotation_not_possible` if the environment sets one of the variables, or there is no configuration file: then the
 *   message says what to set
 */
export function switchKeys(
  { home, layers, names, holder: config }: KeySettings,
  holder: Holder,
  next: NewKey,
): readonly string[] {
  const earlierPath = join(home, 'earlier-viewing-keys.json');
  const changes = {
    [names.viewingKey]: undefined,
    [`${names.viewingKey}_FILE`]: next.path,
    [names.earlierViewingKeys]: undefined,
    [`${names.earlierViewingKeys}_FILE`]: earlierPath,
    [names.encryptionPublicKey]: next.encryptionPublicKey,
  };
  const inEnvironment = Object.keys(changes).filter(
    (name) => findText({ env: layers.env, file: {} }, name) !== undefined,
  );
  const { filePath } = layers;
  const content = filePath === undefined ? undefined : readIfPresent(filePath);
  // First: the configuration must not name a file that does not exist.
  replaceDurableFile(earlierPath, `${JSON.stringify(listEarlier(config, holder, next))}\n`);
  if (inEnvironment.length > 0 || filePath === undefined || content === undefined) {
    const wanted = Object.entries(changes).flatMap(([name, value]) =>
      value === undefined ? [`  unset ${name}`] : [`  ${name}=${value}`],
    );
    const reason =
      inEnvironment.length > 0
        ? `the environment sets ${inEnvironment.join(', ')}, which this command cannot change`
        : 'there is no configuration file that this command could change';
    throw new PoolError(
      'rotation_not_possible',
      `${reason}. Configure this, restart the agent, and run \`disburse-agent rotate-viewing-key\` again; nothing was registered:\n${wanted.join('\n')}`,
    );
  }
  replaceDurableFile(
    filePath,
    editEnvFile(
      content,
      changes,
      'Written by `disburse-agent rotate-viewing-key`: the present viewing key, and those of earlier P.',
    ),
  );
  return [earlierPath, filePath];
}

/** The present key and the earlier ones, without the new one. A derived key is named and not written down. */
function listEarlier(
  config: KeySettings['holder'],
  holder: Holder,
  next: NewKey,
): readonly string[] {
  const isDerived = config.viewingKey === undefined;
  const present = isDerived ? 'derived' : bigintToHex32(holder.viewingKey.reveal());
  const others = config.earlierViewingKeys.map((key, index) => ({
    text: key.kind === 'derived' ? 'derived' : key.scalar.reveal(),
    encryptionPublicKey: holder.earlier[index]?.encryptionPublicKey,
  }));
  return [
    present,
    ...others
      .filter(({ encryptionPublicKey }) => encryptionPublicKey !== next.encryptionPublicKey)
      .map(({ text }) => text),
  ];
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
