/**
 * What links a withdrawal to a payslip, and an amount that does not.
 *
 * @module
 */
import { formatTokenAmount, formatTokenUnits, type TokenUnit } from '@pool/core';
import {
  findWithdrawalLinks,
  type Payslip,
  suggestAmount,
  type WithdrawalLink,
} from '../model/withdrawal-links.ts';
import { Button, Notice } from '../parts/elements.tsx';
import { formatDate, formatTime } from '../parts/format.ts';
import { texts } from '../texts.ts';

export function LinkWarning({
  amount,
  unit,
  payslips,
  onSuggestion,
}: {
  /** Base units. */
  readonly amount: bigint;
  readonly unit: TokenUnit;
  readonly payslips: readonly Payslip[];
  /** Receives token units as text. */
  readonly onSuggestion: (text: string) => void;
}) {
  const links = findWithdrawalLinks(amount, Date.now(), payslips);
  if (links.length === 0) return null;
  const { withdraw: words } = texts;
  const isAmount = links.some(({ kind }) => kind !== 'same-day');
  const other = isAmount ? suggestAmount(amount, payslips) : undefined;
  return (
    <Notice kind="warning" title={words.linkTitle}>
      <ul>
        {links.map((link) => (
          <li key={link.kind}>{describe(link)}</li>
        ))}
      </ul>
      {other !== undefined && (
        <>
          <p>{words.suggestionText}</p>
          <Button
            onClick={() => onSuggestion(`${formatTokenUnits(other, unit.decimals)} ${unit.symbol}`)}
          >
            {words.suggestion(formatTokenAmount(other, unit))}
          </Button>
        </>
      )}
    </Notice>
  );
}

function describe(link: WithdrawalLink): string {
  const { links } = texts.withdraw;
  switch (link.kind) {
    case 'equal-amount':
      return links['equal-amount'](formatDate(link.payslip.timeMs));
    case 'equal-sum':
      return links['equal-sum'](link.count);
    case 'same-day':
      return links['same-day'](formatTime(link.untilMs));
  }
}
