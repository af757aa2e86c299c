/**
 * Who paid a payslip: the funder's address, as the node of the page says, and the name that an invitation gave to that address. A payment
 * of a colleague has none, because the pool hides who made it.
 *
 * @module
 */
import { type EvmAddress, type Hex32, isPoolError, parseHex32 } from '@pool/core';
import type { SealedRecords } from '@pool/wallet/browser';
import type { EvmRecords } from '@pool/wallet/evm';
import type { Inviter } from '../wallet-port.ts';

/** Addresses by transaction hash. Empty: nobody funded a batch in it. */
type Funders = Readonly<Record<string, string>>;

/**
 * Asks the node once for each transaction: it learns no more than from the times of their blocks, which a history has asked for.
 * @param txHashes - of payslips
 * @param token - one record holds the funders of its batches: a transaction can have batches of two tokens
 * @returns texts by transaction hash. What the node does not say now is missing
 */
export async function namePayers(
  txHashes: readonly string[],
  token: EvmAddress,
  {
    node,
    records,
    inviters,
  }: {
    readonly node: Pick<EvmRecords, 'fetchFunder'>;
    readonly records: Pick<SealedRecords<Funders>, 'find' | 'change'>;
    readonly inviters: readonly Inviter[];
  },
): Promise<Readonly<Record<string, string>>> {
  const known = (await records.find(token)) ?? {};
  const missing = [...new Set(txHashes)].filter((txHash) => !Object.hasOwn(known, txHash));
  const found = await Promise.all(
    missing.map(async (txHash) => [txHash, await findFunder(node, parseHex32(txHash), token)]),
  );
  const added = Object.fromEntries(found.filter(([, funder]) => funder !== undefined)) as Funders;
  if (Object.keys(added).length > 0) {
    await records.change([token], ([stored = {}]) => [{ ...stored, ...added }]);
  }
  const funders = { ...known, ...added };
  return Object.fromEntries(
    txHashes.flatMap((txHash) => {
      const funder = funders[txHash];
      return funder === undefined || funder === '' ? [] : [[txHash, describe(funder, inviters)]];
    }),
  );
}

/** Empty: there is none. Undefined: the node does not say. */
async function findFunder(
  node: Pick<EvmRecords, 'fetchFunder'>,
  txHash: Hex32,
  token: EvmAddress,
): Promise<string | undefined> {
  try {
    return (await node.fetchFunder(txHash, token)) ?? '';
  } catch (error) {
    if (isPoolError(error)) return undefined;
    throw error;
  }
}

/** Two employers can give the same name, so the address is beside it. */
function describe(funder: string, inviters: readonly Inviter[]): string {
  const inviter = inviters.find(({ employerAddress }) => employerAddress === funder);
  return inviter === undefined ? funder : `${inviter.employer} (${funder})`;
}
