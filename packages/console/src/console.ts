/**
 * The operator's console (docs/decisions/0023): pages of the agent on this machine, over the functions of the commands. Deny by default: every
 * page needs this machine, and every page but the login a session.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { describeFailure, limitBody } from '@pool/http-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { assertFormToken, assertOwnFetch, assertOwnForm, requireLoopback } from './access/guard.ts';
import type { ConsoleApp, ConsoleContext, ConsoleDeps, ConsoleEnv } from './access/ports.ts';
import { createSessions, type Session } from './access/sessions.ts';
import { addBooksRoutes } from './books-routes.ts';
import { addDraftRoutes } from './draft-routes.ts';
import { addHolderRoutes } from './holder-routes.ts';
import { addOwnersRoutes } from './owners-routes.ts';
import { assets } from './pages/assets.ts';
import { placeOf, root } from './pages/layout.ts';
import { renderEnded, renderLogin, renderProblem } from './pages/login.ts';
import { addReleaseRoutes } from './release-routes.ts';
import { addRunRoutes } from './run-routes.ts';
import { createDrafts } from './runs/drafts.ts';
import { createPayments } from './runs/payments.ts';
import { addScheduleRoutes } from './schedule-routes.ts';

const cookieName = 'console';
/** Holds a roster of 10,000 people. */
const maxBodyBytes = 4 * 1024 * 1024;

export type Console = {
  /** For `/console` of the agent. */
  readonly app: ConsoleApp;
  /** @returns the path of a login that works once, within two minutes. Secret */
  issueLogin(): string;
  /** Ends what sends the parts of a roster. The agent continues what it has. */
  close(): Promise<void>;
};

export function createConsole(deps: ConsoleDeps): Console {
  const sessions = createSessions(deps.monotonicMs);
  const app: ConsoleApp = new Hono<ConsoleEnv>();
  app.use(requireLoopback());
  app.onError((error, c) => answerProblem(error, c));

  app.get('/:file{[a-z]+\\.[a-z]+}', (c) => {
    const asset = assets[c.req.param('file')];
    if (asset === undefined) {
      throw notFound();
    }
    return c.body(asset.text, 200, { 'content-type': asset.type });
  });

  app.get('/login/:token', (c) => c.html(renderLogin(c.req.param('token'))));
  app.post('/login', limitBody(4_096), async (c) => {
    assertOwnForm(c);
    const { token } = await c.req.parseBody();
    const session = sessions.open(typeof token === 'string' ? token : '');
    setCookie(c, cookieName, session.cookie, {
      path: `${placeOf(session)}/`,
      httpOnly: true,
      sameSite: 'Strict',
    });
    c.get('log').info({}, 'console session opened');
    return c.redirect(`${placeOf(session)}/`, 303);
  });

  app.use('/:place/*', limitBody(maxBodyBytes), requireSession(sessions));
  app.post('/:place/end', (c) => {
    const session = c.get('session');
    sessions.end(session);
    deleteCookie(c, cookieName, { path: `${placeOf(session)}/` });
    return c.html(renderEnded());
  });
  const work = { drafts: createDrafts(), payments: createPayments(deps) };
  addDraftRoutes(app, deps, work);
  addRunRoutes(app, deps, work);
  addBooksRoutes(app, deps, work.drafts);
  addReleaseRoutes(app, deps);
  addOwnersRoutes(app, deps);
  addScheduleRoutes(app, deps);
  addHolderRoutes(app, deps);
  app.all('*', () => {
    throw notFound();
  });
  return {
    app,
    issueLogin: () => `${root}/login/${sessions.issueLogin()}`,
    close: () => work.payments.close(),
  };
}

/** Sets the session, and the form of a POST. */
function requireSession(
  sessions: ReturnType<typeof createSessions>,
): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    const session = sessions.find(c.req.param('place') ?? '', getCookie(c, cookieName));
    assertOwnFetch(c);
    c.set('session', session);
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      assertOwnForm(c);
      const form = await c.req.parseBody();
      assertFormToken(session, form['form']);
      c.set('form', form);
    }
    await next();
  };
}

function answerProblem(error: unknown, c: ConsoleContext): Response | Promise<Response> {
  const known = isPoolError(error)
    ? error
    : new PoolError('internal_error', `internal error; request ${c.get('requestId')}`);
  if (!isPoolError(error)) {
    c.get('log').error(describeFailure(error), 'request failed');
  }
  c.set('answeredCode', known.code);
  // Absent before the login.
  const session: Session | undefined = c.get('session');
  return c.html(renderProblem(known, session), known.status as ContentfulStatusCode);
}

function notFound(): PoolError {
  return new PoolError('not_found', 'there is no such page');
}
