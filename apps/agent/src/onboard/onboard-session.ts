/**
 * The calls of `onboard` to the platform: sign in, register, enrol, mint. If a later call fails, what was minted is revoked, because
 * nobody would have its plaintext.
 *
 * @module
 */
import type { Bootstrap, Capability } from '@pool/api';
import { parseSignInMessage, type Secret } from '@pool/core';
import {
  createEdgeClient,
  createSessionClient,
  type Onboarding,
  type SessionClient,
} from '@pool/platform-client';
import type { OnboardPlan } from './onboard-plan.ts';

export type Onboarded = {
  readonly employerId: string;
  readonly isNewAccount: boolean;
  /** Absent: not asked for. */
  readonly enrolment: Onboarding | undefined;
  readonly edgeToken: Secret;
  readonly keys: ReadonlyMap<Capability, Secret>;
  readonly bootstrap: Bootstrap;
};

const label = 'disburse-agent onboard';

/**
 * @param store - keeps the credentials. If it throws, they are revoked and its error is passed on
 * @throws PoolError of the platform
 */
export async function runOnboarding(
  plan: OnboardPlan,
  store: (result: Onboarded) => void,
): Promise<Onboarded> {
  const session = createSessionClient({ url: plan.platformUrl });
  await signIn(session, plan);
  const undo: (() => Promise<void>)[] = [];
  try {
    const { employerId, created } = await session.register();
    const { holder } = plan;
    const enrolment =
      holder !== undefined && plan.isEnrolment
        ? await session.onboard(holder.walletPub, holder.encryptionPublicKey)
        : undefined;
    const { id, token: edgeToken } = await session.mintEdgeToken(label);
    undo.push(() => session.revokeEdgeToken(id));
    const keys = new Map<Capability, Secret>();
    for (const capability of plan.capabilities) {
      const minted = await session.mintKey(capability, label);
      undo.push(() => session.revokeKey(minted.id));
      keys.set(capability, minted.apiKey);
    }
    const url = `${plan.platformUrl}/agent-edge`;
    const bootstrap = await createEdgeClient({ url, token: edgeToken }).bootstrap();
    const result = { employerId, isNewAccount: created, enrolment, edgeToken, keys, bootstrap };
    store(result);
    return result;
  } catch (error) {
    // Best effort: the error that is reported is the first one.
    await Promise.allSettled(undo.map((revoke) => revoke()));
    throw error;
  } finally {
    await session.signOut().catch(() => undefined);
  }
}

async function signIn(session: SessionClient, plan: OnboardPlan): Promise<void> {
  const { login, place, holder } = plan;
  // The text lists P only for an enrolment: its signature is the evidence that payers keep.
  const listed =
    holder !== undefined && plan.isEnrolment
      ? { encryptionPublicKey: holder.encryptionPublicKey }
      : {};
  await session.signIn({
    address: login.address,
    ...place,
    ...listed,
    signMessage: (message) => {
      const { chainId } = parseSignInMessage(message);
      return login.signer.signIn({ message, expected: { ...place, chainId }, ...listed });
    },
  });
}
