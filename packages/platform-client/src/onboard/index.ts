/**
 * A session for a command, and one pass that also opens the account, enrols the holder and mints credentials; for Node.
 *
 * @module
 */
export {
  type LoginOptions,
  type LoginPass,
  type Onboarded,
  type OnboardingOptions,
  type OnboardPass,
  openLoginSession,
  runOnboarding,
} from './onboard-session.ts';
export type { SignInWait } from './pending-sign-in.ts';
export { openPendingSignIn } from './pending-sign-in.ts';
