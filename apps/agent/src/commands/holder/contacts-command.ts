/**
 * `disburse-agent contacts add|list|remove`: labels for W on this machine. `add` asks the platform about the address of W, as a payment
 * does, verifies the evidence and pins it. The label is sent nowhere.
 *
 * @module
 */

import { readChainsFile } from '@pool/configuration';
import { computeWalletAddress, PoolError, parseWalletPub, type WalletPub } from '@pool/core';
import { exitCodes, type Output } from '@pool/pay-run';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import { createEvidenceVerifier } from '@pool/wallet';
import {
  addContact,
  assertContactFree,
  type Contact,
  parseLabel,
  readContacts,
  systemClock,
  writeContacts,
} from '@pool/wallet/node';
import { type Config, readAgentAddress, readConfig } from '../../config/config.ts';
import { ensureAgentHome } from '../../state/agent-home.ts';
import { openPins } from '../../state/agent-state.ts';

export type ContactsOptions = { readonly json?: boolean; readonly envFile?: string };

/** @returns the exit code */
export async function runAddContact(
  text: string,
  wallet: string,
  { envFile }: ContactsOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const label = parseLabel(text);
  const walletPub = parseWalletPub(wallet);
  const config = readConfig(envFile);
  // Refused before anything is asked.
  assertContactFree(readContacts(config.home), label, walletPub);
  const edge = createEdgeClient({ url: config.platformUrl, token: config.platformToken });
  const verified = await findEvidence(walletPub, config, edge);
  ensureAgentHome(config.home);
  const addedAt = new Date(systemClock.nowMs()).toISOString();
  const { contacts, outcome } = addContact(readContacts(config.home), {
    label,
    ...verified,
    addedAt,
  });
  writeContacts(config.home, contacts);
  const described = {
    added: 'added',
    unchanged: 'already there; its evidence is still valid',
    rotated: 'renewed: its wallet signed for another encryption key',
  }[outcome];
  out(`@${label}: ${described}\n  W ${walletPub}\n  P ${verified.encryptionPublicKey}`);
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runListContacts(
  { json, envFile }: ContactsOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const contacts = readContacts(readAgentAddress(envFile).home);
  const rows = contacts.map(({ label, walletPub, encryptionPublicKey, addedAt }) => ({
    ...{ label, walletPub, encryptionPublicKey, addedAt },
  }));
  if (json === true) {
    out(JSON.stringify(rows, null, 2));
    return exitCodes.ok;
  }
  out(
    rows.length === 0
      ? 'no contacts; add one with "disburse-agent contacts add <label> <W>"'
      : rows.map(({ label, walletPub }) => `@${label.padEnd(16)} ${walletPub}`).join('\n'),
  );
  return exitCodes.ok;
}

/** @returns the exit code */
export async function runRemoveContact(
  text: string,
  { envFile }: ContactsOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const label = parseLabel(text);
  const { home } = readAgentAddress(envFile);
  const contacts = readContacts(home);
  const others = contacts.filter((contact) => contact.label !== label);
  if (others.length === contacts.length) {
    throw new PoolError('invalid_contact', `there is no contact @${label}`);
  }
  writeContacts(home, others);
  out(`@${label}: removed`);
  return exitCodes.ok;
}

/** What the platform serves about the address of W, verified as before a payment and pinned in the agent's directory. */
async function findEvidence(
  walletPub: WalletPub,
  config: Config,
  edge: Pick<EdgeClient, 'lookupRecipients' | 'bootstrap'>,
): Promise<Pick<Contact, 'walletPub' | 'encryptionPublicKey' | 'evidence'>> {
  const address = computeWalletAddress(walletPub);
  const chain = config.chain ?? (await edge.bootstrap()).chain;
  const [record] = await edge.lookupRecipients(chain, [address]);
  if (record === undefined || record.evidence === undefined) {
    throw new PoolError(
      'unregistered-recipient',
      `the wallet ${address} has not signed in and enrolled at the platform, so it cannot be paid and nothing binds its keys; ask its owner to enrol`,
    );
  }
  ensureAgentHome(config.home);
  const { pins, close } = await openPins(config);
  try {
    const { evidence: domain } = readChainsFile(config.chainsFile);
    const verifier = createEvidenceVerifier({ domain, pins, nowMs: systemClock.nowMs });
    const [verdict] = await verifier.verifyAll([{ address, record }]);
    if (verdict?.kind !== 'verified' || verdict.recipient.walletPub !== walletPub) {
      const reason = verdict?.kind === 'refused' ? verdict.reason : 'it is of another wallet';
      throw new PoolError(
        'contact_changed',
        `the platform's evidence for this wallet does not hold: ${reason}. The contact was not changed`,
      );
    }
    const { encryptionPublicKey, evidence } = verdict.recipient;
    return { walletPub, encryptionPublicKey, evidence };
  } finally {
    await close();
  }
}
