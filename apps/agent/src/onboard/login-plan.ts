/**
 * Who signs a session and where, decided from options and configuration alone, before the platform is asked for anything.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { readChainsFile } from '@pool/configuration';
import {
  type AccountAddress,
  computeWalletAddress,
  type EvidenceDomain,
  PoolError,
  parseWalletPub,
} from '@pool/core';
import { parseServiceUrl } from '@pool/platform-client';
import { type LoginPass, openPendingSignIn } from '@pool/platform-client/onboard';
import {
  assertSigns,
  createHolderSigner,
  createLocalKeyHolder,
  type HolderSigner,
  holderKinds,
  remoteHolderRole,
} from '@pool/signers';
import type { KeepingSettings } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import { ensureAgentHome } from '../state/agent-home.ts';

/**
 * A session of an employer.
 * @param platform - the platform's base URL
 * @throws PoolError `invalid_request`, `invalid_configuration`
 */
export async function planLogin(
  platform: string,
  login: string | undefined,
  settings: KeepingSettings,
): Promise<LoginPass> {
  const platformUrl = parsePlatformUrl(platform);
  const place = findSignInPlace(platformUrl, settings);
  const signer = createLoginSigner(login, settings);
  if (signer.curve === 'ed25519') {
    throw refuse(
      `${signer.name} is a wallet of Solana or Stellar; an employer that invites signs in with an EVM wallet`,
    );
  }
  const address = computeWalletAddress(parseWalletPub(await signer.walletPub()));
  const own = { signer, address };
  const pending = keepSignIn(platformUrl, own, undefined, settings);
  return { platformUrl, place, login: own, pending };
}

/** Where the sign-in text of a signer that needs a vote is kept: a vote can outlive the command. */
export function keepSignIn(
  platformUrl: string,
  { signer, address }: { readonly signer: HolderSigner; readonly address: AccountAddress },
  encryptionPublicKey: string | undefined,
  { home }: Pick<KeepingSettings, 'home'>,
): LoginPass['pending'] {
  if (signer.needsVote !== true) {
    return undefined;
  }
  ensureAgentHome(home);
  return openPendingSignIn(home, { platformUrl, address, encryptionPublicKey });
}

export function parsePlatformUrl(text: string): string {
  const url = parseServiceUrl(text, '--platform');
  if (url.pathname.endsWith('/agent-edge')) {
    throw refuse("--platform is the platform's base URL: leave out /agent-edge");
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * Domain and URI of the sign-in text: those of chains.json where it exists, and otherwise those of the platform's address. A text for
 * one platform must not be sent to another one, which could sign in with it.
 */
export function findSignInPlace(
  platformUrl: string,
  { chainsFile }: KeepingSettings,
): EvidenceDomain {
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

export function createLoginSigner(
  login: string | undefined,
  settings: KeepingSettings,
): HolderSigner {
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

function refuse(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
