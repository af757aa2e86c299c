// Beside the report of a dry run: whether an agent runs.
import { expect, it } from 'vitest';
import { noteAbsence } from './agent-absence.ts';

async function note(send: typeof fetch): Promise<string> {
  let told = '';
  const write = (text: string): void => {
    told += text;
  };
  await noteAbsence('http://127.0.0.1:8787', { isTty: false, write }, send);
  return told;
}

it('says nothing where an agent answers, whatever it answers', async () => {
  expect(await note(async () => Response.json({ ok: true }))).toBe('');
  expect(await note(async () => new Response(null, { status: 403 }))).toBe('');
});

it('says where no agent answers, and how to start it', async () => {
  const told = await note(() => Promise.reject(new TypeError('fetch failed')));
  expect(told).toBe(
    'note: no agent answers at http://127.0.0.1:8787: start it with "disburse-agent serve" before the payment\n',
  );
});
