/**
 * What `onboard` is going to do, decided from options and configuration alone. Everything that can be refused is refused here, before
 * the platform is asked for anything and before a file is written.
 *
 * @module
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { capabilities as allCapabilities, type Capability } from '@pool/api';
import {
  computeWalletAddress,
  type EvidenceDomain,
  type EvmAddress,
  PoolError,
  parseWalletPub,
} from '@pool/core';
import { parseServiceUrl } from '@pool/platform-client';
import { createLocalKeyHolder, type HolderSigner } from '@pool/signers';
import type { OnboardSettings } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import { readChainsFile } from '../services/chains.ts';
import { createHolderSigner, type Holder, openHolder } from '../services/holder.ts';

export type OnboardOptions = {
  readonly platform: string;
  readonly enrollHolder?: boolean;
  /** Comma separated. */
  readonly capabilities?: string;
  readonly out?: string;
  readonly login?: string;
  readonly envFile?: string;
};

export type OnboardPlan = {
  /** The platform's base URL, without a trailing slash. */
  readonly platformUrl: string;
  /** Domain and URI of the sign-in text. */
  readonly place: EvidenceDomain;
  /** Signs the session. */
  readonly login: { readonly signer: HolderSigner; readonly address: EvmAddress };
  readonly capabilities: readonly Capability[];
  /** Present if it is enrolled or gets a key. */
  readonly holder: Holder | undefined;
  readonly isEnrolment: boolean;
  /** Does not exist yet. */
  readonly outPath: string;
};

/** @throws PoolError `invalid_request`, `invalid_url`, `invalid_configuration`, `wallet_mismatch`, `file_not_written` */
export async function planOnboarding(
  options: OnboardOptions,
  settings: OnboardSettings,
): Promise<OnboardPlan> {
  const platformUrl = parsePlatformUrl(options.platform);
  const capabilities = parseCapabilities(options.capabilities);
  const isEnrolment = options.enrollHolder === true;
  const outPath = resolve(options.out ?? join(settings.home, 'agent.env'));
  assertFree(outPath, options.out === undefined ? settings.home : dirname(outPath));
  const place = findSignInPlace(platformUrl, settings);
  const isHolderKey = capabilities.some((capability) => capability !== 'disburse');
  const signer = createLoginSigner(options.login, settings);
  const address = await readAddress(signer);
  const holder =
    isEnrolment || isHolderKey ? await openEvmHolder(settings, place.domain) : undefined;
  if (holder !== undefined && holder.address !== address) {
    throw new PoolError(
      'wallet_mismatch',
      `the session would be signed by ${address}, and the holder's wallet is ${holder.address}. A holder is enrolled, and its keys are minted, in a session of its own wallet: run the command again with --login holder. Nothing was sent`,
    );
  }
  return {
    platformUrl,
    place,
    login: { signer, address },
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

/** @param folder - of the file; the agent directory is made if it is missing */
function assertFree(path: string, folder: string): void {
  if (existsSync(path)) {
    throw new PoolError(
      'file_not_written',
      `${path} exists, and onboard overwrites no configuration; name another file with --out. Nothing was sent`,
    );
  }
  try {
    if (existsSync(folder)) {
      accessSync(folder, constants.W_OK);
    } else {
      accessSync(dirname(folder), constants.W_OK);
    }
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${folder} cannot be written to; name a file in another directory with --out. Nothing was sent`,
      { cause },
    );
  }
}

/**
 * Domain and URI of the sign-in text: those of chains.json where it exists, and otherwise those of the platform's address. A text for
 * one platform must not be sent to another one, which could sign in with it.
 */
function findSignInPlace(platformUrl: string, { chainsFile }: OnboardSettings): EvidenceDomain {
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

function createLoginSigner(login: string | undefined, settings: OnboardSettings): HolderSigner {
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
      return createHolderSigner(settings.holder);
    case 'custodian_a':
      throw refuse(
        '--login custodian_a comes with the custody release and is not in this build; use --login holder, or ONBOARD_PRIVATE_KEY',
      );
    default:
      throw refuse('--login must be holder or custodian_a; leave it out for ONBOARD_PRIVATE_KEY');
  }
}

async function readAddress(signer: HolderSigner): Promise<EvmAddress> {
  assertCanSignIn(signer);
  return computeWalletAddress(parseWalletPub(await signer.walletPub()));
}

async function openEvmHolder(settings: OnboardSettings, domain: string): Promise<Holder> {
  const holder = await openHolder(
    // The chains file is usually written after this command.
    existsSync(settings.chainsFile) ? settings : { ...settings, chain: undefined },
    domain,
  );
  assertCanSignIn(holder.signer);
  return holder;
}

function assertCanSignIn({ name, curve }: HolderSigner): void {
  if (curve !== 'secp256k1') {
    throw new PoolError(
      'holder_unsupported',
      `${name} cannot sign in: platforms accept EIP-4361 texts of secp256k1 wallets only. Nothing was sent`,
    );
  }
}

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
