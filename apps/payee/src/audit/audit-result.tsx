/**
 * What a disclosure proves, payment by payment, and what nobody checked.
 *
 * @module
 */
import { formatTokenUnits } from '@pool/core';
import type { ComponentChildren } from 'preact';
import { Button, Code, Facts, Foreign, Notice, View } from '../parts/elements.tsx';
import { formatTime } from '../parts/format.ts';
import { auditTexts } from './texts.ts';
import type { AuditOutcome } from './verify-file.ts';

type Report = AuditOutcome['report'];
type Payment = Report['payments'][number];
type Proved<T> = Extract<T, { readonly state: 'proved' }>;

export function AuditResult({
  outcome,
  onAgain,
}: {
  readonly outcome: AuditOutcome;
  readonly onAgain: () => void;
}) {
  const { discloser, payments } = outcome.report;
  const { results } = auditTexts;
  return (
    <View title={auditTexts.title}>
      {discloser.state === 'not-proved' ? (
        <Notice kind="failure" title={results.nothing}>
          <p>{auditTexts.gaps[discloser.reason]}</p>
        </Notice>
      ) : (
        <>
          <Notice
            kind={outcome.isProved ? 'note' : 'failure'}
            title={outcome.isProved ? results.proved : results.partly}
          >
            {null}
          </Notice>
          <FileFacts outcome={outcome} discloser={discloser} />
          {payments.map((payment, place) => (
            <section key={`${payment.index}.${payment.slot}`}>
              <h2>{auditTexts.payment.title(place + 1, payments.length)}</h2>
              <PaymentFacts payment={payment} outcome={outcome} />
            </section>
          ))}
          <Unchecked outcome={outcome} />
        </>
      )}
      <div class="no-print">
        <Button onClick={onAgain}>{auditTexts.again}</Button>
      </div>
    </View>
  );
}

function FileFacts({
  outcome: { fileName, place, report, unit },
  discloser: { role, address, purpose, issuedAt, expiresAt },
}: {
  readonly outcome: AuditOutcome;
  readonly discloser: Proved<Report['discloser']>;
}) {
  const { facts } = auditTexts;
  const amounts = report.payments.flatMap(({ amount }) =>
    amount.state === 'proved' ? [amount.amount] : [],
  );
  return (
    <section>
      <h2>{facts.title}</h2>
      <Facts
        rows={[
          [facts.name, <Foreign key="name" text={fileName} />],
          [
            facts.signer,
            <>
              {facts.roles[role]} <Code text={address} />
            </>,
          ],
          [facts.purpose, <Foreign key="purpose" text={purpose} />],
          [facts.issued, describeTime(issuedAt)],
          [facts.expires, describeTime(expiresAt)],
          [facts.pool, <Code key="pool" text={place.pool} />],
          [facts.rpcs, facts.rpcCount(place.rpcUrls.length)],
          [
            facts.sum,
            describeAmount(
              amounts.reduce((sum, amount) => sum + amount, 0n),
              unit,
            ),
          ],
        ]}
      />
    </section>
  );
}

function PaymentFacts({
  payment: { txHash, exists, amount, memo, payer, payee },
  outcome: { times, unit },
}: {
  readonly payment: Payment;
  readonly outcome: AuditOutcome;
}) {
  const { payment: words } = auditTexts;
  // One reason for all of it: the payment itself is not there.
  if (exists.state === 'not-proved') {
    return (
      <Notice kind="failure" title={words.notProved}>
        <p>{auditTexts.gaps[exists.reason]}</p>
        <Code text={txHash} />
      </Notice>
    );
  }
  const seconds = times.get(txHash);
  return (
    <Facts
      rows={[
        [words.amount, show(amount, (proved) => describeAmount(proved.amount, unit))],
        [
          words.token,
          show(amount, ({ token }) => (
            <>
              {unit !== undefined && <Foreign text={unit.symbol.slice(0, 32)} />}{' '}
              <Code text={token} />
            </>
          )),
        ],
        [
          words.memo,
          show(memo, (proved) =>
            proved.memo === null ? words.noMemo : <Foreign text={proved.memo} />,
          ),
        ],
        ...(seconds === undefined ? [] : [[words.date, describeTime(seconds)] as const]),
        [words.payer, show(payer, ({ address }) => <Code text={address} />)],
        [words.payee, show(payee, ({ address }) => <Code text={address} />)],
        [words.transaction, <Code key="transaction" text={txHash} />],
      ]}
    />
  );
}

/** A claim that is proved, or why it is not. */
function show<T extends Payment['amount' | 'memo' | 'payer' | 'payee']>(
  claim: T,
  render: (proved: Proved<T>) => ComponentChildren,
): ComponentChildren {
  if (claim.state === 'proved') return render(claim as Proved<T>);
  return (
    <span class="problem">
      {auditTexts.payment.notProved} {auditTexts.gaps[claim.reason]}
    </span>
  );
}

/** A symbol that could be read as digits or as another text stands in its own row only. */
function describeAmount(amount: bigint, unit: AuditOutcome['unit']): string {
  if (unit === undefined) return auditTexts.payment.baseUnits(amount);
  const number = formatTokenUnits(amount, unit.decimals);
  const isPlain = /^[A-Za-z][A-Za-z0-9.]{0,15}$/.test(unit.symbol);
  return isPlain ? `${number} ${unit.symbol}` : number;
}

/** Unix seconds. A date ends earlier than the numbers that a document may have. */
function describeTime(seconds: number): string {
  const date = new Date(1_000 * seconds);
  return Number.isNaN(date.getTime()) ? String(seconds) : formatTime(date.getTime());
}

function Unchecked({ outcome: { place, terms, report } }: { readonly outcome: AuditOutcome }) {
  const { unchecked } = auditTexts;
  const { payments } = report;
  const lacks = (part: 'payer' | 'memo' | 'payee'): boolean =>
    payments.some(({ [part]: claim }) => claim.state === 'not-proved');
  const items = [
    ...unchecked.always,
    ...(place.rpcUrls.length === 1 ? [unchecked.oneNode] : []),
    ...(terms.challenge === undefined ? [unchecked.challenge] : []),
    ...(lacks('payer') ? [unchecked.payer] : []),
    ...(lacks('memo') ? [unchecked.memo] : []),
    ...(lacks('payee') && terms.evidenceDomain === undefined ? [unchecked.platform] : []),
  ];
  return (
    <section>
      <h2>{unchecked.title}</h2>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </section>
  );
}
