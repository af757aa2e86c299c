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
import { readOnboardSettings } from '../config/config.ts';
import { renderAgentEnv, renderChainsProposal } from '../onboard/onboard-files.ts';
import { type OnboardOptions, type OnboardPlan, planOnboarding } from '../onboard/onboard-plan.ts';
import { type Onboarded, runOnboarding } from '../onboard/onboard-session.ts';
import { createDurableFile } from '../state/durable-file.ts';
import { type Output, withInterruption } from '../terminal/command-output.ts';
import { exitCodes } from '../terminal/exit-codes.ts';

export type { OnboardOptions } from '../onboard/onboard-plan.ts';

const variableOf: Readonly<Record<Capability, string>> = {
  disburse: 'a comment for callers of POST /api/disburse',
  'holder.read': 'DISBURSE_BALANCE_TOKEN',
  'holder.transfer': 'DISBURSE_TRANSFER_TOKEN',
  'holder.send': 'DISBURSE_SEND_TOKEN',
};

/** @returns the exit code */
export async function runOnboard(
  options: OnboardOptions,
  { out }: Pick<Output, 'out'>,
): Promise<number> {
  const settings = readOnboardSettings(options.envFile);
  const plan = await planOnboarding(options, settings);
  const proposalPath = existsSync(settings.chainsFile)
    ? undefined
    : `${settings.chainsFile}.proposed`;
  const result = await withInterruption((signal) =>
    runOnboarding(plan, {
      signal,
      store: (minted) => writeNew(plan.outPath, renderAgentEnv(plan, minted, settings)),
    }),
  );
  const isProposed = proposalPath !== undefined && propose(proposalPath, plan, result);
  out(describeOutcome(plan, result, isProposed ? proposalPath : undefined).join('\n'));
  return exitCodes.ok;
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
    ...(holder === undefined
      ? []
      : ["set the file of the holder's key in it, and check that `identity` prints this P"]),
    'then make a backup: `disburse-agent backup create --out <file> --encrypt-to <age recipient>`, and keep the file on another machine. It contains no spend key: keep that one separately',
  ];
}
