/**
 * Signs a disclosure in this process, with the key of who paid or was paid.
 *
 * @module
 */
import { type DisclosureContent, type Hex, PoolError } from '@pool/core';
import { assertSigns, createLocalKeySigner, createSignRequest, openHolder } from '@pool/signers';
import type { DisclosurePurpose } from '@pool/wallet';
import { systemClock } from '@pool/wallet/node';
import type { Config } from '../config/config.ts';

/** @throws PoolError `invalid_request` for days that are not a number from 1 to 99999 */
export function readPurpose({
  purpose,
  days,
  challenge,
}: {
  readonly purpose: string;
  readonly days: string;
  readonly challenge?: string | undefined;
}): DisclosurePurpose & {
  readonly nowMs: number;
} {
  if (!/^[1-9][0-9]{0,4}$/.test(days)) {
    throw new PoolError(
      'invalid_request',
      '--days: give the number of days after which the document proves nothing',
    );
  }
  return { purpose, days: Number(days), challenge, nowMs: systemClock.nowMs() };
}

/** With the key of who paid. @throws PoolError `wallet_mismatch` */
export async function signDisclosure(
  content: DisclosureContent,
  config: Config,
  chain: string,
): Promise<Hex> {
  const { funderPrivateKey, holder: holderConfig, chainsFile } = config;
  if (funderPrivateKey !== undefined) {
    const allow = { kinds: ['disclosure' as const] };
    const signer = createLocalKeySigner({ privateKey: funderPrivateKey, allow });
    const expectedSigner = await signer.address();
    if (expectedSigner === content.discloser) {
      const payload = { content };
      const outcome = await signer.submit(
        createSignRequest({ kind: 'disclosure', payload, expectedSigner }),
      );
      if (outcome.state === 'signed') {
        return outcome.signature;
      }
    }
  }
  assertSigns(holderConfig, 'sign a disclosure');
  const holder = await openHolder({ chain, chainsFile, holder: holderConfig });
  if (holder.address !== content.discloser) {
    throw new PoolError(
      'wallet_mismatch',
      `${content.discloser} paid, and this configuration has no key of it: a disclosure is signed by who paid. Set DISBURSE_FUNDER_PRIVATE_KEY or DISBURSE_HOLDER_PRIVATE_KEY to its key`,
    );
  }
  return await holder.signer.signDisclosure(content);
}
