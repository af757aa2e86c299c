/**
 * From a file to a payment.
 *
 * @module
 */
import { type AmountUnit, numberFormats, PoolError, readAmount } from '@pool/core';
import { decodeRoster, encodeWrongRows, parsePayRun } from '@pool/pay-run';
import type { ConsoleApp, ConsoleDeps, Form } from './access/ports.ts';
import { placeOf } from './pages/layout.ts';
import { renderNewRun } from './pages/new-run.ts';
import { renderReview } from './pages/review.ts';
import { pathOfRun } from './pages/run-list.ts';
import type { Draft, Drafts } from './runs/drafts.ts';
import type { Payments } from './runs/payments.ts';
import {
  compareControl,
  createPlan,
  findFailed,
  nameAttempts,
  readDraft,
  reviewDraft,
} from './runs/review.ts';

const defaultPercent = 10;

export function addDraftRoutes(
  app: ConsoleApp,
  { payer }: ConsoleDeps,
  { drafts, payments }: { readonly drafts: Drafts; readonly payments: Payments },
): void {
  app.get('/:place/new', (c) => c.html(renderNewRun(c.get('session'), {}, payer)));

  app.post('/:place/drafts', async (c) => {
    const draft = drafts.add(await readForm(c.get('form'), payer));
    return c.redirect(`${placeOf(c.get('session'))}/drafts/${draft.id}`, 303);
  });

  app.get('/:place/drafts/:id', async (c) => {
    const draft = drafts.find(c.req.param('id'));
    const percent = readPercent(c.req.query('percent'));
    const review = await reviewDraft(draft, payer, percent);
    const control = compareControl(draft, review.roster);
    return c.html(renderReview(c.get('session'), draft, review, { control, percent }));
  });

  app.get('/:place/drafts/:id/defects.csv', async (c) => {
    const draft = drafts.find(c.req.param('id'));
    const { problems } = await reviewDraft(draft, payer, defaultPercent);
    return c.body(encodeWrongRows(draft.text, problems), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${draft.payRun}-defects.csv"`,
    });
  });

  app.post('/:place/drafts/:id/drop', (c) => {
    drafts.drop(c.req.param('id'));
    return c.redirect(`${placeOf(c.get('session'))}/`, 303);
  });

  app.post('/:place/drafts/:id/pay', async (c) => {
    const draft = drafts.find(c.req.param('id'));
    const roster = readDraft(draft);
    if (roster.kind === 'mistakes' || compareControl(draft, roster).length > 0) {
      throw new PoolError(
        'payment_declined',
        'nothing was sent: the roster has defects, or the control totals do not agree',
      );
    }
    const form = c.get('form');
    const failed = await findFailed(createPlan(draft, roster), payer);
    const plan = createPlan(
      draft,
      roster,
      failed.map(({ part }) => part),
    );
    // A page that was open before the last attempt has failed sends nothing.
    const attempts = nameAttempts(failed);
    if ((form['failed'] ?? '') !== attempts) {
      return c.redirect(pathOfRun(c.get('session'), plan), 303);
    }
    await payments.begin(plan, {
      skipped: Number(form['skipped']),
      failed: attempts,
      isAgain: form['again'] === 'yes',
    });
    return c.redirect(pathOfRun(c.get('session'), plan), 303);
  });
}

/** @throws PoolError `invalid_request`, `invalid_roster` */
async function readForm(
  form: Form,
  { readChains }: Pick<ConsoleDeps['payer'], 'readChains'>,
): Promise<Omit<Draft, 'id'>> {
  const read = (name: string): string => {
    const value = form[name];
    return typeof value === 'string' ? value.trim() : '';
  };
  const [chain = '', token = ''] = read('target').split(' ');
  const chains = readChains();
  const tokens = Object.hasOwn(chains, chain) ? (chains[chain]?.tokens ?? {}) : {};
  const decimals = Object.hasOwn(tokens, token) ? tokens[token]?.decimals : undefined;
  const format = numberFormats.find((one) => one === read('format'));
  if (decimals === undefined || format === undefined) {
    throw new PoolError(
      'invalid_request',
      'choose a chain with its token, and how amounts are written',
    );
  }
  const unit: AmountUnit = { symbol: token, decimals, format };
  const count = read('count');
  if (!/^[0-9]{1,6}$/.test(count)) {
    throw new PoolError('invalid_request', 'the number of people is a whole number');
  }
  const sum = readAmount(read('sum'), unit);
  if (sum.kind === 'mistake') {
    throw new PoolError('invalid_request', `the sum of all amounts: the text ${sum.problem}`);
  }
  const file = form['file'];
  const hasFile = file instanceof File && file.size > 0;
  const pasted = typeof form['text'] === 'string' ? form['text'] : '';
  if (hasFile === (pasted.trim() !== '')) {
    throw new PoolError('invalid_request', 'give a file, or paste its rows, and not both');
  }
  return {
    ...{ chain, token, unit, payRun: parsePayRun(read('payRun')) },
    text: hasFile ? decodeRoster(new Uint8Array(await file.arrayBuffer()), 'the file') : pasted,
    unregistered: form['skip'] === 'yes' ? 'skip' : 'fail',
    control: { count: Number(count), sum: sum.amount },
  };
}

function readPercent(text: string | undefined): number {
  const percent = Number(text?.replace(',', '.') || defaultPercent);
  return percent >= 0 && percent <= 1_000_000 ? percent : defaultPercent;
}
