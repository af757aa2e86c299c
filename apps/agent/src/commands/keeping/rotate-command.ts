/**
 * `disburse-agent rotate-viewing-key`: changes the holder's P. It has two halves, and each can be repeated (docs/decisions/0013): it writes the
 * new configuration; then, with the agent running on it, it registers the new P and sweeps the notes of earlier P to it.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readChainsFile } from '@pool/configuration';
import { isPoolError, PoolError, type SpendReceipt, spendReceiptSchema } from '@pool/core';
import {
  type AgentCaller,
  commandHeaders,
  createAgentCaller,
  createProvenFetch,
  exitCodes,
  type Output,
  urlOf,
  withInterruption,
} from '@pool/pay-run';
import { openHolder } from '@pool/signers';
import type { Holder } from '@pool/wallet/node';
import * as v from 'valibot';
import {
  type Config,
  type KeepingSettings,
  readConfig,
  readKeepingSettings,
} from '../../config/config.ts';
import { variables } from '../../config/variables.ts';
import { findSpendChain, readSpendPlace } from '../../services/holder/spend-place.ts';
import { ensureAgentHome, readLoopbackToken } from '../../state/agent-home.ts';
import {
  fetchRegisteredKey,
  type PlatformPlace,
  registerKey,
} from '../../state/rotation/register-key.ts';
import { readNewKey, switchKeys } from '../../state/rotation/switch-keys.ts';
import { inTokens } from '../holder/spend-echo.ts';

export type RotateOptions = {
  /** File of the new viewing key. Absent: continues with the configured one. */
  readonly newKey?: string;
  readonly yes?: boolean;
  readonly envFile?: string;
};

const keyNames = {
  viewingKey: variables.holderViewingKey.name,
  earlierViewingKeys: variables.holderEarlierViewingKeys.name,
  encryptionPublicKey: variables.holderEncryptionPublicKey.name,
};

/** @returns the exit code */
export async function runRotateViewingKey(
  { newKey, yes, envFile }: RotateOptions,
  output: Output,
): Promise<number> {
  const settings = readKeepingSettings(envFile);
  const config = readConfig(envFile);
  const holder = await openHolder(settings);
  if (holder.signer.curve !== 'secp256k1') {
    throw new PoolError(
      'holder_unsupported',
      `${holder.signer.name} cannot sign in, so it has no registered key to rotate`,
    );
  }
  const place = findPlace(config);
  assertOneChain(config);
  const registered = await fetchRegisteredKey(place, holder);
  const known = [holder, ...holder.earlier].map((key) => key.encryptionPublicKey as string);
  if (!known.includes(registered)) {
    throw new PoolError(
      'rotation_not_possible',
      `the platform has the encryption key ${registered}, and no configured viewing key gives it: its notes would be lost to this agent. Add its viewing key to ${variables.holderEarlierViewingKeys.name} first`,
    );
  }
  if (newKey !== undefined) {
    const next = readNewKey(newKey, holder);
    if (next.encryptionPublicKey !== holder.encryptionPublicKey) {
      await confirm(settings, holder, next.encryptionPublicKey, { yes, output });
      ensureAgentHome(settings.home);
      const written = switchKeys({ ...settings, names: keyNames }, holder, next);
      output.out(renderSwitched(written, next));
      return exitCodes.ok;
    }
  }
  return await withInterruption((signal) =>
    finishRotation({ config, holder, place, registered, output, signal }),
  );
}

/** The platform's base URL, and the sign-in text's place from the agent's own chains.json. */
function findPlace({ platformUrl, chainsFile }: Config): PlatformPlace {
  const url = platformUrl.replace(/\/+$/, '').replace(/\/agent-edge$/, '');
  const { evidence } = readChainsFile(chainsFile);
  if (new URL(url).host !== evidence.domain) {
    throw new PoolError(
      'invalid_configuration',
      `${variables.platformUrl.name} is at ${new URL(url).host}, and evidence.domain of ${chainsFile} is ${evidence.domain}; correct one of them. Nothing was sent`,
    );
  }
  return { url, evidence };
}

/** P is registered for all chains, and the sweep moves the notes of one. */
function assertOneChain({ chainsFile }: Config): void {
  const keys = Object.keys(readChainsFile(chainsFile).chains).sort();
  if (keys.length > 1) {
    throw new PoolError(
      'rotation_not_possible',
      `${chainsFile} has pools on ${keys.join(', ')}, and this command moves the notes of one chain only, while the new key would be registered for all. Nothing was changed. Remove the chains on which this holder has no notes, and restart the agent. If it has notes on several chains, withdraw those of all but one first, with \`disburse-agent send --chain <key>\``,
    );
  }
}

async function confirm(
  settings: KeepingSettings,
  holder: Holder,
  next: string,
  { yes, output }: { readonly yes: boolean | undefined; readonly output: Output },
): Promise<void> {
  const isDerived = settings.holder.viewingKey === undefined;
  output.terminal.write(
    [
      `The holder ${holder.address} changes its encryption key:`,
      `  from P ${holder.encryptionPublicKey}${isDerived ? ' (derived from a signature)' : ''}`,
      `  to   P ${next}`,
      'Keep the earlier viewing key: notes that were sealed to it open with no other one, and payments that were signed for it can still land.',
      'Keep a copy of the new one on another machine: it cannot be made again.',
      'What the earlier key has shown stays known to whoever has it.',
      '',
    ].join('\n'),
  );
  if (yes === true) {
    return;
  }
  const answer = await output.ask?.('Change the configuration? [y/N] ');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
    throw new PoolError(
      'rotation_not_possible',
      output.ask === undefined
        ? 'nobody can answer here: run the command on a terminal, or with --yes. Nothing was changed'
        : 'the question was not answered with yes, so nothing was changed',
    );
  }
}

function renderSwitched(written: readonly string[], next: { readonly path: string }): string {
  return [
    ...written.map((path) => `wrote ${path}`),
    `The configuration now names ${next.path}: keep that file there, with mode 0600.`,
    'Now restart the agent, and run `disburse-agent rotate-viewing-key` again. It registers the new key and moves the notes to it. Until then payers still use the earlier key, and the agent has both.',
  ].join('\n');
}

type Rotation = {
  readonly config: Config;
  readonly holder: Holder;
  readonly place: PlatformPlace;
  readonly registered: string;
  readonly output: Output;
  readonly signal: AbortSignal;
};

/**
 * Registers, then sweeps. A platform that refuses the new P for good has then cost nothing: all notes are under a P that it still lists. Run
 * again, it continues where it was.
 */
async function finishRotation(rotation: Rotation): Promise<number> {
  const { holder, place, registered, output } = rotation;
  if (holder.earlier.length === 0) {
    throw new PoolError(
      'rotation_not_possible',
      'no earlier viewing key is configured: name the file of a new key with --new-key. Make one with `disburse-agent viewing-key new`',
    );
  }
  const tokens = listTokens(rotation);
  const isRegistered = registered === holder.encryptionPublicKey;
  if (!isRegistered) {
    // The agent must have the new key, and must have read what the platform lists for the earlier one: it is not listed afterwards.
    for (const symbol of tokens) {
      await waitUntilRead(symbol, rotation);
    }
    await registerKey(place, holder, registered);
  }
  for (const symbol of tokens) {
    await sweep(symbol, rotation);
  }
  const earlier = holder.earlier.map((key) => key.encryptionPublicKey);
  output.out(
    [
      `${isRegistered ? 'P was registered before' : 'registered P'}: ${holder.encryptionPublicKey}`,
      'What remains to do:',
      '1. Make a backup: disburse-agent backup create --out <file> --encrypt-to <age recipient>.',
      `2. Keep ${variables.holderEarlierViewingKeys.name} configured. Payments that were signed for an earlier key can land until their deadline, and the platform lists them only while that key is registered. To get a disbursement, ask its payer for the file of \`disburse-agent redeliver --out <file> --for <P>\`, with P ${earlier.join(' or ')}, and read it with \`disburse-agent notes import <file>\`: the earlier key that is configured opens it. A transfer of another holder has no such file: its note is in the calldata of its transaction, and \`disburse-agent send --self-submit --amount <amount> --dry-run\` reads that with every configured key. Do not rotate back for it: that would move all notes to the earlier key.`,
      '3. Run this command again after a day: it moves what has arrived under an earlier key meanwhile.',
    ].join('\n'),
  );
  return exitCodes.ok;
}

function listTokens({ config }: Rotation): readonly string[] {
  const { settings } = findSpendChain(undefined, config);
  if (settings === undefined) {
    throw new PoolError(
      'rotation_not_possible',
      `${variables.chain.name} must name the chain of the holder in chains.json`,
    );
  }
  return Object.keys(settings.tokens).sort();
}

const stepSchema = v.object({
  receipt: v.optional(spendReceiptSchema),
  notes: v.number(),
  locked: v.number(),
});

/** An agent that does not count `openChange` is refused: it would be taken for 0. */
const countSchema = v.object({ notes: v.number(), locked: v.number(), openChange: v.number() });

/** A step waits for finality. If the connection ends before, the next call finds its notes locked, and waits. */
const stepTimeoutMs = 240_000;
const pauseMs = 3_000;
const patienceMs = 45 * 60_000;

/**
 * Asks the agent until the notes are as they must be.
 * @param look - undefined: the answer took too long. @returns `done`; undefined: at once again; otherwise what is waited for
 * @param advice - what a person does when it takes too long
 */
async function follow<T>(
  ask: () => Promise<T>,
  look: (answer: T | undefined) => string | undefined,
  advice: string,
  { output, signal }: Rotation,
): Promise<void> {
  const giveUpAtMs = performance.now() + patienceMs;
  const written = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const held = look(await unlessBroken(ask));
    if (held === 'done') {
      return;
    }
    if (held === undefined) {
      continue;
    }
    if (!written.has(held)) {
      written.add(held);
      output.terminal.write(`${held}; waiting\n`);
    }
    if (performance.now() >= giveUpAtMs) {
      throw new PoolError('rotation_not_possible', `${held}; ${advice}`);
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

/**
 * Until the agent has read the chain, no spend holds a note of an earlier P, and it has read the change of every spend that pays it to an
 * earlier P: once the new P is registered, the platform lists none of it.
 */
async function waitUntilRead(symbol: string, rotation: Rotation): Promise<void> {
  const ask = () => callSweep(countSchema, symbol, rotation, true);
  const look = (count: v.InferOutput<typeof countSchema> | undefined): string => {
    if (count === undefined) {
      return 'the agent is reading the chain';
    }
    return count.locked === 0 && count.openChange === 0
      ? 'done'
      : `a spend of ${symbol} that began before is not final, or its change is not listed yet (notes that it holds: ${count.locked}, changes to an earlier key: ${count.openChange})`;
  };
  const advice =
    'run the command again later. The new key is not registered, and no note has moved';
  await follow(ask, look, advice, rotation);
}

async function sweep(symbol: string, rotation: Rotation): Promise<void> {
  const ask = () => callSweep(stepSchema, symbol, rotation, false);
  const look = (step: v.InferOutput<typeof stepSchema> | undefined): string | undefined => {
    if (step?.notes === 0) {
      return 'done';
    }
    if (step?.receipt === undefined) {
      return `notes of ${symbol} under an earlier key are held by a spend that has not ended`;
    }
    assertMoved(step.receipt, symbol);
    rotation.output.terminal.write(
      `moved ${inTokens(step.receipt.changeAmount, symbol, readSpendPlace(undefined, symbol, rotation.config))} to the new key\n`,
    );
    return undefined;
  };
  const advice =
    'run the command again when it has. The new key is registered, and these notes are still shown';
  await follow(ask, look, advice, rotation);
}

/** @throws PoolError for a step whose transaction reverted: another one would revert too */
function assertMoved(receipt: SpendReceipt, symbol: string): void {
  if (receipt.status === 'success') {
    return;
  }
  const { revertReason, txHash } = receipt;
  const reason =
    revertReason === undefined
      ? 'no reason is known'
      : `${revertReason.code}: ${revertReason.message}`;
  throw new PoolError(
    'rotation_not_possible',
    `a step that moves ${symbol} ended ${receipt.status}${txHash === undefined ? '' : ` in transaction ${txHash}`} (${reason}). The new key is registered; the notes that are left are under an earlier key and still shown. Remove the cause and run the command again`,
  );
}

async function callSweep<TSchema extends v.GenericSchema>(
  schema: TSchema,
  symbol: string,
  { config, holder }: Rotation,
  isDryRun: boolean,
): Promise<v.InferOutput<TSchema>> {
  const query = new URLSearchParams({
    token: symbol,
    to: holder.encryptionPublicKey,
    ...(isDryRun ? { dryRun: 'true' } : {}),
  });
  const headers = { [commandHeaders.proof]: readLoopbackToken(config.home).reveal() };
  return await createCaller(config)(
    schema,
    `/api/transfer/sweep?${query}`,
    { method: 'POST', headers },
    stepTimeoutMs,
  );
}

/** Undefined: the agent had taken the request, and its answer took too long. */
async function unlessBroken<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isPoolError(error) && error.code === 'agent_unreachable' && isTimeout(error)) {
      return undefined;
    }
    throw error;
  }
}

function isTimeout({ cause }: PoolError): boolean {
  return cause instanceof Error && cause.name === 'TimeoutError';
}

function createCaller({ home, host, port, holder }: Config): AgentCaller {
  const token = holder.transferToken;
  if (token === undefined) {
    throw new PoolError(
      'holder_unavailable',
      `${variables.transferToken.name} is required: the notes are moved by transfers of the holder to itself. Mint an API key with the capability holder.transfer`,
    );
  }
  return createAgentCaller(
    urlOf({ host, port }),
    token,
    createProvenFetch(() => readLoopbackToken(home)),
  );
}
