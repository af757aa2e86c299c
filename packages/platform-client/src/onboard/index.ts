/**
 * One pass that signs in to a platform, opens the account, enrols the holder and mints credentials; for Node.
 *
 * @module
 */
export {
  type Onboarded,
  type OnboardingOptions,
  type OnboardPass,
  runOnboarding,
} from './onboard-session.ts';
export type { SignInWait } from './pending-sign-in.ts';
export { openPendingSignIn } from './pending-sign-in.ts';
