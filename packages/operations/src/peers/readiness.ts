/**
 * `GET /api/readyz`: is everything available that a payment needs? Each probe has a timeout, and its result is cached for
 * a moment, so that frequent requests cause no further probes.
 *
 * @module
 */
import { errorCodeOf, isPoolError } from '@pool/core';
import { withinTime } from '../within-time.ts';

export const checkNames = ['accelerator', 'signer', 'poolGate', 'platform', 'chains'] as const;
export type CheckName = (typeof checkNames)[number];

/** `jobStore`: only of agents that share one on a server. */
type Checks<T> = Readonly<Record<CheckName, T>> & { readonly jobStore?: T };

/** The result of a probe: a word for programs and a sentence for people. It contains no secret. */
export type Finding = {
  readonly ok: boolean;
  readonly detail: { readonly kind: string; readonly message: string };
};

export function createFinding(ok: boolean, kind: string, message: string): Finding {
  return { ok, detail: { kind, message } };
}

export type ReadinessCheck = Finding & { readonly latencyMs: number };

export type ReadinessReport = {
  readonly ok: boolean;
  readonly checks: Checks<ReadinessCheck>;
};

/** One probe. A rejection also becomes a finding. */
export type Probe = () => Promise<Finding>;

export type Readiness = {
  read(): Promise<ReadinessReport>;
  check(name: CheckName): Promise<ReadinessCheck>;
};

export type ReadinessOptions = {
  /** Milliseconds, monotonic. */
  readonly nowMs: () => number;
  /** Timeout of one probe. */
  readonly timeoutMs?: number;
  /** Time for which a result is cached. */
  readonly keepMs?: number;
  /** The same for the signer. Default: `keepMs`. */
  readonly signerKeepMs?: number;
};

export const probeTimeoutMs = 2_000;

export function createReadiness(probes: Checks<Probe>, options: ReadinessOptions): Readiness {
  const { signerKeepMs } = options;
  const keepSigner = signerKeepMs === undefined ? {} : { keepMs: signerKeepMs };
  const cached = {
    accelerator: createCachedCheck(probes.accelerator, options),
    signer: createCachedCheck(probes.signer, { ...options, ...keepSigner }),
    poolGate: createCachedCheck(probes.poolGate, options),
    platform: createCachedCheck(probes.platform, options),
    chains: createCachedCheck(probes.chains, options),
  };
  const jobStore = probes.jobStore && createCachedCheck(probes.jobStore, options);
  return {
    check: (name) => cached[name](),
    async read() {
      const [accelerator, signer, poolGate, platform, chains, shared] = await Promise.all([
        cached.accelerator(),
        cached.signer(),
        cached.poolGate(),
        cached.platform(),
        cached.chains(),
        jobStore?.(),
      ]);
      const own = { accelerator, signer, poolGate, platform, chains };
      const checks = shared === undefined ? own : { ...own, jobStore: shared };
      return { ok: Object.values(checks).every(({ ok }) => ok), checks };
    },
  };
}

function createCachedCheck(probe: Probe, options: ReadinessOptions): () => Promise<ReadinessCheck> {
  const { nowMs, timeoutMs = probeTimeoutMs, keepMs = 2_000 } = options;
  let last: { readonly atMs: number; readonly check: Promise<ReadinessCheck> } | undefined;

  async function check(): Promise<ReadinessCheck> {
    const sinceMs = nowMs();
    let finding: Finding;
    try {
      finding = await withinTime(probe(), timeoutMs);
    } catch (error) {
      finding = describeFailure(error);
    }
    return { ...finding, latencyMs: Math.round(nowMs() - sinceMs) };
  }

  return () => {
    // Concurrent requests wait for the same probe.
    if (last === undefined || nowMs() - last.atMs >= keepMs) {
      last = { atMs: nowMs(), check: check() };
    }
    return last.check;
  };
}

const refusedCredential = { kind: 'refused', message: "it refuses this agent's credential" };

/** By code. Never the message of another party, which can repeat the credential that it received. */
const failures: Readonly<Record<string, Finding['detail']>> = {
  timed_out: { kind: 'timeout', message: 'it did not answer in time' },
  gate_unauthorized: refusedCredential,
  approver_refused: refusedCredential,
  manifest_refused: {
    kind: 'refused',
    message: 'it does not judge for a wallet of this agent',
  },
  custodian_refused: {
    kind: 'refused',
    message: "it refuses this agent's account, or does not know the wallet",
  },
  custodian_misconfigured: {
    kind: 'misconfigured',
    message:
      'its wallet has another key or address than the configured one, or it refuses the key, credential or origin of the account',
  },
  enclave_not_attested: {
    kind: 'refused',
    message: 'it does not prove that it is the configured enclave',
  },
};

export function describeFailure(error: unknown): Finding {
  const known = failures[errorCodeOf(error) ?? ''];
  if (known !== undefined) {
    return { ok: false, detail: known };
  }
  if (isPoolError(error) && (error.status === 401 || error.status === 403)) {
    return { ok: false, detail: refusedCredential };
  }
  return {
    ok: false,
    detail: { kind: 'unreachable', message: 'it does not answer, or not correctly' },
  };
}
