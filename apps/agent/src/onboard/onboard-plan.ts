/**
 * What `onboard` is going to do, decided from options and configuration alone. Everything that can be refused is refused here, before
 * the platform is asked for anything.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { capabilities as allCapabilities, type Capability } from '@pool/api';
import { computeWalletAddress, PoolError, parseAccountAddress, parseWalletPub } from '@pool/core';
import type { OnboardPass } from '@pool/platform-client/onboard';
import { openHolder } from '@pool/signers';
import type { Holder } from '@pool/wallet/node';
import type { KeepingSettings } from '../config/config.ts';
import { assertFree } from '../terminal/new-file.ts';
import { createLoginSigner, findSignInPlace, keepSignIn, parsePlatformUrl } from './login-plan.ts';

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
  const login = { signer, address };
  const listed = isEnrolment ? holder?.encryptionPublicKey : undefined;
  return {
    platformUrl,
    place,
    login,
    pending: keepSignIn(platformUrl, login, listed, settings),
    capabilities,
    holder,
    isEnrolment,
    outPath,
  };
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
