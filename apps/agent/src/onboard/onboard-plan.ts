/**
 * What `onboard` is going to do, decided from options and configuration alone. Everything that can be refused is refused here, before
 * the platform is asked for anything.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { capabilities as allCapabilities, type Capability } from '@pool/api';
import { readChainsFile } from '@pool/configuration';
import {
  computeWalletAddress,
  type EvidenceDomain,
  PoolError,
  parseAccountAddress,
  parseWalletPub,
} from '@pool/core';
import { parseServiceUrl } from '@pool/platform-client';
import { type OnboardPass, openPendingSignIn } from '@pool/platform-client/onboard';
import {
  assertSigns,
  createHolderSigner,
  createLocalKeyHolder,
  type HolderSigner,
  holderKinds,
  openHolder,
  remoteHolderRole,
} from '@pool/signers';
import type { Holder } from '@pool/wallet/node';
import type { KeepingSettings } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import { ensureAgentHome } from '../state/agent-home.ts';

export type OnboardOptions = {
  readonly platform: string;
  readonly enrollHolder?: boolean;
  /** Comma separated. */
  readonly capabilities?: string;
  readonly out?: string;
  readonly login?: string;
  /** The operator's file. */
  readonly chains?: string;
  /** `key=url` of each node. */
  readonly rpc?: readonly string[];
  readonly envFile?: string;
};

export type OnboardPlan = OnboardPass & {
  readonly holder: Holder | undefined;
  /** Does not exist yet. */
  readonly outPath: string;
};

/** @throws PoolError `invalid_request`, `invalid_configuration`, `wallet_mismatch`, `file_not_written` */
export async function planOnboarding(
  options: OnboardOptions,
  settings: KeepingSettings,
): Promise<OnboardPlan> {
  const platformUrl = parsePlatformUrl(options.platform);
  const capabilities = parseCapabilities(options.capabilities);
  const isEnrolment = options.enrollHolder === true;
  const outPath = resolve(options.out ?? join(settings.home, 'agent.env'));
  const place = findSignInPlace(platformUrl, settings);
  const isHolderKey = capabilities.some((capability) => capability !== 'disburse');
  const signer = createLoginSigner(options.login, settings);
  const isEd25519 = signer.curve === 'ed25519';
  if (isEd25519 && isHolderKey) {
    throw new PoolError(
      'holder_unsupported',
      `${signer.name} is a wallet of Solana or Stellar, and no pool exists there: it can be enrolled, and has nothing to read or spend; leave the holder.* capabilities out. Nothing was sent`,
    );
  }
  const holder =
    isEnrolment || isHolderKey || isEd25519
      ? await openEnrolled(settings, place.domain, isEd25519)
      : undefined;
  const address =
    isEd25519 && holder !== undefined
      ? parseAccountAddress(holder.address)
      : computeWalletAddress(parseWalletPub(await signer.walletPub()));
  if (holder !== undefined && holder.address !== address) {
    throw new PoolError(
      'wallet_mismatch',
      `the session would be signed by ${address}, and the holder's wallet is ${holder.address}. A holder is enrolled, and its keys are minted, in a session of its own wallet: run the command again with --login ${settings.holder.signer === 'custodian_a' ? 'custodian_a' : 'holder'}. Nothing was sent`,
    );
  }
  assertFree(outPath, dirname(outPath) === settings.home);
  const needsVote = signer.needsVote === true;
  if (needsVote) {
    // A vote can outlive this command.
    ensureAgentHome(settings.home);
  }
  const encryptionPublicKey = isEnrolment ? holder?.encryptionPublicKey : undefined;
  return {
    platformUrl,
    place,
    login: { signer, address },
    pending: needsVote
      ? openPendingSignIn(settings.home, { platformUrl, address, encryptionPublicKey })
      : undefined,
    capabilities,
    holder,
    isEnrolment,
    outPath,
  };
}

function parsePlatformUrl(text: string): string {
  const url = parseServiceUrl(text, '--platform');
  if (url.pathname.endsWith('/agent-edge')) {
    throw refuse("--platform is the platform's base URL: leave out /agent-edge");
  }
  return url.href.replace(/\/+$/, '');
}

function parseCapabilities(text: string | undefined): readonly Capability[] {
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.map((name, index) => {
    const capability = allCapabilities.find((known) => known === name);
    if (capability === undefined) {
      throw refuse(
        `--capabilities, entry ${index + 1}: must be one of ${allCapabilities.join(', ')}`,
      );
    }
    if (names.indexOf(name) !== index) {
      throw refuse(`--capabilities names ${capability} twice`);
    }
    return capability;
  });
}

/** @param isOwnFolder - the file is in the agent directory, which is made if it is missing */
function assertFree(path: string, isOwnFolder: boolean): void {
  if (existsSync(path)) {
    throw new PoolError(
      'file_not_written',
      `${path} exists, and onboard overwrites no configuration; name another file with --out. Nothing was sent`,
    );
  }
  const folder = dirname(path);
  const probe = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    if (isOwnFolder) {
      ensureAgentHome(folder);
    }
    // The only certain test: modes do not show a read-only file system, and do not bind every user.
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${folder} does not exist or cannot be written to; make it, or name a file in another directory with --out. Nothing was sent`,
      { cause },
    );
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * Domain and URI of the sign-in text: those of chains.json where it exists, and otherwise those of the platform's address. A text for
 * one platform must not be sent to another one, which could sign in with it.
 */
function findSignInPlace(platformUrl: string, { chainsFile }: KeepingSettings): EvidenceDomain {
  const domain = new URL(platformUrl).host;
  if (!existsSync(chainsFile)) {
    return { domain, uri: platformUrl };
  }
  const { evidence } = readChainsFile(chainsFile);
  if (evidence.domain !== domain) {
    throw new PoolError(
      'invalid_configuration',
      `--platform is at ${domain}, and evidence.domain of ${chainsFile} is ${evidence.domain}; correct one of them. Nothing was sent`,
    );
  }
  return evidence;
}

/** Holder's signers that sign a session after a vote. */
const votedSigners = holderKinds.filter((kind) => remoteHolderRole(kind)?.needsVote);

function createLoginSigner(login: string | undefined, settings: KeepingSettings): HolderSigner {
  switch (login) {
    case undefined:
      if (settings.onboardPrivateKey === undefined) {
        throw new PoolError(
          'invalid_configuration',
          `${variables.onboardPrivateKey.name} is required: it signs the session. Or let the holder's signer sign it with --login holder`,
        );
      }
      return createLocalKeyHolder({ privateKey: settings.onboardPrivateKey });
    case 'holder':
      assertSigns(settings.holder, 'sign in or enrol');
      return createHolderSigner(settings.holder);
    default:
      if (!votedSigners.some((kind) => kind === login)) {
        throw refuse(
          `--login must be holder or ${votedSigners.join(' or ')}; leave it out for ONBOARD_PRIVATE_KEY`,
        );
      }
      if (settings.holder.remote?.kind !== login) {
        throw new PoolError(
          'invalid_configuration',
          `--login ${login} requires ${variables.holderSigner.name}=${login}: the session is signed by the holder's wallet there`,
        );
      }
      return createHolderSigner(settings.holder);
  }
}

/** @param isEd25519 - the chain decides which wallet such a key is, so chains.json must name it */
async function openEnrolled(
  settings: KeepingSettings,
  domain: string,
  isEd25519: boolean,
): Promise<Holder> {
  // The chains file of an EVM holder is usually written after this command.
  const hasFile = existsSync(settings.chainsFile) || isEd25519;
  return await openHolder(hasFile ? settings : { ...settings, chain: undefined }, domain);
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
