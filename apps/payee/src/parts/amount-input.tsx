/**
 * The field of an amount, with what is wrong about it.
 *
 * @module
 */
import { formatTokenAmount, formatTokenUnits, type TokenUnit } from '@pool/core';
import { readAmountField } from '../model/amount-field.ts';
import { texts } from '../texts.ts';
import type { Balance } from '../wallet-port.ts';
import { Button, Field } from './elements.tsx';

export function AmountInput({
  text,
  onText,
  unit,
  balance,
  isChecked,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly unit: TokenUnit;
  readonly balance: Balance;
  /** An empty field is a problem: the person tried to go on. */
  readonly isChecked: boolean;
}) {
  const { total, spendable } = balance;
  const read = readAmountField(text, unit, total);
  const { amount: words } = texts;
  const problems = {
    empty: isChecked ? words.missing : undefined,
    amount: undefined,
    'too-much': words['too-much'](formatTokenAmount(total, unit)),
    'too-many-decimals': words['too-many-decimals'](unit.symbol, unit.decimals),
    'not-an-amount': words['not-an-amount'],
    unclear: words.unclear,
  };
  return (
    <>
      <Field
        label={words.label(unit.symbol)}
        value={text}
        onValue={onText}
        inputMode="decimal"
        hint={[
          words.all(formatTokenAmount(spendable, unit)),
          spendable < total && words.held(formatTokenAmount(total - spendable, unit)),
        ]
          .filter(Boolean)
          .join(' ')}
        problem={problems[read.kind]}
      />
      {read.kind === 'unclear' &&
        read.readings.map((amount) => (
          <Button
            key={amount}
            onClick={() => onText(`${formatTokenUnits(amount, unit.decimals)} ${unit.symbol}`)}
          >
            {formatTokenAmount(amount, unit)}
          </Button>
        ))}
    </>
  );
}
