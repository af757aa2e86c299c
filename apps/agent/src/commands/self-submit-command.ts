/**
 * `disburse-agent send --self-submit`: withdraws in this process, without a platform, a gate or a running agent. The transaction is sent
 * with `DISBURSE_GAS_PRIVATE_KEY` through the RPC of chains.json (docs/decisions/0011).
 *
 * @module
 */

import { openProductionKeys } from '@pool/circuits';
import { PoolError, parseWalletPub } from '@pool/core';
import { createRedactedLog } from '@pool/http-server';
import { createSpendProverPort } from '@pool/operations';
import { chooseFormat, type Output, readTypedAmounts, withInterruption } from '@pool/pay-run';
import { openHolder } from '@pool/signers';
import type { Holder, HolderChain, Log } from '@pool/wallet/node';
import { openSelfSubmission, readKeptNotes } from '@pool/wallet/node';
import { readSelfSubmitSettings, type SelfSubmitSettings } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import { createConfiguredProver } from '../services/agent-prover.ts';
import { findChain, findDecimals } from '../services/holder/spend-place.ts';
import { ensureAgentHome } from '../state/agent-home.ts';
import { createSelfSubmitView } from '../terminal/self-submit-view.ts';
import { refuseAddress } from './holder/spend-recipients.ts';
import { performWithdrawals, type SelfSubmitOptions } from './self-submit-withdrawals.ts';

/** @returns the exit code */
export async function runSelfSubmit(options: SelfSubmitOptions, output: Output): Promise<number> {
  if (options.key !== undefined) {
    throw new PoolError(
      'invalid_request',
      '--key asks the agent, and --self-submit does not: run it without --key, and it continues what is open',
    );
  }
  if (options.dryRun === true && options.amount === undefined) {
    throw new PoolError(
      'invalid_request',
      '--dry-run needs --amount: without it the command submits what is open, and nothing of that is checked or proved again',
    );
  }
  const settings = readSelfSubmitSettings(options.envFile);
  refuseAddress(options.to, settings.holder.sendDestinations);
  const { gasPrivateKey } = settings;
  if (gasPrivateKey === undefined) {
    const { name } = variables.gasPrivateKey;
    throw new PoolError(
      'gas_key_refused',
      `${name} is required by --self-submit: the key of an account with coin of the chain, which pays the gas`,
    );
  }
  ensureAgentHome(settings.home);
  const chain = findChain(settings, options.chain);
  const holder = await openEvmHolder(settings, chain);
  const token = options.token ?? settings.holder.tokenSymbol;
  const isUnasked = options.yes === true;
  const [amount] = await readTypedAmounts(
    options.amount === undefined ? [] : [{ option: '--amount', text: options.amount }],
    {
      ...{ token, decimals: findDecimals(chain.key, token, settings) },
      ...{ format: chooseFormat(options), isUnasked, ask: output.ask, terminal: output.terminal },
    },
  );
  const { amount: _typed, ...others } = options;
  const order = { ...others, ...(amount === undefined ? {} : { amount }), token };
  const view = createSelfSubmitView(output.terminal);
  return await withInterruption(async (signal) => {
    const log = createRedactedLog(settings.logLevel === 'info' ? 'warn' : settings.logLevel);
    const { prover, port } = openProver(settings, log);
    const submission = openSelfSubmission({
      settings: { ...settings, gasPrivateKey },
      prover: port,
      ...{ holder, chain, signal, log },
      kept: readNotes(options.notes, holder, chain),
      onEvent: view.show,
      onSent: view.showSent,
    });
    try {
      return await performWithdrawals(
        order,
        { submission, settings, holder, chain, signal },
        output,
      );
    } finally {
      view.end();
      await prover.close();
      await submission.close();
    }
  });
}

function openProver(settings: SelfSubmitSettings, log: Log) {
  const { artifactsDir, artifactsManifest } = settings;
  const keys =
    artifactsDir === undefined || artifactsManifest === undefined
      ? undefined
      : openProductionKeys({ folder: artifactsDir, manifest: artifactsManifest });
  const prover = createConfiguredProver(settings, keys, log);
  const mode = settings.prover === 'mock' ? 'mock' : 'real';
  return { prover, port: createSpendProverPort(prover, mode, keys?.readVerificationKey) };
}

async function openEvmHolder(settings: SelfSubmitSettings, { key }: HolderChain): Promise<Holder> {
  const holder = await openHolder({ ...settings, chain: key });
  if (holder.family.name !== 'evm') {
    throw new PoolError(
      'holder_unsupported',
      'this repository has no pool on the chain of this holder, so it cannot spend',
    );
  }
  return holder;
}

function readNotes(
  path: string | undefined,
  holder: Holder,
  { settings }: HolderChain,
): ReturnType<typeof readKeptNotes> {
  if (path === undefined) {
    return [];
  }
  const { chainId, pool } = settings;
  return readKeptNotes(path, {
    chainId,
    pool,
    walletPub: parseWalletPub(holder.walletPub),
  });
}
