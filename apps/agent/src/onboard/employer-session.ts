/**
 * A session of the employer, whose wallet signs it, for the length of one piece of work.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { type Output, withInterruption } from '@pool/pay-run';
import type { SessionClient } from '@pool/platform-client';
import { openLoginSession } from '@pool/platform-client/onboard';
import type { InvitingSettings } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import { createVoteView } from '../terminal/vote-view.ts';
import { planLogin } from './login-plan.ts';

export type EmployerLogin = {
  /** Base URL of the platform. Absent: that of the configuration. */
  readonly platform?: string;
  readonly login?: string;
  readonly envFile?: string;
};

/** @throws PoolError `invalid_request`, `invalid_configuration`, and the errors of the sign-in */
export async function withSession<T>(
  { platform, login }: EmployerLogin,
  settings: InvitingSettings,
  terminal: Output['terminal'],
  work: (session: SessionClient, platformUrl: string) => Promise<T>,
): Promise<T> {
  const url = platform ?? settings.platformUrl?.replace(/\/agent-edge$/, '');
  if (url === undefined) {
    throw new PoolError(
      'invalid_request',
      `the platform is not known: set ${variables.platformUrl.name}, or give --platform`,
    );
  }
  const pass = await planLogin(url, login, settings);
  const view = createVoteView(terminal);
  const session = await withInterruption((signal) =>
    openLoginSession(pass, { signal, onWait: view.show }),
  ).finally(view.end);
  try {
    return await work(session, pass.platformUrl);
  } finally {
    await session.signOut().catch(() => undefined);
  }
}
