/**
 * The holder of this agent: its signer, W, viewing key and P (protocol §2). Reads the configuration and chains.json, and no network.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readChainsFile } from '@pool/configuration';
import {
  type ChainFamily,
  type ChainsFile,
  chainFamilies,
  findChainFamily,
  isPoolError,
  PoolError,
  Secret,
} from '@pool/core';
import { parseViewingKey } from '@pool/notes';
import { computeHolderEncryptionKey, deriveHolderViewingKey } from '../holder/holder-keys.ts';
import type { Holder, HolderKey, HolderSigner } from '../holder/holder-signer.ts';
import { createReadOnlyHolder } from '../holder/read-only-holder.ts';
import type { HolderSettings } from './holder-settings.ts';
import { holderVariables as variables } from './holder-variables.ts';
import { holderRole } from './registry.ts';

/** What the holder's keys derive from. Needs no variable of a platform. */
export type HolderPlace = {
  /** `DISBURSE_CHAIN`. */
  readonly chain: string | undefined;
  readonly chainsFile: string;
  readonly holder: HolderSettings;
};

/** Pause between two questions whether a vote has ended, milliseconds. */
const votePollMs = 1_000;

/**
 * Opens the configured holder. A missing key, an unreadable chains.json and a P that differs from the configured one are errors:
 * no key is ever generated here.
 * @param platformDomain - in the viewing-key text; default: `evidence.domain` of chains.json
 * @throws PoolError `invalid_configuration`, `viewing_key_required`, `viewing_key_mismatch`
 */
export async function openHolder(settings: HolderPlace, platformDomain?: string): Promise<Holder> {
  const { holder, chainsFile } = settings;
  const signer = createHolderSigner(holder);
  await assertConfiguredWallet(signer, holder);
  const family = findFamily(signer, settings);
  const derive = (): Promise<Secret<bigint>> =>
    deriveHolderViewingKey(signer, platformDomain ?? readPlatformDomain(chainsFile));
  const viewingKey =
    holder.viewingKey === undefined ? await derive() : parseSecretKey(holder.viewingKey);
  const encryptionPublicKey = computeHolderEncryptionKey(signer.curve, viewingKey);
  if (
    holder.encryptionPublicKey !== undefined &&
    holder.encryptionPublicKey !== encryptionPublicKey
  ) {
    throw new PoolError(
      'viewing_key_mismatch',
      `the viewing key gives the encryption key ${encryptionPublicKey}, which is not the one of ${variables.holderEncryptionPublicKey.name}; restore the viewing key of the enrolled P, or correct the variable`,
    );
  }
  const earlier: HolderKey[] = [];
  for (const key of holder.earlierViewingKeys) {
    const known = key.kind === 'derived' ? await derive() : parseSecretKey(key.scalar);
    const earlierP = computeHolderEncryptionKey(signer.curve, known);
    if (earlierP === encryptionPublicKey) {
      // A rotation writes this list first, and may have been interrupted before it changed the present key.
      continue;
    }
    if (earlier.some((one) => one.encryptionPublicKey === earlierP)) {
      throw invalid(`${variables.holderEarlierViewingKeys.name} names a key twice`);
    }
    earlier.push({ viewingKey: known, encryptionPublicKey: earlierP });
  }
  const walletPub = await signer.walletPub();
  const address = family.formatAddress(walletPub);
  return { signer, family, walletPub, address, viewingKey, encryptionPublicKey, earlier };
}

/** The scalar of a configured viewing key. */
export function parseSecretKey(text: Secret): Secret<bigint> {
  return new Secret(parseViewingKey(text.reveal()));
}

/** True: the configuration has W and no key of the signer, so the holder reads and signs nothing. */
function isReadOnly({ signer, privateKey, walletPub }: HolderSettings): boolean {
  const { place, curve } = holderRole(signer);
  const isOwnKey = place === 'local' && curve === 'secp256k1';
  return walletPub !== undefined && isOwnKey && privateKey === undefined;
}

/** @param what - that needs the signer's key. @throws PoolError `holder_read_only` */
export function assertSigns(config: HolderSettings, what: string): void {
  if (isReadOnly(config)) {
    throw new PoolError(
      'holder_read_only',
      `this agent has ${variables.holderWalletPub.name} and no ${variables.holderPrivateKey.name}, so it reads balance and history and cannot ${what}; use the agent that has the key of W`,
    );
  }
}

/** A machine that was meant for one holder must not work for another. */
async function assertConfiguredWallet(
  signer: HolderSigner,
  { walletPub }: HolderSettings,
): Promise<void> {
  if (walletPub !== undefined && walletPub !== (await signer.walletPub())) {
    throw invalid(
      `${variables.holderWalletPub.name} is not the W of the configured key; correct it, or remove one of them`,
    );
  }
}

/** @throws PoolError `invalid_configuration` if the signer's key is not set */
export function createHolderSigner(config: HolderSettings): HolderSigner {
  if (config.walletPub !== undefined && isReadOnly(config)) {
    if (config.viewingKey === undefined) {
      throw invalid(
        `${variables.holderViewingKey.name} is required by ${variables.holderWalletPub.name} without ${variables.holderPrivateKey.name}: a machine that only reads needs the viewing key`,
      );
    }
    return createReadOnlyHolder(config.walletPub);
  }
  const { signer, remote, isProduction, viewingKey } = config;
  const role = holderRole(signer);
  if (role.place === 'local') {
    const key = role.curve === 'secp256k1' ? config.privateKey : config.ed25519Key;
    if (key === undefined) {
      throw invalid(
        `${role.key.name} is required by ${variables.holderSigner.name}=${signer}, the holder's signer`,
      );
    }
    return role.open({ privateKey: key });
  }
  if (remote === undefined) {
    throw invalid(`${variables.holderSigner.name}=${signer} has no complete configuration`);
  }
  return remote.open({
    isProduction,
    pollMs: votePollMs,
    sleep: pause,
    encryptionPublicKey:
      viewingKey && computeHolderEncryptionKey(role.curve, parseSecretKey(viewingKey)),
  });
}

async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
}

/** The family of DISBURSE_CHAIN. Without it, the only family on the signer's curve. */
function findFamily(signer: HolderSigner, { chain, chainsFile }: HolderPlace): ChainFamily {
  const name = 'DISBURSE_CHAIN';
  if (chain === undefined) {
    const families: readonly ChainFamily[] = Object.values(chainFamilies).filter(
      ({ curve }) => curve === signer.curve,
    );
    const [only, ...others] = families;
    if (only === undefined || others.length > 0) {
      throw invalid(
        `${name} is required by ${signer.name}: its key is a wallet on ${families.map((family) => family.name).join(' and ')}, and the chain decides which`,
      );
    }
    return only;
  }
  const chains = readChains(chainsFile, `${name} names a chain of ${chainsFile}`);
  const familyName = findFamilyName(chain, chains);
  if (familyName === undefined) {
    throw invalid(`${name} names a chain that is not in ${chainsFile}`);
  }
  const family = findChainFamily(familyName);
  if (family === undefined) {
    throw invalid(`${name} names a chain of a family that is not supported, ${familyName}`);
  }
  if (family.curve !== signer.curve) {
    throw invalid(
      `${name} names a chain whose wallets sign on ${family.curve}, and ${variables.holderSigner.name}=${signer.name} signs on ${signer.curve}; change one of them`,
    );
  }
  return family;
}

function findFamilyName(chain: string, { chains, addressOnlyChains = {} }: ChainsFile) {
  if (Object.hasOwn(chains, chain)) {
    return chains[chain]?.family;
  }
  return Object.hasOwn(addressOnlyChains, chain) ? addressOnlyChains[chain] : undefined;
}

/** The domain in the viewing-key text. From the agent's own file: another domain gives another key. */
function readPlatformDomain(chainsFile: string): string {
  const reason = `the viewing key derives from a text that names the platform's domain, evidence.domain of ${chainsFile}; write that file, or set ${variables.holderViewingKey.name}`;
  return readChains(chainsFile, reason).evidence.domain;
}

function readChains(path: string, reason: string): ChainsFile {
  try {
    return readChainsFile(path);
  } catch (cause) {
    const detail = isPoolError(cause) ? cause.message : 'the file cannot be read';
    throw new PoolError('invalid_configuration', `${reason}: ${detail}`, { cause });
  }
}

function invalid(message: string): PoolError {
  return new PoolError('invalid_configuration', message);
}
