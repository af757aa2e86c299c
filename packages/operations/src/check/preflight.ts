/**
 * What would prevent a batch although nothing is wrong with its request: the funder's money, and services that are down.
 * It describes this moment only and guarantees nothing.
 *
 * @module
 */
import type { RelayerHealth } from '@pool/api';
import {
  type AllowanceState,
  describeAmountOf,
  type EvmAddress,
  edgeTokenRefused,
  platformInvalidResponse,
} from '@pool/core';
import { waitAtMost } from '@pool/evm-sender';
import { encodeApproveCall } from '@pool/signers';
import type { ChainPort } from '../ports.ts';
import type { PaymentTarget } from './checks.ts';

export const preflightCodes = [
  'employer_mismatch',
  'insufficient_balance',
  'insufficient_gas',
  'chain_unreachable',
  'gate_unreachable',
  'platform_unreachable',
  edgeTokenRefused,
  platformInvalidResponse,
  'relayer_unavailable',
  'recipient_key_rotated',
  'allowance_outside',
  'release_policy_refused',
  'release_required',
] as const;
export type PreflightCode = (typeof preflightCodes)[number];

export type PreflightFinding = {
  readonly code: PreflightCode;
  readonly message: string;
  /** Present: the batch is paid, and the operator should know. Absent: it would prevent the batch now. */
  readonly severity?: 'warning';
};

/** How long a chain may take to answer the funds of the funder. */
const chainTimeoutMs = 3_000;

/**
 * Reads the allowance before proving. Advisory: it is reported as read and never read again. Never throws. A chain that does not answer
 * makes the state `unknown`, and the batch is proved anyway.
 */
export async function observeAllowance(input: {
  readonly chain: Pick<ChainPort, 'fetchAllowance'>;
  readonly token: EvmAddress;
  readonly funder: EvmAddress;
  readonly total: bigint;
}): Promise<AllowanceState> {
  try {
    const read = input.chain.fetchAllowance(input.token, input.funder);
    return (await waitAtMost(read, chainTimeoutMs)) >= input.total ? 'sufficient' : 'insufficient';
  } catch {
    return 'unknown';
  }
}

/**
 * Never throws. A chain that does not answer makes the allowance `unknown`, and is a finding itself.
 * @param approvesOutside - the funder is a contract wallet, which gives the allowance itself
 */
export async function observeFunds(
  target: PaymentTarget,
  funder: EvmAddress,
  approvesOutside = false,
): Promise<{
  readonly allowanceState: AllowanceState;
  readonly findings: readonly PreflightFinding[];
}> {
  const { chain } = target.context;
  const token = target.token.address;
  let allowance: bigint;
  let balance: bigint;
  try {
    [allowance, balance] = await waitAtMost(
      Promise.all([chain.fetchAllowance(token, funder), chain.fetchTokenBalance(token, funder)]),
      chainTimeoutMs,
    );
  } catch {
    return { allowanceState: 'unknown', findings: [unavailable(target)] };
  }
  const describe = (amount: bigint): string =>
    describeAmountOf(target.context.settings.tokens, token, amount);
  const findings: PreflightFinding[] = [];
  if (balance < target.total) {
    findings.push({
      code: 'insufficient_balance',
      message: `the funder holds ${describe(balance)} and the batch takes ${describe(target.total)}; fund it with the difference`,
    });
  }
  if (allowance >= target.total) {
    return { allowanceState: 'sufficient', findings };
  }
  if (approvesOutside) {
    const message = describeOutsideApproval(target, funder, allowance);
    findings.push({ code: 'allowance_outside', message, severity: 'warning' });
    return { allowanceState: 'insufficient', findings };
  }
  const needsApproval =
    target.token.permitVersion === undefined || target.token.permitName === undefined;
  if (needsApproval) {
    findings.push(...(await checkGas(chain, { target, token, funder, allowance })));
  }
  return { allowanceState: 'insufficient', findings };
}

/** The call that a contract wallet must make before its batch is paid. */
export function describeOutsideApproval(
  { context, token, total }: PaymentTarget,
  funder: EvmAddress,
  allowance: bigint,
): string {
  const { pool, tokens } = context.settings;
  const describe = (amount: bigint): string => describeAmountOf(tokens, token.address, amount);
  const isTwice = allowance > 0n && token.zeroFirst === true;
  const first = isTwice ? ', after the same call with an amount of 0' : '';
  return `the pool may take ${describe(allowance)} from the contract wallet ${funder}, and the batch takes ${describe(total)}. The wallet must make this call on chain ${context.key}${first}: to ${token.address}, value 0, data ${encodeApproveCall(pool, total)}`;
}

/** A permit is part of the relayer's transaction. For an approval the funder sends a transaction and pays its gas. */
async function checkGas(
  chain: ChainPort,
  input: {
    readonly target: PaymentTarget;
    readonly token: EvmAddress;
    readonly funder: EvmAddress;
    readonly allowance: bigint;
  },
): Promise<readonly PreflightFinding[]> {
  const { target, token, funder, allowance } = input;
  const isTwice = allowance > 0n && target.token.zeroFirst === true;
  try {
    const [approval, coin] = await waitAtMost(
      Promise.all([
        chain.prepareApproval(token, funder, isTwice ? 0n : target.total),
        chain.fetchCoinBalance(funder),
      ]),
      chainTimeoutMs,
    );
    const needed = (isTwice ? 2n : 1n) * approval.gasLimit * approval.maxFeePerGas;
    return coin >= needed
      ? []
      : [
          {
            code: 'insufficient_gas',
            message: `the funder holds ${coin} wei and needs ${needed} for the gas of an approval`,
          },
        ];
  } catch {
    return [unavailable(target)];
  }
}

// The codes come from the platform, the texts from the agent.
const relayerTroubles: Readonly<Record<string, string>> = {
  chain_unreachable: 'cannot reach the chain',
  insufficient_gas: 'has too little coin for the gas of a batch',
  fee_cap_reached: "waits until the chain's fees are below its cap",
  daily_total_reached: 'has used the coin that it may spend in 24 hours',
  transaction_stuck: 'has a transaction that is not mined, and everything after it waits',
  stalled: 'does not work',
};

/** The current problem of a chain's relayer, in a few words. Undefined: no trouble is known. */
export function describeRelayerTrouble(health: RelayerHealth | undefined): string | undefined {
  if (health === undefined || health.ok) {
    return undefined;
  }
  const { code = '' } = health;
  const known = Object.hasOwn(relayerTroubles, code) ? relayerTroubles[code] : undefined;
  return known ?? 'cannot send a batch';
}

/** @param chain - key of the chain that the batch is for */
export function findRelayerOutage(
  chain: string,
  health: RelayerHealth | undefined,
): PreflightFinding | undefined {
  const trouble = describeRelayerTrouble(health);
  return trouble === undefined
    ? undefined
    : {
        code: 'relayer_unavailable',
        message: `the platform's relayer on chain ${chain} ${trouble}: a batch sent now waits for it, and dies unpaid at its deadline if that takes longer; try again later, or tell the platform's operator`,
      };
}

function unavailable({ context }: PaymentTarget): PreflightFinding {
  return {
    code: 'chain_unreachable',
    message: `the RPC of chain ${context.key} does not answer: what the funder holds is not known`,
  };
}
