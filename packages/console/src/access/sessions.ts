/**
 * Who may use the console: a login that works once, and the session that it becomes. Both are in memory, so they end with the process.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { isSameSecret } from '@pool/configuration';
import { PoolError } from '@pool/core';

/** How long a login can be used, seconds. */
export const loginSeconds = 120;
const idleMs = 60 * 60_000;
const longestMs = 12 * 60 * 60_000;
/** Of each kind. The oldest ends first. */
const maxKept = 16;

export type Session = {
  /**
   * Part of every address of the session, and the path of its cookie. A browser sends a cookie to every port of a host, but not to another
   * path: a program on another port of this machine cannot ask for it without the place. Secret.
   */
  readonly place: string;
  /** Value of the cookie. Secret. */
  readonly cookie: string;
  /** In every form, so that only a page of this session can send one. Secret. */
  readonly formToken: string;
};

type Kept = Session & { readonly beganMs: number; usedMs: number };

export type Sessions = {
  /** @returns a token for one login within {@link loginSeconds}. Secret */
  issueLogin(): string;
  /** Uses up a login. @throws PoolError `unauthorized` */
  open(token: string): Session;
  /** @throws PoolError `unauthorized` */
  find(place: string, cookie: string | undefined): Session;
  end(session: Session): void;
};

/** @param nowMs - monotonic */
export function createSessions(nowMs: () => number): Sessions {
  const logins = new Map<string, number>();
  const sessions = new Map<string, Kept>();

  function draw(): string {
    return randomBytes(32).toString('base64url');
  }

  function keep<T>(kept: Map<string, T>, key: string, value: T): void {
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) {
      kept.delete(oldest);
    }
    kept.set(key, value);
  }

  return {
    issueLogin() {
      const token = draw();
      keep(logins, token, nowMs() + loginSeconds * 1_000);
      return token;
    },
    open(token) {
      const endsMs = logins.get(token);
      logins.delete(token);
      if (endsMs === undefined || nowMs() >= endsMs) {
        throw unauthorized('this login was used, or has expired');
      }
      const session = { place: draw(), cookie: draw(), formToken: draw() };
      keep(sessions, session.place, { ...session, beganMs: nowMs(), usedMs: nowMs() });
      return session;
    },
    find(place, cookie = '') {
      const found = sessions.get(place);
      if (found === undefined || !isSameSecret(found.cookie, cookie)) {
        throw unauthorized('there is no such session');
      }
      const now = nowMs();
      if (now - found.usedMs >= idleMs || now - found.beganMs >= longestMs) {
        sessions.delete(place);
        throw unauthorized('the session has ended');
      }
      found.usedMs = now;
      return found;
    },
    end: ({ place }) => void sessions.delete(place),
  };
}

function unauthorized(what: string): PoolError {
  return new PoolError(
    'unauthorized',
    `${what}; "disburse-agent console" on the agent's machine prints a new login`,
  );
}
