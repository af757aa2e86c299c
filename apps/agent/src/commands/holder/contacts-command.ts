/**
 * `disburse-agent contacts add|list|remove`: labels for W on this machine. `add` asks the platform about the address of W, as a payment
 * does, verifies the evidence and pins it. The label is sent nowhere.
 *
 * @module
 */

import { readChainsFile } from '@pool/configuration';
import { parseWalletPub, type WalletPub } from '@pool/core';
import { exitCodes, type Output } from '@pool/pay-run';
import { createEdgeClient, type EdgeClient } from '@pool/platform-client';
import {
  addContact,
  assertContactFree,
  type Contact,
  createEvidenceVerifier,
  fetchContactKeys,
  parseLabel,
  removeContact,
} from '@pool/wallet';
import { readContacts, systemClock, writeContacts } from '@pool/wallet/node';
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
    out(rows);
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
  writeContacts(home, removeContact(readContacts(home), label));
  out(`@${label}: removed`);
  return exitCodes.ok;
}

/** What the platform serves about the address of W, verified as before a payment and pinned in the agent's directory. */
async function findEvidence(
  walletPub: WalletPub,
  config: Config,
  edge: Pick<EdgeClient, 'lookupRecipients' | 'bootstrap'>,
): Promise<Pick<Contact, 'walletPub' | 'encryptionPublicKey' | 'evidence'>> {
  const chain = config.chain ?? (await edge.bootstrap()).chain;
  ensureAgentHome(config.home);
  const { pins, close } = await openPins(config);
  try {
    const { evidence: domain } = readChainsFile(config.chainsFile);
    const verifier = createEvidenceVerifier({ domain, pins, nowMs: systemClock.nowMs });
    return await fetchContactKeys(walletPub, { chain, lookup: edge, verifier });
  } finally {
    await close();
  }
}
