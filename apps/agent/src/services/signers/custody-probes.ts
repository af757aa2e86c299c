/**
 * Who must answer before anything can be signed: the funder's signer, the holder's signer, and the approve process beside a custodian.
 * They are asked by `config check`, at the start, and for readiness. None is asked for a signature (docs/decisions/0015).
 *
 * @module
 */

import type { ConfigRemark } from '@pool/configuration';
import { type ChainsFile, computeWalletAddress, errorCodeOf, isPoolError } from '@pool/core';
import {
  describeFailure,
  type Finding,
  type Probe,
  probeTimeoutMs,
  withinTime,
} from '@pool/operations';
import {
  type ApproverWallet,
  createApproverClient,
  type HolderSigner,
  type RemoteHolder,
} from '@pool/signers';
import type { Log } from '@pool/wallet/node';
import type { Config } from '../../config/config.ts';
import { variables } from '../../config/variables.ts';
import { createFunderProbe, type FunderConfig } from './funder-signer.ts';
import { createHolderSigner } from './holder.ts';

type CustodyConfig = FunderConfig & Pick<Config, 'holder' | 'funderEd25519Key'>;

/** No funder signer is configured, and a key of a holder's role is: nobody asks this agent to pay a batch (docs/decisions/0010). */
export function isHolderOnly({
  funderPrivateKey,
  funderEd25519Key,
  remoteFunder,
  holder: { balanceToken, transferToken, sendToken },
}: CustodyConfig): boolean {
  return (
    [funderPrivateKey, funderEd25519Key, remoteFunder].every((signer) => signer === undefined) &&
    [balanceToken, transferToken, sendToken].some((token) => token !== undefined)
  );
}

type CustodyPart = 'signer' | 'holderSigner' | 'approve';

export type CustodyProbe = {
  readonly part: CustodyPart;
  ask(signal: AbortSignal): Promise<Finding>;
};

/** How long each may take to answer, milliseconds. */
const askTimeoutMs = 10_000;

/** Shorter than the time limit of the whole check, so that an answer can name who did not answer. */
const readinessTimeoutMs = probeTimeoutMs - 200;

/** How long readiness keeps an answer, milliseconds. The route needs no credential, and a custodian limits its calls. */
export const custodyKeepMs = 10_000;

const partNames: Readonly<Record<CustodyPart, string>> = {
  signer: "the funder's signer",
  holderSigner: "the holder's signer",
  approve: 'the approve process',
};

/** Failures that can end by themselves. */
const outageCodes: readonly (string | undefined)[] = [
  'timed_out',
  'approver_unreachable',
  'custodian_unreachable',
  'enclave_unreachable',
];

/**
 * Those outside this process. Each question uses a new connection, so that an answer is not an old one.
 * @param readChains - called when the funder's signer is asked first
 */
export function listCustodyProbes(
  config: CustodyConfig,
  readChains: () => ChainsFile,
): readonly CustodyProbe[] {
  const probes: CustodyProbe[] = [];
  const { remoteFunder, holder } = config;
  if (remoteFunder !== undefined) {
    probes.push({ part: 'signer', ask: createFunderProbe(config, readChains) });
  }
  if (holder.remote !== undefined) {
    probes.push({ part: 'holderSigner', ask: createHolderProbe(holder, holder.remote) });
  }
  const wallets = listVotedWallets(config);
  // One gate for both wallets: they read the same variables.
  const approve = remoteFunder?.approve ?? holder.remote?.approve;
  if (approve !== undefined) {
    probes.push({
      part: 'approve',
      async ask(signal) {
        await createApproverClient(approve).probe(wallets, signal);
        return found('reachable', 'the approve process accepts the token, and lists the wallets');
      },
    });
  }
  return probes;
}

function listVotedWallets({ remoteFunder, holder: { remote } }: CustodyConfig): ApproverWallet[] {
  const wallets: ApproverWallet[] = [];
  if (remoteFunder?.approve !== undefined) {
    const { address, kind: custodian } = remoteFunder;
    wallets.push({ address, role: 'funder', custodian });
  }
  if (remote?.approve !== undefined) {
    const address = computeWalletAddress(remote.walletPub);
    wallets.push({ address, role: 'holder', custodian: remote.kind });
  }
  return wallets;
}

function createHolderProbe(holder: Config['holder'], { role }: RemoteHolder): CustodyProbe['ask'] {
  let kept: HolderSigner | undefined;
  return async (signal) => {
    kept ??= createHolderSigner(holder);
    try {
      await kept.probe?.({ signal });
    } finally {
      kept.close?.();
    }
    return found(kept.name, role.answers);
  };
}

function found(kind: string, message: string): Finding {
  return { ok: true, detail: { kind, message } };
}

/** What a part answered, or why it cannot be used. */
export type CustodyAnswer = {
  readonly part: CustodyPart;
  readonly finding: Finding;
  /** Absent: it answers as configured. */
  readonly problem?: ConfigRemark & { readonly isOutage: boolean };
};

/** @param stopped - ends the question */
export async function askCustody(
  { part, ask }: CustodyProbe,
  options: { readonly timeoutMs?: number; readonly stopped?: AbortSignal } = {},
): Promise<CustodyAnswer> {
  try {
    return { part, finding: await askWithin(ask, options.timeoutMs ?? askTimeoutMs, options) };
  } catch (error) {
    const code = errorCodeOf(error);
    const message = isPoolError(error) ? error.message : 'it does not answer, or not correctly';
    return {
      part,
      finding: { ok: false, detail: { kind: code ?? 'unreachable', message } },
      problem: {
        ...describeProblem(part, code, message),
        isOutage: code === undefined || outageCodes.includes(code),
      },
    };
  }
}

async function askWithin(
  ask: CustodyProbe['ask'],
  timeoutMs: number,
  { stopped }: { readonly stopped?: AbortSignal },
): Promise<Finding> {
  const over = new AbortController();
  const signals = stopped === undefined ? [over.signal] : [over.signal, stopped];
  try {
    return await withinTime(ask(AbortSignal.any(signals)), timeoutMs);
  } finally {
    over.abort();
  }
}

function describeProblem(
  part: CustodyPart,
  code: string | undefined,
  message: string,
): ConfigRemark {
  switch (part) {
    case 'signer': {
      const variable = variables.signer.name;
      return { variable, message: `${variable}: the signer cannot be used: ${message}` };
    }
    case 'holderSigner': {
      const variable = variables.holderSigner.name;
      return { variable, message: `${variable}: the holder's signer cannot be used: ${message}` };
    }
    case 'approve': {
      if (code === 'approver_refused') {
        const variable = variables.approveToken.name;
        return { variable, message: `${variable}: ${message}` };
      }
      const variable = variables.approveUrl.name;
      const advice =
        code === 'manifest_refused'
          ? ''
          : '. Start the approve process and the tunnel to it, or correct the address';
      return { variable, message: `${variable}: ${message}${advice}` };
    }
  }
}

/**
 * Asks once, at the start, and logs what cannot be used: an outage as a warning, anything else as an error. It never stops the agent,
 * whose jobs wait until everybody answers.
 */
export async function reportCustody(
  probes: readonly CustodyProbe[],
  log: Pick<Log, 'warn' | 'error'>,
  stopped: AbortSignal,
  timeoutMs: number = askTimeoutMs,
): Promise<void> {
  await Promise.all(
    probes.map(async (probe) => {
      const { problem, finding } = await askCustody(probe, { timeoutMs, stopped });
      if (problem === undefined || stopped.aborted) {
        return;
      }
      const { variable, message, isOutage } = problem;
      log[isOutage ? 'warn' : 'error']({ variable, code: finding.detail.kind }, message);
    }),
  );
}

/** `signer` of readiness: everything that a signature needs must answer. The message names who does not. */
export function createSignerProbe(
  config: CustodyConfig,
  chainsFile: ChainsFile,
  timeoutMs: number = readinessTimeoutMs,
): Probe {
  const remote = listCustodyProbes(config, () => chainsFile);
  const local: CustodyProbe = {
    part: 'signer',
    ask: isHolderOnly(config)
      ? async () =>
          found('holder', 'this agent spends for its holder only, and has no funder signer')
      : createFunderProbe(config, () => chainsFile),
  };
  const probes = config.remoteFunder === undefined ? [local, ...remote] : remote;
  return async () => {
    const findings = await Promise.all(probes.map((probe) => askForReadiness(probe, timeoutMs)));
    const down = findings.filter(({ ok }) => !ok);
    const shown = down.length > 0 ? down : findings;
    return {
      ok: down.length === 0,
      detail: {
        kind: shown[0]?.detail.kind ?? 'none',
        message: shown.map(({ detail }) => detail.message).join('; '),
      },
    };
  };
}

async function askForReadiness({ part, ask }: CustodyProbe, timeoutMs: number): Promise<Finding> {
  try {
    return await askWithin(ask, timeoutMs, {});
  } catch (error) {
    const { ok, detail } = describeFailure(error);
    return { ok, detail: { ...detail, message: `${partNames[part]}: ${detail.message}` } };
  }
}
