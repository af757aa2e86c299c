/**
 * The operator's routes for the eligibility list (decision 6): the use of its tree, removal of wallets, the limit of
 * an employer, and invitations. They need the running platform: its gate and its configuration.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import { findAccountFamily, PoolError, parseAccountAddress, parseEvmAddress } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { Shell } from '@pool/http-server';
import { readJson } from '@pool/http-server';
import type { GateClient } from '@pool/platform-client';
import * as v from 'valibot';
import { getEmployerOfAddress } from '../employers/employers.ts';
import { type InvitationConfig, inviteWallets } from '../employers/invitations.ts';

export type EligibilityControl = {
  readonly gate: Pick<GateClient, 'capacity' | 'deleteWallet'> | undefined;
  readonly invitations: InvitationConfig;
};

export type EligibilityControlDeps = {
  readonly db: PlatformDatabase;
  readonly nowMs: () => number;
  /** Undefined: no platform is running. */
  readonly eligibility: EligibilityControl | undefined;
};

const addressText = v.pipe(v.string(), v.maxLength(64));
const contractChainId = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1)));
const limitRequestSchema = v.strictObject({
  address: addressText,
  contractChainId,
  /** Null: the limit of the configuration. */
  wallets: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000))),
});
const inviteRequestSchema = v.strictObject({
  address: addressText,
  contractChainId,
  wallets: v.pipe(v.array(addressText), v.minLength(1), v.maxLength(200)),
});
const removeRequestSchema = v.strictObject({ address: addressText });

// The gate answers once the root without the wallet is final; the operator's command waits ten seconds.
const removalWaitMs = 7_000;

export function addEligibilityControl(app: Shell, deps: EligibilityControlDeps): void {
  const { db, nowMs } = deps;

  app.get('/eligibility/capacity', async (c) => c.json(await getGate(deps).capacity()));

  app.post('/eligibility/limit', async (c) => {
    const { address, contractChainId: chain, wallets } = await readJson(c, limitRequestSchema);
    const holder = { address: parseEvmAddress(address), contractChainId: chain };
    const employer = await getEmployerOfAddress(db, holder);
    await db
      .updateTable('employers')
      .set({ wallet_limit: wallets })
      .where('id', '=', employer.id)
      .execute();
    return c.json({ employerId: employer.id, walletLimit: wallets ?? 'default' });
  });

  app.post('/eligibility/invite', async (c) => {
    const { address, contractChainId: chain, wallets } = await readJson(c, inviteRequestSchema);
    const holder = { address: parseEvmAddress(address), contractChainId: chain };
    const employer = await getEmployerOfAddress(db, holder);
    const { invitations } = getRunning(deps);
    return c.json(await inviteWallets(db, invitations, employer, wallets, nowMs()));
  });

  app.post('/eligibility/remove', async (c) => {
    const { address: text } = await readJson(c, removeRequestSchema);
    const address = parseAccountAddress(text);
    const gate = getGate(deps);
    const walletId = await withdrawAdmission(db, address);
    const isListed = findAccountFamily(address) === 'evm';
    const atGate = isListed ? gate.deleteWallet(walletId) : Promise.resolve();
    const removal = atGate.then(async () => {
      // Only now: if the invitation were free before its leaf, the employer could take another leaf.
      await db
        .deleteFrom('invitations')
        .where('address', '=', address)
        .where('enrolled_at', 'is not', null)
        .execute();
      return 'removed' as const;
    });
    const pending = delay(removalWaitMs, 'pending' as const, { ref: false });
    return c.json({ address, state: await Promise.race([removal, pending]) });
  });
}

/**
 * Withdraws the right to a leaf, before the gate is called. Even if that call fails, the wallet is not fundable and
 * must be admitted again. Answers of gate writes in progress no longer count.
 * @returns the wallet's id at the gate
 */
async function withdrawAdmission(db: PlatformDatabase, address: string): Promise<string> {
  const subject = await db
    .updateTable('subjects')
    .set((eb) => ({
      claimed_at: null,
      admitted_at: null,
      readiness: 'eligibility_failed',
      whitelisted_at: null,
      gate_attempts: eb('gate_attempts', '+', 1),
      gate_answered: eb('gate_attempts', '+', 1),
    }))
    .where('address', '=', address)
    .returning('wallet_id')
    .executeTakeFirst();
  if (subject === undefined) {
    throw new PoolError('not_found', 'no wallet of this address is enrolled');
  }
  return subject.wallet_id;
}

function getRunning({ eligibility }: EligibilityControlDeps): EligibilityControl {
  if (eligibility === undefined) {
    throw new PoolError(
      'platform_not_running',
      'this command needs the running platform: start it, then run the command again',
    );
  }
  return eligibility;
}

function getGate(deps: EligibilityControlDeps) {
  const { gate } = getRunning(deps);
  if (gate === undefined) {
    throw new PoolError('no_gate', 'this platform has no pool-gate: set PLATFORM_GATE_URL');
  }
  return gate;
}
