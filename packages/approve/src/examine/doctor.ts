/**
 * The doctor proves that the gate cannot be gone around: it reads how the custodian is configured, at start and every hour. While a check
 * fails, the gate is unhealthy and votes nothing. Its health says why.
 *
 * @module
 */
import {
  computeWalletAddress,
  type EvmAddress,
  errorCodeOf,
  isPoolError,
  parseWalletPub,
} from '@pool/core';
import type { Ledger, LedgerStatus, Policy } from '@pool/policy';
import type { GateConfig } from '../config/config.ts';

// The wallets of the policy, each with the address whose key it must have at the custodian.

export type PolicyWallet = {
  /** The custodian's id. */
  readonly wallet: string;
  readonly address: EvmAddress;
};

/** A wallet that two rules list is there twice. */
export function listPolicyWallets({ funders, holders }: Policy): readonly PolicyWallet[] {
  return [
    ...funders.flatMap(({ address, wallets }) => wallets.map((wallet) => ({ wallet, address }))),
    ...holders.flatMap(({ walletPub, wallets }) => {
      const address = computeWalletAddress(parseWalletPub(walletPub));
      return wallets.map((wallet) => ({ wallet, address }));
    }),
  ];
}

/** What the gate judges for an address. */
export type WalletStanding = {
  readonly custodian: GateConfig['custodian']['kind'];
  readonly roles: readonly ('funder' | 'holder')[];
};

/** Empty: the policy does not list the address, so every manifest of it is refused. */
export function findWalletRoles(
  { funders, holders }: Policy,
  address: EvmAddress,
): WalletStanding['roles'] {
  const isHeld = holders.some(
    ({ walletPub }) => computeWalletAddress(parseWalletPub(walletPub)) === address,
  );
  return [
    ...(funders.some((funder) => funder.address === address) ? (['funder'] as const) : []),
    ...(isHeld ? (['holder'] as const) : []),
  ];
}

export function checkListed(wallets: readonly PolicyWallet[]): DoctorCheck {
  const count = new Set(wallets.map(({ wallet }) => wallet)).size;
  return checked(
    'wallets',
    count > 0,
    `the policy lists ${count} wallets`,
    'the policy lists no wallet; add wallet ids to a funder or holder',
  );
}

/** @param shown - what the custodian shows: `other`: another key or address; `unknown`: no such wallet */
export function checkAddress(
  { wallet, address }: PolicyWallet,
  shown: 'same' | 'other' | 'unknown',
): DoctorCheck {
  switch (shown) {
    case 'same':
      return passed('wallet-address', `wallet ${wallet}: it has the address of the policy`);
    case 'other':
      return failed(
        'wallet-address',
        `wallet ${wallet}: at the custodian it does not have the address ${address}; correct the wallet id or the address in the policy`,
      );
    case 'unknown':
      return failed(
        'wallet-address',
        `wallet ${wallet}: the custodian does not know it; correct the wallet id in the policy`,
      );
  }
}

// Whether the gate votes, and why not.

export type GateHealth = {
  readonly ok: boolean;
  /** Sentences for the operator. Empty: it votes. */
  readonly problems: readonly string[];
  readonly doctor: DoctorReport | undefined;
  readonly ledger: LedgerStatus;
};

/** @param lastLookMs - when the custodian was last reached; undefined: the gate did not look yet */
export function readHealth(deps: {
  readonly ledger: Ledger;
  readonly doctor: Doctor;
  readonly nowMs: number;
  readonly lastLookMs: number | undefined;
  readonly maxLookAgeMs: number;
  /** What the gate's own nodes do not answer. */
  readonly nodeProblems: readonly string[];
}): GateHealth {
  const ledger = deps.ledger.status();
  const doctor = deps.doctor.latest();
  const problems: string[] = [];
  if (doctor === undefined) {
    problems.push('the doctor has not examined the custodian yet');
  } else {
    const wrong = doctor.checks.filter(({ ok }) => !ok);
    problems.push(...wrong.map(({ name, detail }) => `${name}: ${detail}`));
  }
  if (ledger.isRestored) {
    problems.push(
      `the ledger counts as restored (${ledger.restoredBecause ?? 'unknown'}): run "pool-approve ledger rebaseline --by NAME"`,
    );
  }
  if (deps.lastLookMs !== undefined && deps.nowMs - deps.lastLookMs > deps.maxLookAgeMs) {
    problems.push('the custodian has not answered for a while: read the log');
  }
  problems.push(...deps.nodeProblems);
  return { ok: problems.length === 0, problems, doctor, ledger };
}

export type DoctorCheck = {
  /** Stable name, for scripts and metrics. */
  readonly name: string;
  readonly ok: boolean;
  /** What was found, and what to do. */
  readonly detail: string;
};

export type DoctorReport = {
  readonly ok: boolean;
  readonly atMs: number;
  readonly checks: readonly DoctorCheck[];
};

export type Examine = () => Promise<readonly DoctorCheck[]>;

export type Doctor = ReturnType<typeof createDoctor>;

/** @param bad - what is wrong, and what to do */
export function checked(name: string, ok: boolean, good: string, bad: string): DoctorCheck {
  return { name, ok, detail: ok ? good : bad };
}

export function passed(name: string, detail: string): DoctorCheck {
  return { name, ok: true, detail };
}

export function failed(name: string, detail: string): DoctorCheck {
  return { name, ok: false, detail };
}

/** A verdict that is older than this counts as failed: the hourly examination is stuck. */
const maxAgeMs = 2 * 3_600_000;

export function createDoctor(deps: {
  readonly examinations: readonly Examine[];
  readonly nowMs: () => number;
  /** Keeps a report. @returns further checks: what could not be kept counts as failed */
  readonly record?: (report: DoctorReport) => readonly DoctorCheck[];
}) {
  let latest: DoctorReport | undefined;
  let forgotten = 0;
  return {
    /** Examines now. Never throws: a custodian that does not answer is a failed check. */
    async examine(): Promise<DoctorReport> {
      const startedAfter = forgotten;
      const checks: DoctorCheck[] = [];
      for (const examine of deps.examinations) {
        checks.push(...(await examineSafely(examine)));
      }
      const found = createReport(checks, deps.nowMs());
      const report = createReport([...(deps.record?.(found) ?? []), ...checks], found.atMs);
      if (startedAfter === forgotten) {
        latest = report;
      }
      return report;
    },
    /** Drops the verdict, and that of an examination that is under way: it was made for another policy. */
    forget(): void {
      latest = undefined;
      forgotten += 1;
    },
    /** Undefined: not examined yet, or forgotten, so nothing is voted. */
    latest(): DoctorReport | undefined {
      return latest !== undefined && deps.nowMs() - latest.atMs > maxAgeMs
        ? {
            ...latest,
            ok: false,
            checks: [
              failed('age', 'the last examination is more than two hours old'),
              ...latest.checks,
            ],
          }
        : latest;
    },
  };
}

function createReport(checks: readonly DoctorCheck[], atMs: number): DoctorReport {
  return { ok: checks.every(({ ok }) => ok), atMs, checks };
}

async function examineSafely(examine: Examine): Promise<readonly DoctorCheck[]> {
  try {
    return await examine();
  } catch (error) {
    const detail = isPoolError(error)
      ? error.message
      : `the examination failed (${errorCodeOf(error) ?? 'unexpected error'})`;
    return [failed('custodian-answers', detail)];
  }
}
