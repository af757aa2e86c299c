/**
 * The second half of `npm start`: a recipient that `onboard` enrolled uses its money with the commands of its own agent.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import {
  type Hex,
  PoolError,
  parseEvmAddress,
  parseWalletPub,
  type Secret,
  type SpendReceipt,
} from '@pool/core';
import { Wallet } from 'ethers';
import type { Holder } from '../chain/people.ts';
import { defaultHolderCount, deriveHolderKey } from '../chain/sandbox-keys.ts';
import type { CustodyHolder } from '../custody/custody-place.ts';
import { runAgentCommand } from '../processes/agent-command.ts';
import type { Agent } from '../processes/agent-process.ts';
import type { Progress } from '../processes/progress.ts';
import {
  type HeadlessHolder,
  type HolderSigner,
  type OnboardPlace,
  onboardHolder,
} from '../stack/headless-holder.ts';
import type { SandboxFile } from '../stack/sandbox-file.ts';
import { fetchGasUsed, fetchPoolBalance, fetchTokenBalance } from './chain-facts.ts';
import type { HolderReport, SpendStep } from './holder-report.ts';
import { readAllReceivedNotes } from './received-notes.ts';

/** Who takes part in a demonstration, decided from the roster's text before it is checked. */
export type DemoPeople = {
  /** Enrolled over the platform's routes. */
  readonly isEnrolled: (address: string) => boolean;
  /** Enrolled by its own agent; spends afterwards. Undefined: the roster names no recipient of the sandbox. */
  readonly spenderKey: Secret<Hex> | undefined;
  /** Keys of the wallets that are enrolled over the platform's routes. */
  readonly enrolledKeys: readonly Secret<Hex>[];
};

/** A transfer has two payees. */
const payeeCount = 2;

/** Where the spender withdraws to: an address that has never had the token. */
const savingsLabel = 'savings';
const savings = new Wallet(deriveHolderKey(5_000).reveal()).address;

/**
 * The first recipient of the roster spends. The others are enrolled, and as many more as two payees need. All others would cost
 * seconds and receive nothing.
 */
export function chooseDemoPeople(rosterPath: string): DemoPeople {
  const text = readText(rosterPath).toLowerCase();
  const wallets = Array.from({ length: defaultHolderCount }, (_, index) => {
    const key = deriveHolderKey(index);
    const address = new Wallet(key.reveal()).address;
    return { key, address, place: text.indexOf(address.toLowerCase()) };
  });
  const named = wallets.filter(({ place }) => place >= 0);
  const [spender, ...others] = named.sort((left, right) => left.place - right.place);
  if (spender === undefined) {
    return { isEnrolled: () => false, spenderKey: undefined, enrolledKeys: [] };
  }
  const missing = Math.max(0, payeeCount - others.length);
  const more = wallets.filter(({ place }) => place < 0).slice(0, missing);
  const people = [...others, ...more];
  const enrolled = new Set(people.map(({ address }) => address));
  return {
    isEnrolled: (address) => enrolled.has(address),
    spenderKey: spender.key,
    enrolledKeys: people.map(({ key }) => key),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The agent refuses a file that cannot be read, and says why.
    return '';
  }
}

/** Names the spender's home, log and process. */
export const spenderName = 'recipient';

/**
 * Enrols the spender with the agent's own command, and pins its destination.
 * @param signer - its key is in custody; otherwise in its agent's home
 */
export function onboardSpender(
  place: OnboardPlace,
  key: Secret<Hex>,
  signer: HolderSigner | undefined,
): Promise<HeadlessHolder> {
  return onboardHolder(place, {
    name: spenderName,
    ...(signer === undefined ? { privateKey: key } : { custody: signer }),
    settings: { DISBURSE_SEND_DESTINATIONS: `${savingsLabel}=${savings}` },
  });
}

/** The spender as the policy of its signer lists it. It may pay everybody else in the demonstration. */
export function describeSpender(holder: Holder, payees: readonly Secret<Hex>[]): CustodyHolder {
  return {
    ...holder,
    name: spenderName,
    sendTo: [parseEvmAddress(savings)],
    transferTo: payees.map((key) =>
      parseWalletPub(new Wallet(key.reveal()).signingKey.compressedPublicKey),
    ),
  };
}

/** A tenth and a fifth are transferred, a half is withdrawn: with less, one of them would be nothing. */
export const leastAmount = 10n;

export type DemoSpender = {
  readonly place: SandboxFile;
  readonly agent: Agent;
  readonly holder: Holder;
  /** The others who are enrolled; the first two are paid. */
  readonly others: readonly Holder[];
  readonly token: string;
  /** What the roster paid to the holder, base units, at least {@link leastAmount}. */
  readonly received: bigint;
  readonly progress: Progress;
};

/** Runs the commands and reads the results from the chain and with the payees' own keys. @throws PoolError `sandbox_failed` */
export async function spendAsHolder(spender: DemoSpender): Promise<HolderReport> {
  const { place, others, token, received, progress } = spender;
  const amounts = [received / 10n, received / 5n];
  const payees = others.slice(0, payeeCount).map((holder, index) => ({
    holder,
    amount: amounts[index] ?? 0n,
  }));
  const withdrawn = received / 2n;

  progress.step('reading the balance of a recipient through its own agent');
  const before = await readBalanceLine(spender);
  progress.step('transferring to two others in one spend');
  const transfer = await runSpend(spender, [
    'transfer',
    ...payees.flatMap(({ holder, amount }) => ['--to', `${holder.walletPub}:${amount}`]),
  ]);
  progress.step(`withdrawing to the pinned destination ${savingsLabel}`);
  const send = await runSpend(spender, [
    ...['send', '--to', savingsLabel, '--amount', withdrawn.toString()],
  ]);
  progress.step('reading what everybody has now');
  const [after, notes, arrived, poolBalance] = await Promise.all([
    readBalanceLine(spender),
    readAllReceivedNotes(
      place,
      payees.map(({ holder }) => holder),
      token,
    ),
    fetchTokenBalance(place, token, savings),
    fetchPoolBalance(place, token),
  ]);
  progress.done();
  return {
    token,
    decimals: place.tokens[token]?.decimals ?? 0,
    holder: spender.holder.address,
    chain: place.chain,
    received,
    before,
    transfer,
    payees: payees.map(({ holder, amount }, index) => ({
      address: holder.address,
      amount,
      opened: (notes[index] ?? [])
        .filter(({ txHash }) => txHash === transfer.receipt.txHash)
        .map((note) => note.amount),
    })),
    send,
    destination: { label: savingsLabel, address: savings, amount: withdrawn, arrived },
    after,
    poolBalance,
  };
}

async function readBalanceLine({ agent, token }: DemoSpender): Promise<string> {
  const { stdout, code } = await runAgentCommand(agent, ['balance', '--token', token], {
    isQuiet: true,
  });
  if (code !== 0) {
    throw failed('balance');
  }
  return stdout.trim();
}

async function runSpend(
  { agent, token, place }: DemoSpender,
  args: readonly string[],
): Promise<SpendStep> {
  const startedAtMs = performance.now();
  const { stdout, code } = await runAgentCommand(agent, [...args, '--token', token, '--yes'], {
    isQuiet: true,
  });
  const seconds = (performance.now() - startedAtMs) / 1_000;
  if (code !== 0) {
    throw failed(args[0] ?? '');
  }
  const receipt = JSON.parse(stdout) as SpendReceipt;
  const gasUsed = await fetchGasUsed(place, receipt.txHash ?? '');
  return { command: args, receipt, seconds, gasUsed };
}

function failed(command: string): PoolError {
  return new PoolError('sandbox_failed', `the recipient's command ${command} failed; see above`);
}
