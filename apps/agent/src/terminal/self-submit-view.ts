/**
 * A withdrawal that this process submits itself, on a terminal: the stage, and each transaction. A pipe gets transactions and refusals
 * only.
 *
 * @module
 */

import { drawBar, type Terminal } from '@pool/pay-run';
import type { SpendEvent } from '@pool/wallet';
import type { SelfSubmitterOptions } from '@pool/wallet/evm';

export type SelfSubmitView = {
  show(event: SpendEvent): void;
  readonly showSent: NonNullable<SelfSubmitterOptions['onSent']>;
  /** Removes the redrawn line. */
  end(): void;
};

const stages = {
  checking: 'reading the chain and choosing notes',
  signing: 'signing',
  'awaiting-approval': "waiting for the vote on the holder's signature",
  proving: 'proving',
  settling: 'waiting until the chain is final',
} as const;

export function createSelfSubmitView(terminal: Terminal): SelfSubmitView {
  const clear = terminal.isTty ? '\r\u001b[K' : '';
  const redraw = (text: string): void => {
    if (terminal.isTty) {
      terminal.write(`${clear}  ${text}`);
    }
  };
  return {
    show(event) {
      switch (event.kind) {
        case 'stage':
          redraw(stages[event.stage]);
          return;
        case 'progress':
          redraw(`${stages.proving} ${drawBar(event.fraction)}`);
          return;
        case 'refused':
          terminal.write(
            `${clear}refused: ${event.code}: ${event.message}${describeDetails(event.details)}; it is tried again until its deadline\n`,
          );
          return;
        case 'retry':
          redraw(`${event.code}: trying again`);
          return;
        case 'withdrawn':
        case 'not-withdrawn':
        case 'outcome':
          return;
      }
    },
    showSent({ txHash, nonce, maxCostWei }) {
      terminal.write(
        `${clear}sent ${txHash} (nonce ${nonce}), which costs at most ${formatCoin(maxCostWei)}\n`,
      );
    },
    end: () => redraw(''),
  };
}

function describeDetails(details: Readonly<Record<string, unknown>> = {}): string {
  const fields = Object.entries(details).map(([name, value]) => `${name}: ${String(value)}`);
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`;
}

/** Wei as an amount of the chain's own coin, rounded up to six decimals. */
export function formatCoin(wei: bigint): string {
  const micro = (wei + 999_999_999_999n) / 1_000_000_000_000n;
  const [whole, fraction] = [micro / 1_000_000n, micro % 1_000_000n];
  const digits = fraction.toString().padStart(6, '0').replace(/0+$/, '');
  return digits === '' ? String(whole) : `${whole}.${digits}`;
}
