// The note beside the report of a dry run: whether an agent answers.
import { expect, it } from 'vitest';
import { noteAbsence } from './pay-roster.ts';

async function note(send: typeof fetch): Promise<string> {
  let written = '';
  const write = (text: string): void => {
    written += text;
  };
  await noteAbsence('http://127.0.0.1:8787', { isTty: false, write }, send);
  return written;
}

it('writes no note if an agent answers, whatever its answer', async () => {
  expect(await note(async () => Response.json({ ok: true }))).toBe('');
  expect(await note(async () => new Response(null, { status: 403 }))).toBe('');
});

it('notes that no agent answers at the address, and how to start one', async () => {
  const written = await note(() => Promise.reject(new TypeError('fetch failed')));
  expect(written).toBe(
    'note: no agent answers at http://127.0.0.1:8787: start it with "disburse-agent serve" before the payment\n',
  );
});
