/**
 * `custodian_a` as the funder's signer: a wallet at a custodian whose approval policy votes on every signature.
 *
 * @module
 */
import type { SignKind } from '@pool/policy';
import type { Signer } from '../signer.ts';
import { createWalletSigner, type WalletSignerOptions } from './wallet-signer.ts';

export type CustodianASignerOptions = WalletSignerOptions;

/** A spend is not in it: its digest shows an approver nothing, so the funder's wallet never signs one. */
const funderKinds: readonly SignKind[] = [
  'fund-authorization',
  'void',
  'permit',
  'token-approval',
  'sign-in',
  'disclosure',
];

/**
 * A funder at custodian A. A request waits there for votes, for hours if need be; `submit`, `read` and `find` say where it stands.
 *
 * @example
 * const signer = createCustodianASigner({ url, token, credentialId, serviceKey, walletId, address });
 * const step = await signer.submit(createSignRequest({ kind: 'void', payload, expectedSigner: address }));
 *
 * @throws PoolError `invalid_configuration`
 */
export function createCustodianASigner(options: CustodianASignerOptions): Signer {
  return createWalletSigner({ ...options, kinds: funderKinds });
}
