/**
 * The signed disclosure in a payslip: of this one payment, by who paid. Signs in this process.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { listPaidInsertions } from '@pool/pay-run';
import type { StatementLine } from '@pool/statements';
import { createDisclosureContent, serializeDisclosure } from '@pool/wallet';
import { createEvmRecords } from '@pool/wallet/evm';
import { systemClock } from '@pool/wallet/node';
import type { Config } from '../config/config.ts';
import { findChain, findToken } from './holder/spend-place.ts';
import { readPurpose, signDisclosure } from './sign-disclosure.ts';

/** Days after which a disclosure proves nothing, unless the user says otherwise. */
export const defaultDays = '3650';

export type Disclosures = {
  /** Address of who paid. */
  readonly payer: string;
  disclose(this: void, line: StatementLine): Promise<string>;
  close(): void;
};

/**
 * @param paid - of one chain and token
 * @throws PoolError `not_found` for no line; the errors of the stores and of the RPC
 */
export async function openDisclosures(
  config: Config,
  paid: readonly StatementLine[],
  { days, withMemos }: { readonly days: string; readonly withMemos: boolean },
  createRecords: typeof createEvmRecords = createEvmRecords,
): Promise<Disclosures> {
  const [first] = paid;
  if (first === undefined) {
    throw new PoolError('not_found', 'nobody was paid, so there is no receipt');
  }
  const { chain, token: symbol } = first;
  const { settings } = findChain(config, chain);
  const { chainId, pool } = settings;
  const token = findToken(symbol, settings);
  const records = createRecords(settings);
  try {
    const { payer, insertions } = await listPaidInsertions(
      config,
      {
        ...{ transactions: [], commitments: [], range: { from: undefined, to: undefined } },
        ...{ jobs: [...new Set(paid.flatMap(({ jobKey }) => jobKey ?? []))], payRun: undefined },
        withMemos,
      },
      { chain, chainId, pool, symbol, token },
      records,
    );
    return {
      payer,
      async disclose({ commitment, reference }) {
        const shown = insertions.flatMap((insertion) => {
          const payments = insertion.payments.filter((one) => one.commitment === commitment);
          return payments.length === 0 ? [] : [{ ...insertion, payments }];
        });
        const purpose = readPurpose({ purpose: `payslip ${reference}`.slice(0, 111), days });
        const parties = { settings, token, role: 'payer', discloser: payer } as const;
        const content = createDisclosureContent(purpose, parties, shown, systemClock.nowMs());
        const signature = await signDisclosure(content, config, chain);
        return serializeDisclosure({ ...content, signature });
      },
      close: () => records.close(),
    };
  } catch (error) {
    records.close();
    throw error;
  }
}
