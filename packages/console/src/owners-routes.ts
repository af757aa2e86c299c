/**
 * The pages about a request to the owners of a contract wallet: what they sign, the file for them, and their signatures.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import {
  listOwnersRequests,
  type OwnersOffice,
  type OwnersView,
  storeOwnersSignature,
} from '@pool/operations';
import { formatOwnersRequests, parseOwnersSignature } from '@pool/pay-run';
import { loopbackCredential } from '@pool/policy';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ConsoleApp, ConsoleDeps, Form } from './access/ports.ts';
import { placeOf } from './pages/layout.ts';
import { nameFile, renderOwnersRequest } from './pages/owners.ts';
import { answerFile, readAnswer } from './release-routes.ts';

/** In errors. */
const givenName = 'what you gave';

/** Of a file that is shown again beside its refusal. Signatures are far shorter. */
const maxShownLength = 20_000;

export function addOwnersRoutes(app: ConsoleApp, { owners }: Pick<ConsoleDeps, 'owners'>): void {
  app.get('/:place/releases/owners/:hash', async (c) => {
    const { view } = await find(c.req.param('hash'));
    return c.html(renderOwnersRequest(c.get('session'), view));
  });

  app.get('/:place/releases/owners/:hash/request.json', async (c) => {
    const { view } = await find(c.req.param('hash'));
    return answerFile(c, nameFile(view.safeMessageHash), formatOwnersRequests([view]));
  });

  app.post('/:place/releases/owners/:hash', async (c) => {
    const { place, view } = await find(c.req.param('hash'));
    const form = c.get('form');
    try {
      const { request } = await store(place, view, await readAnswer(form, 'the signatures'));
      c.get('log').info({ key: request.batch.key }, 'signatures of owners imported');
    } catch (error) {
      if (!isPoolError(error)) {
        throw error;
      }
      c.set('answeredCode', error.code);
      const page = renderOwnersRequest(c.get('session'), view, { error, text: await repeat(form) });
      return c.html(page, error.status as ContentfulStatusCode);
    }
    return c.redirect(`${placeOf(c.get('session'))}/releases?signed=1`, 303);
  });

  async function find(hash: string) {
    const views = owners === undefined ? [] : await listOwnersRequests(owners);
    const view = views.find((one) => one.safeMessageHash === hash);
    if (owners === undefined || view === undefined) {
      throw new PoolError(
        'not_found',
        'no request to the owners of a contract wallet has this hash: its payment has ended, or its time has passed',
      );
    }
    return { place: owners, view };
  }
}

/** As the command does. Signatures that do not name their message are taken for the one of the page. */
async function store(place: OwnersOffice, view: OwnersView, text: string): Promise<OwnersView> {
  const given = parseOwnersSignature({ name: givenName, text });
  if (given === undefined) {
    throw new PoolError(
      'invalid_release',
      'this is a file of this program, and holds no signature of an owner; import the answer of a person on the page "Releases"',
    );
  }
  const { messageHash = view.safeMessageHash } = given;
  return storeOwnersSignature(place, { ...given, messageHash }, loopbackCredential);
}

/** What was given, for the form. */
async function repeat({ file, text }: Form): Promise<string> {
  const pasted = typeof text === 'string' ? text : '';
  return pasted === '' && file instanceof File && file.size <= maxShownLength
    ? await file.text()
    : pasted;
}
