/**
 * Is there a contract at the address that pays, and who signs for it? Nobody is asked for a signature.
 *
 * @module
 */
import type { ChainsFile } from '@pool/core';
import { type EvmAddress, PoolError, parseHex32 } from '@pool/core';
import { createEvmChain, createFinding, type Finding } from '@pool/operations';

const noDigest = parseHex32(`0x${'00'.repeat(32)}`);

/**
 * A wallet may be on one of several chains only.
 * @throws PoolError `signature_rejected` if no chain has a contract there; `chain_unreachable` if none answers
 */
export async function probeContractWallet(
  address: EvmAddress,
  { chains }: Pick<ChainsFile, 'chains'>,
): Promise<Finding> {
  const seen = await Promise.all(
    Object.entries(chains).map(async ([key, settings]) => {
      const chain = createEvmChain(settings);
      try {
        const subject = { address, digest: noDigest, signature: `0x${'00'.repeat(65)}` } as const;
        const verdict = await chain.checkContractSignature(subject);
        const wallet = verdict === 'no-contract' ? undefined : await chain.fetchOwners(address);
        const who =
          wallet === undefined
            ? 'a contract that does not show its owners'
            : `${wallet.threshold} of ${wallet.owners.length} owners sign`;
        return { key, what: verdict === 'no-contract' ? undefined : who };
      } catch (error) {
        return { key, error };
      } finally {
        chain.close();
      }
    }),
  );
  const found = seen.flatMap(({ key, what }) => (what === undefined ? [] : [`${key}: ${what}`]));
  const outage = seen.find(({ error }) => error !== undefined);
  if (found.length > 0) {
    return createFinding(true, 'contract_wallet', `${address} pays (${found.join('; ')})`);
  }
  if (outage !== undefined) {
    throw outage.error;
  }
  throw new PoolError(
    'signature_rejected',
    `there is no contract at ${address} on any chain of chains.json; correct DISBURSE_CONTRACT_WALLET_ADDRESS`,
  );
}
