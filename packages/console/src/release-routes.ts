/**
 * The pages about releases: what waits for people, what a person takes away to sign, their signed word, and the log.
 *
 * @module
 */
import { PoolError, parseStrictJson } from '@pool/core';
import { listOwnersRequests, type PreparedBatchView } from '@pool/operations';
import { formatRequest, parseAnswer, storeWords, toRequested } from '@pool/pay-run';
import { verifyReleaseLog } from '@pool/policy';
import type { ConsoleApp, ConsoleContext, ConsoleDeps, Form } from './access/ports.ts';
import { placeOf } from './pages/layout.ts';
import { nameRequest, renderBatch, renderReleaseLog, renderReleases } from './pages/releases.ts';
import { listWaiting } from './runs/releases.ts';

/** In errors. */
const answerName = 'the signed answer';

export function addReleaseRoutes(app: ConsoleApp, { payer, releases, owners }: ConsoleDeps): void {
  app.get('/:place/releases', async (c) => {
    const views = releases && (await listWaiting(releases, payer));
    const asked = owners && (await listOwnersRequests(owners));
    const stored = Number(c.req.query('stored') ?? 0);
    const isSigned = c.req.query('signed') !== undefined;
    return c.html(renderReleases(c.get('session'), { views, asked, stored, isSigned }));
  });

  app.post('/:place/releases', async (c) => {
    const words = parseAnswer(
      parseStrictJson(await readAnswer(c.get('form'), 'the answer'), answerName),
      answerName,
    );
    await storeWords(words, await listWaiting(open(), payer), open());
    c.get('log').info({ words: words.length }, 'release words imported');
    return c.redirect(`${placeOf(c.get('session'))}/releases?stored=${words.length}`, 303);
  });

  app.get('/:place/releases/log', async (c) => {
    const entries = await open().log.listSince();
    const head = c.req.query('head')?.trim() ?? '';
    const verdict = verifyReleaseLog(entries, head === '' ? undefined : head);
    return c.html(renderReleaseLog(c.get('session'), { entries, head, verdict }, payer));
  });

  // The same document as "release log --json", for "release verify".
  app.get('/:place/releases/log.json', async (c) => {
    const entries = await open().log.listSince();
    return answerFile(c, 'release-log.json', `${JSON.stringify({ entries }, null, 2)}\n`);
  });

  app.get('/:place/releases/:digest', async (c) => {
    const view = await findBatch(c.req.param('digest'));
    return c.html(renderBatch(c.get('session'), view, open().policy));
  });

  app.get('/:place/releases/:digest/request.json', async (c) => {
    const view = await findBatch(c.req.param('digest'));
    const text = formatRequest([toRequested(view, open().policy.sha256)]);
    return answerFile(c, nameRequest(view.batch.manifestDigest), text);
  });

  function open(): NonNullable<typeof releases> {
    if (releases === undefined) {
      throw new PoolError(
        'not_found',
        'this agent has no release policy: DISBURSE_RELEASE_POLICY is not set, so nothing waits for a release',
      );
    }
    return releases;
  }

  async function findBatch(digest: string): Promise<PreparedBatchView> {
    const view = (await listWaiting(open(), payer)).find(
      ({ batch }) => batch.manifestDigest === digest,
    );
    if (view === undefined) {
      throw new PoolError(
        'not_found',
        'no prepared batch has this digest: it was paid, cancelled or has failed. The log says which',
      );
    }
    return view;
  }
}

/** @param what - for messages. @throws PoolError `invalid_request` */
export async function readAnswer({ file, text }: Form, what: string): Promise<string> {
  const hasFile = file instanceof File && file.size > 0;
  const pasted = typeof text === 'string' ? text.trim() : '';
  if (hasFile === (pasted !== '')) {
    throw new PoolError(
      'invalid_request',
      `give the file of ${what}, or paste the text, and not both`,
    );
  }
  return hasFile ? await file.text() : pasted;
}

export function answerFile(c: ConsoleContext, name: string, text: string): Response {
  return c.body(text, 200, {
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  });
}
