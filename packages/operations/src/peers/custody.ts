/**
 * Who must answer before anything can be signed: the funder's signer, the holder's signer, and the approve process beside a custodian.
 * They are asked by `config check`, at the start, and for readiness. None is asked for a signature (docs/decisions/0015).
 *
 * @module
 */
import { errorCodeOf, isPoolError } from '@pool/core';
import type { Log } from '@pool/wallet/node';
import { withinTime } from '../within-time.ts';
import { describeFailure, type Finding, type Probe, probeTimeoutMs } from './readiness.ts';

const parts = {
  signer: {
    name: "the funder's signer",
    variable: 'DISBURSE_SIGNER',
    lead: 'the signer cannot be used: ',
  },
  holderSigner: {
    name: "the holder's signer",
    variable: 'DISBURSE_HOLDER_SIGNER',
    lead: "the holder's signer cannot be used: ",
  },
  approve: { name: 'the approve process', variable: 'DISBURSE_APPROVE_URL', lead: '' },
} as const;
type CustodyPart = keyof typeof parts;

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

/** Failures that can end by themselves. */
const outageCodes: readonly (string | undefined)[] = [
  'timed_out',
  'approver_unreachable',
  'chain_unreachable',
  'custodian_unreachable',
  'enclave_unreachable',
];

/** What a part answered, or why it cannot be used. */
export type CustodyAnswer = {
  readonly part: CustodyPart;
  readonly finding: Finding;
  /** Absent: it answers as configured. */
  readonly problem?: {
    readonly variable: string;
    readonly message: string;
    readonly isOutage: boolean;
  };
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
): { readonly variable: string; readonly message: string } {
  const { lead } = parts[part];
  const variable =
    part === 'approve' && code === 'approver_refused'
      ? 'DISBURSE_APPROVE_TOKEN'
      : parts[part].variable;
  const advice =
    part !== 'approve' || code === 'approver_refused' || code === 'manifest_refused'
      ? ''
      : '. Start the approve process and the tunnel to it, or correct the address';
  return { variable, message: `${variable}: ${lead}${message}${advice}` };
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
export function createCustodyProbe(
  probes: readonly CustodyProbe[],
  timeoutMs: number = readinessTimeoutMs,
): Probe {
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
    return { ok, detail: { ...detail, message: `${parts[part].name}: ${detail.message}` } };
  }
}
