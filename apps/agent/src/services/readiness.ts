/**
 * `GET /api/readyz`: is everything there that a payment needs? Each look is bounded in time and kept for a
 * moment, so that asking often asks nobody else more often.
 *
 * @module
 */
import { errorCodeOf, isPoolError } from '@pool/core';
import { withinTime } from '@pool/operations';

export const checkNames = ['accelerator', 'signer', 'poolGate', 'platform'] as const;
export type CheckName = (typeof checkNames)[number];

/** What was found, in one word for machines and a sentence for people. Nobody's secret. */
export type Finding = {
  readonly ok: boolean;
  readonly detail: { readonly kind: string; readonly message: string };
};

export type ReadinessCheck = Finding & { readonly latencyMs: number };

export type ReadinessReport = {
  readonly ok: boolean;
  readonly checks: Readonly<Record<CheckName, ReadinessCheck>>;
};

/** One look. A rejection is a finding as well. */
export type Probe = () => Promise<Finding>;

export type Readiness = {
  read(): Promise<ReadinessReport>;
  check(name: CheckName): Promise<ReadinessCheck>;
};

export type ReadinessOptions = {
  /** Milliseconds, monotonic. */
  readonly nowMs: () => number;
  /** How long one look may take. */
  readonly timeoutMs?: number;
  /** How long its finding is answered again. */
  readonly keepMs?: number;
};

export const probeTimeoutMs = 2_000;

export function createReadiness(
  probes: Readonly<Record<CheckName, Probe>>,
  options: ReadinessOptions,
): Readiness {
  const looks = {
    accelerator: createLook(probes.accelerator, options),
    signer: createLook(probes.signer, options),
    poolGate: createLook(probes.poolGate, options),
    platform: createLook(probes.platform, options),
  };
  return {
    check: (name) => looks[name](),
    async read() {
      const [accelerator, signer, poolGate, platform] = await Promise.all([
        looks.accelerator(),
        looks.signer(),
        looks.poolGate(),
        looks.platform(),
      ]);
      const checks = { accelerator, signer, poolGate, platform };
      return { ok: Object.values(checks).every(({ ok }) => ok), checks };
    },
  };
}

function createLook(probe: Probe, options: ReadinessOptions): () => Promise<ReadinessCheck> {
  const { nowMs, timeoutMs = probeTimeoutMs, keepMs = 2_000 } = options;
  let last: { readonly atMs: number; readonly check: Promise<ReadinessCheck> } | undefined;

  async function look(): Promise<ReadinessCheck> {
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
    // Whoever asks while a look is under way waits for that one.
    if (last === undefined || nowMs() - last.atMs >= keepMs) {
      last = { atMs: nowMs(), check: look() };
    }
    return last.check;
  };
}

/** Our own words: the message of another party may repeat what it was sent. */
function describeFailure(error: unknown): Finding {
  if (errorCodeOf(error) === 'timed_out') {
    return { ok: false, detail: { kind: 'timeout', message: 'it did not answer in time' } };
  }
  if (isPoolError(error) && (error.status === 401 || error.status === 403)) {
    return {
      ok: false,
      detail: { kind: 'refused', message: "it answers, and refuses this agent's credential" },
    };
  }
  if (errorCodeOf(error) === 'gate_unauthorized') {
    return {
      ok: false,
      detail: { kind: 'refused', message: "it answers, and refuses this agent's credential" },
    };
  }
  return {
    ok: false,
    detail: { kind: 'unreachable', message: 'it does not answer as it should' },
  };
}
