/**
 * `disburse-agent onboard`: signs in to a platform, opens the account, enrols the holder, mints credentials, and writes them into a
 * configuration file, in one pass.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Capability } from '@pool/api';
import { PoolError } from '@pool/core';
import type { PlacedChains } from '@pool/operations';
import { refuseOtherPools } from '@pool/operations';
import { exitCodes, type Output, withInterruption } from '@pool/pay-run';
import { type Onboarded, runOnboarding } from '@pool/platform-client/onboard';
import { createDurableFile } from '@pool/storage';
import { type KeepingSettings, readKeepingSettings } from '../../config/config.ts';
import type { HolderConfig } from '../../config/holder-config.ts';
import { renderAgentEnv, renderChainsProposal } from '../../onboard/onboard-files.ts';
import {
  type OnboardOptions,
  type OnboardPlan,
  planOnboarding,
} from '../../onboard/onboard-plan.ts';
import { ensureAgentHome } from '../../state/agent-home.ts';
import { createVoteView } from '../../terminal/vote-view.ts';

export type { OnboardOptions } from '../../onboard/onboard-plan.ts';

const variableOf: Readonly<Record<Capability, string>> = {
  disburse: 'a comment for callers of POST /api/disburse',
  'holder.read': 'DISBURSE_BALANCE_TOKEN',
  'holder.transfer': 'DISBURSE_TRANSFER_TOKEN',
  'holder.send': 'DISBURSE_SEND_TOKEN',
};

/** @returns the exit code */
export async function runOnboard(
  options: OnboardOptions,
  { out, terminal }: Pick<Output, 'out' | 'terminal'>,
): Promise<number> {
  const settings = readKeepingSettings(options.envFile);
  const placed = await placeChains(options, settings);
  const plan = await planOnboarding(options, settings);
  if (plan.isEnrolment) {
    await refuseOtherPools(settings);
  }
  const proposalPath = existsSync(settings.chainsFile)
    ? undefined
    : `${settings.chainsFile}.proposed`;
  const waiting = createVoteView(terminal);
  const result = await withInterruption((signal) =>
    runOnboarding(plan, {
      signal,
      onWait: waiting.show,
      store: (minted) => writeNew(plan.outPath, renderAgentEnv(plan, minted, settings)),
    }),
  ).finally(waiting.end);
  const isProposed = proposalPath !== undefined && propose(proposalPath, plan, result);
  const outcome = describeOutcome(plan, result, isProposed ? proposalPath : undefined);
  const next = plan.holder === undefined ? [] : [describeMissingFiles(settings.holder)];
  out([...outcome, ...describePlaced(placed), ...next, backupAdvice].join('\n'));
  return exitCodes.ok;
}

/** Before the rest of the plan, which reads chains.json. Writing it again changes nothing. */
async function placeChains(
  { chains, rpc = [] }: OnboardOptions,
  { home, chainsFile }: KeepingSettings,
): Promise<PlacedChains | undefined> {
  if (chains === undefined) {
    if (rpc.length > 0) {
      throw new PoolError('invalid_request', '--rpc names nodes for --chains, which is missing');
    }
    return undefined;
  }
  const { placePublishedChains } = await import('@pool/operations');
  if (dirname(chainsFile) === home) {
    ensureAgentHome(home);
  }
  return await placePublishedChains(chains, rpc, chainsFile);
}

function describePlaced(placed: PlacedChains | undefined): readonly string[] {
  return placed === undefined
    ? []
    : [
        `wrote ${placed.path}: each chain confirms its contracts, tokens and decimals. Compare its addresses with those that the operator publishes elsewhere`,
        ...(placed.leftOut.length === 0
          ? []
          : [`left out, because no --rpc names a node: ${placed.leftOut.join(', ')}`]),
      ];
}

function writeNew(path: string, content: string): void {
  let isWritten: boolean;
  try {
    isWritten = createDurableFile(path, content);
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${path} cannot be written; check the space of its directory`,
      { cause },
    );
  }
  if (!isWritten) {
    throw new PoolError(
      'file_not_written',
      `${path} was made by another process meanwhile, and is not changed`,
    );
  }
}

/** Only a convenience: the credentials are stored already, so a failure is not an error. */
function propose(path: string, { place }: OnboardPlan, { bootstrap }: Onboarded): boolean {
  try {
    return (
      existsSync(dirname(path)) && createDurableFile(path, renderChainsProposal(place, bootstrap))
    );
  } catch {
    return false;
  }
}

function describeOutcome(
  { login, outPath, holder }: OnboardPlan,
  { isNewAccount, enrolment, keys }: Onboarded,
  proposalPath: string | undefined,
): readonly string[] {
  return [
    `signed in as ${login.address}`,
    isNewAccount ? 'opened the account of this wallet' : 'this wallet had an account before',
    ...(enrolment === undefined
      ? []
      : [
          `enrolled: ${enrolment.readiness}`,
          `  W ${enrolment.walletPub}`,
          `  P ${enrolment.encryptionPublicKey}`,
          ...(enrolment.readiness === 'ready'
            ? []
            : [
                holder?.signer.curve === 'ed25519'
                  ? `  this wallet cannot be paid and cannot spend here: there is no pool on ${holder.family.name}`
                  : '  the holder cannot be paid yet; enrol again to ask the pool-gate again',
              ]),
        ]),
    ...[...keys.keys()].map((capability) => `minted ${capability}: in ${variableOf[capability]}`),
    `wrote ${outPath} (mode 0600), with the edge token`,
    ...(proposalPath === undefined
      ? []
      : [
          `wrote ${proposalPath}: compare its addresses with those that the operator publishes elsewhere, replace each null, and rename it to chains.json`,
        ]),
  ];
}

/** The credentials that onboard copies into no file, so that the operator names their files. */
function describeMissingFiles({ remote, viewingKey }: HolderConfig): string {
  const secrets = [
    ...(remote === undefined ? ["the holder's key"] : []),
    ...(remote?.role.secrets ?? []),
    ...(viewingKey === undefined ? [] : ['the viewing key']),
  ];
  const check = 'check that `identity` prints this P';
  const last = secrets.at(-1);
  if (last === undefined) {
    return check;
  }
  return secrets.length === 1
    ? `set the file of ${last} in it, and ${check}`
    : `set the files of ${secrets.slice(0, -1).join(', ')} and ${last} in it, and ${check}`;
}

const backupAdvice =
  'then make a backup: `disburse-agent backup create --out <file> --encrypt-to <age recipient>`, and keep the file on another machine. It contains no spend key: keep that one separately';
