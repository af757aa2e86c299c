/**
 * Rules that hold for every kind: the ledger is current, the request is well formed, and it comes from a listed wallet and user.
 *
 * @module
 */
import { computeWalletAddress, type EncryptionPublicKey } from '@pool/core';
import type { HolderRule } from '../policy/holder-rule.ts';
import type { Policy } from '../policy/policy-schema.ts';
import { findRefusal, type SignerAllow } from '../requests/find-refusal.ts';
import { check, type DecideInput, type Finding, fail, pass, wait } from './findings.ts';

// Rules for every request of a holder's wallet.

/** The policy's entry for the wallet that must sign. */
export function findHolder({ policy, request }: DecideInput): HolderRule | undefined {
  return policy.holders.find(
    ({ walletPub }) => computeWalletAddress(walletPub) === request.expectedSigner,
  );
}

/** @param encryptionPublicKey - the P that a sign-in text may list */
export function checkHolder(
  input: DecideInput,
  encryptionPublicKey?: EncryptionPublicKey,
): readonly Finding[] {
  const holder = findHolder(input);
  const common = checkRequest(input, encryptionPublicKey);
  return holder === undefined
    ? [fail('holder', 'holder-not-listed'), ...common]
    : [...common, ...checkOrigin(input, holder)];
}

/** A disclosure authorises nothing in a pool, and a stored batch can be voided after its pool left the policy. */
const kindsOfAnyPool: readonly string[] = ['disclosure', 'void'];

/** @param encryptionPublicKey - the P that a sign-in text may list */
export function checkRequest(
  { request, policy, ledger, nowMs }: DecideInput,
  encryptionPublicKey?: EncryptionPublicKey,
): readonly Finding[] {
  // The signer is looked up in the policy by its address, so that no key is compared with itself here.
  const refusal = findRefusal(
    request,
    request.expectedSigner,
    createAllow(policy, request.kind, encryptionPublicKey),
    nowMs,
  );
  return [
    ledger.isRestored ? wait('ledger-current', 'ledger-restored') : pass('ledger-current'),
    refusal === undefined ? pass('request') : fail('request', refusal),
  ];
}

/** Pools that batches may use, and pools that holders may spend from. */
function createAllow(
  policy: Policy,
  kind: string,
  encryptionPublicKey: EncryptionPublicKey | undefined,
): SignerAllow {
  const funded = policy.pools.map(({ chainId, pool, tokens }) => ({
    chainId,
    pool,
    tokens: tokens.map(({ token }) => token),
  }));
  const spent = policy.holders
    .flatMap(({ spend }) => spend?.assets ?? [])
    .map(({ chainId, pool, token }) => ({ chainId, pool, tokens: [token] }));
  const pools = kind === 'spend' ? spent : kindsOfAnyPool.includes(kind) ? undefined : funded;
  return {
    ...(pools === undefined ? {} : { pools }),
    ...(encryptionPublicKey === undefined ? {} : { encryptionPublicKey }),
  };
}

/** A custodian's request names the wallet and the user who asks. Both must be listed. */
export function checkOrigin(
  { origin }: DecideInput,
  listed: { readonly wallets: readonly string[]; readonly initiators: readonly string[] },
): readonly Finding[] {
  if (origin.kind === 'local') {
    return [pass('origin', 'received by the signer itself')];
  }
  return [
    check('wallet', listed.wallets.includes(origin.wallet), 'wallet-not-listed'),
    check('initiator', listed.initiators.includes(origin.initiator), 'initiator-not-listed'),
  ];
}

/** Why the ledger has no manifest for the request: none came yet, or the stored file is another one. */
export function explainMissing({ request, manifest, ledger }: DecideInput): Finding {
  const isStored =
    manifest !== undefined && ledger.findManifest(manifest.manifestDigest) !== undefined;
  return isStored
    ? fail('manifest', 'manifest-mismatch', 'The stored file has another kind, seed or deadline.')
    : wait('manifest', 'manifest-missing', `Kind: ${request.kind}.`);
}
