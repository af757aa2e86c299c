/**
 * `npm start`: start a deployment, pay a roster with the real agent, show what every recipient received and what
 * the chain says, let one recipient use its money, stop everything.
 *
 * @module
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  chooseBatchSize,
  type Hex,
  PoolError,
  parseEncryptionPublicKey,
  parseHex,
  type Secret,
} from '@pool/core';
import { holderKinds, type RemoteHolderRole, remoteHolderRole } from '@pool/signers';
import { readData } from '@pool/testkit';
import * as v from 'valibot';
import type { Holder, SignInPlace } from '../chain/people.ts';
import { deriveHolder } from '../chain/people.ts';
import type { Custody, CustodyHolder, SignerKind } from '../custody/custody-place.ts';
import { runAgentCommand } from '../processes/agent-command.ts';
import type { Agent } from '../processes/agent-process.ts';
import { ensureProvingKey } from '../processes/artifacts.ts';
import { isLocked, lockDirectory } from '../processes/directory-lock.ts';
import { openProcessLedger, type ProcessLedger } from '../processes/process-ledger.ts';
import { createProgress, type Progress } from '../processes/progress.ts';
import type { HeadlessHolder, HolderSigner } from '../stack/headless-holder.ts';
import { readStatus } from '../stack/lifecycle.ts';
import { createInvitation, createPayeePage, type PayeePage } from '../stack/payee-page.ts';
import { removeDeployment, writeSandboxFile } from '../stack/sandbox-file.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import {
  chooseDemoPeople,
  type DemoPeople,
  describeSpender,
  leastAmount,
  onboardSpender,
  spendAsHolder,
  spenderName,
} from './demo-holder.ts';
import { printHolderReport } from './holder-report.ts';
import { createDemoReport, type Payment, printDemoReport } from './report.ts';
import { readRoster } from './roster.ts';

// The keys of a holder whose signer is in custody, before it is enrolled: its signer's policy lists them.

const viewingKeySchema = v.object({
  scalar: v.string(),
  encryptionPublicKeys: v.object({ babyjubjub: v.string() }),
});

/** Undefined: the key of a holder is in its own agent. */
function findHolderRole(kind: SignerKind): RemoteHolderRole | undefined {
  const known = holderKinds.find((one) => one === kind);
  return known && remoteHolderRole(known);
}

/**
 * An enclave repeats its signatures, so the viewing key is derived from one. A custodian does not, so the holder makes a viewing key with
 * the agent's command and keeps it.
 */
export async function prepareHolder(
  kind: SignerKind,
  privateKey: Secret<Hex>,
  place: SignInPlace,
): Promise<Holder> {
  const derived = await deriveHolder(privateKey, place);
  if (findHolderRole(kind)?.needsViewingKey !== true) {
    return derived;
  }
  const { stdout, code } = await runAgentCommand({ environment: {} }, ['viewing-key', 'new']);
  if (code !== 0) {
    throw new PoolError('sandbox_failed', 'no viewing key could be made; see above');
  }
  const { scalar, encryptionPublicKeys } = v.parse(viewingKeySchema, JSON.parse(stdout));
  return {
    ...derived,
    viewingKey: parseHex(scalar, 32),
    encryptionPublicKey: parseEncryptionPublicKey(encryptionPublicKeys.babyjubjub),
  };
}

export type DemoOptions = {
  /** The sandbox directory; the demo makes a folder of its own below it. */
  readonly parent: string;
  readonly rosterPath: string;
  /** Token symbol. */
  readonly token: string;
  /** Where the keys of the funder and of the first recipient are. */
  readonly signer: SignerKind;
  /** Path of the release policy of the payer's agent. Undefined: nobody releases. */
  readonly policyPath: string | undefined;
  /** How the agent's command is typed in the root of the repository. */
  readonly agentCommand: string;
  /** Keeps everything up after the payment, until Ctrl-C. */
  readonly isKept: boolean;
};

const payRun = 'demo';

/** Between two looks whether the payment waits. Each is a process. */
const releasePollMs = 1_500;

/** @returns the exit code: 0 only when every recipient received exactly the amount of the roster */
export async function runDemo(options: DemoOptions): Promise<number> {
  const progress = createProgress({ stream: process.stdout, plainLines: true });
  mkdirSync(options.parent, { recursive: true, mode: 0o700 });
  await endAbandonedDemos(options.parent);
  const directory = mkdtempSync(join(options.parent, 'demo-'));
  const lock = lockDirectory(directory);
  const ledger = openProcessLedger(directory);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= ledger.endAll();
    return stopping;
  };
  const interrupt = (): void => {
    void stop().finally(() => {
      rmSync(directory, { recursive: true, force: true });
      process.exit(130);
    });
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  let succeeded = false;
  try {
    if (readStatus(options.parent).state === 'up') {
      say(
        'A sandbox is already up; this demonstration runs beside it, in a deployment of its own.',
      );
    }
    const page = createPayeePage(join(directory, 'payee-page'));
    succeeded = await payAndReport(
      options,
      { directory, ledger, progress, page },
      async (stack) => {
        await page.placeKeys();
        say(`\nAn invitation into the payee’s page: ${await createInvitation(stack)}`);
        // It listens before the text asks for Ctrl-C.
        const interrupted = waitForInterrupt();
        process.off('SIGINT', interrupt);
        process.off('SIGTERM', interrupt);
        say('Open it in a browser on this machine. Ctrl-C stops everything.');
        await interrupted;
      },
    );
    return succeeded ? 0 : 1;
  } catch (error) {
    progress.fail();
    say(error instanceof Error ? error.message : 'unknown failure');
    return 1;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    progress.step('stopping everything');
    await stop();
    progress.done();
    lock.release();
    if (succeeded) {
      rmSync(directory, { recursive: true, force: true });
    } else {
      removeDeployment(directory, { keepLogs: true });
      say(`The logs of this run are in ${relative(process.cwd(), join(directory, 'logs'))}.`);
    }
  }
}

type Demo = {
  readonly directory: string;
  readonly ledger: ProcessLedger;
  readonly progress: Progress;
  readonly page: PayeePage;
};

/** @param keep - called at the end, if the deployment is to stay up */
async function payAndReport(
  options: DemoOptions,
  demo: Demo,
  keep: (stack: Stack) => Promise<void>,
): Promise<boolean> {
  const people = chooseDemoPeople(options.rosterPath);
  const { stack, spender } = await startDeployment(options, people, demo);
  say(`The payee’s page is at ${stack.payeePageUrl} while this runs.`);
  const isPaid = await payRoster(options, demo.progress, stack, spender);
  if (isPaid && options.isKept) {
    await keep(stack);
  }
  return isPaid;
}

async function waitForInterrupt(): Promise<void> {
  // A listener for a signal does not keep a process alive.
  const alive = setInterval(() => undefined, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
}

async function payRoster(
  options: DemoOptions,
  progress: Progress,
  stack: Stack,
  spender: HeadlessHolder | undefined,
): Promise<boolean> {
  const place = writeSandboxFile(stack);
  const command = ['disburse', '--file', options.rosterPath, '--pay-run', payRun];
  const target = ['--token', options.token];

  progress.step('checking the roster');
  const check = await runAgentCommand(stack.agent, [...command, ...target, '--dry-run']);
  if (check.code !== 0) {
    progress.fail();
    say(check.stdout.trim());
    say('The roster is refused; nobody was paid.');
    return false;
  }
  const roster = readRoster(options.rosterPath);
  // Only now, so that a refused roster does not wait for proving keys.
  await ensureProvingKey(`fund-${chooseBatchSize(roster.length) ?? 16}`, progress);
  await ensureProvingKey('spend-2x4', progress);
  progress.done();

  // The recipient's agent starts while the payment waits for finality.
  const paying = runAgentCommand(stack.agent, [...command, ...target, '--json']);
  const [{ stdout, code }, recipientAgent] = await Promise.all([
    paying,
    startAgentOf(spender, stack),
    options.policyPath === undefined ? undefined : askForRelease(options, stack.agent, paying),
  ]);
  const payment = parsePayment(stdout);
  say('');
  say(payment === undefined ? stdout.trim() : JSON.stringify(payment.job, undefined, 2));
  say('');
  if (code !== 0 || payment === undefined) {
    say('The roster was not paid.');
    return false;
  }
  progress.step(`opening ${roster.length} notes with their recipients’ own keys`);
  const holders = spender === undefined ? stack.holders : [spender, ...stack.holders];
  const report = await createDemoReport({ place, holders, payment, roster, token: options.token });
  progress.done();
  const isPaid = printDemoReport(report, say);
  const line = roster.find(({ address }) => address === spender?.address);
  if (spender === undefined || recipientAgent === undefined || line === undefined) {
    return isPaid;
  }
  if (line.amount < leastAmount) {
    say(`\nThe first recipient has less than ${leastAmount} base units, too little to pay others.`);
    return isPaid;
  }
  say('');
  const used = await spendAsHolder({
    ...{ place, progress, holder: spender, agent: recipientAgent, others: stack.holders },
    token: options.token,
    received: line.amount,
  });
  return printHolderReport(used, report.total, say) && isPaid;
}

/** Says how the second person releases the payment, when it waits for that. */
async function askForRelease(
  { agentCommand }: DemoOptions,
  agent: Agent,
  paying: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  paying.then(end, end);
  while (!isOver) {
    const { stdout } = await runAgentCommand(agent, ['release', 'list', '--json']);
    if (stdout.includes(`"${payRun}`)) {
      say('\nThe payment waits for a second person. In another terminal, with that person’s key:');
      say(
        `  DISBURSE_HOME='${agent.home}' ${agentCommand} release sign ${payRun} --key-file <key file>`,
      );
      return;
    }
    await delay(releasePollMs);
  }
}

async function startDeployment(
  { signer, token, policyPath }: DemoOptions,
  { isEnrolled, spenderKey, enrolledKeys }: DemoPeople,
  { directory, ledger, progress, page }: Demo,
): Promise<{ readonly stack: Stack; readonly spender: HeadlessHolder | undefined }> {
  let spender: HeadlessHolder | undefined;
  let keys: Holder | undefined;
  const holders = async (place: SignInPlace): Promise<readonly CustodyHolder[]> => {
    // Not every signer of funders is one of holders: the recipient's key then stays in its own agent.
    if (spenderKey === undefined || findHolderRole(signer) === undefined) {
      return [];
    }
    keys = await prepareHolder(signer, spenderKey, place);
    return [describeSpender(keys, enrolledKeys)];
  };
  const stack = await startStack({
    ...{ directory, ledger, isEnrolled, onStep: progress.step },
    ...{ ownToken: token, releasePolicy: policyPath },
    placePayeePage: page.place,
    ...(signer === 'local-key' ? {} : { custody: { kind: signer, holders } }),
    alsoEnrol: async (place, custody) => {
      spender =
        spenderKey === undefined
          ? undefined
          : await onboardSpender(place, spenderKey, findHolderSigner(custody, keys));
    },
  });
  return { stack, spender };
}

function findHolderSigner(
  custody: Custody | undefined,
  holder: Holder | undefined,
): HolderSigner | undefined {
  return custody?.holder === undefined || holder === undefined
    ? undefined
    : {
        holder,
        variables: custody.holder(spenderName),
        login: findHolderRole(custody.kind)?.needsVote ? custody.kind : 'holder',
      };
}

async function startAgentOf(
  spender: HeadlessHolder | undefined,
  stack: Stack,
): Promise<Agent | undefined> {
  return spender === undefined
    ? undefined
    : await stack.startAgent({ name: spender.name, isOnboarded: true });
}

function parsePayment(stdout: string): Payment | undefined {
  try {
    return readData(stdout) as Payment;
  } catch {
    return undefined;
  }
}

// A demo that was killed left its processes running. Its stale lock shows that no process will end them.
async function endAbandonedDemos(parent: string): Promise<void> {
  const names = readdirSync(parent).filter((name) => name.startsWith('demo-'));
  for (const directory of names.map((name) => join(parent, name))) {
    if (!isLocked(directory)) {
      await openProcessLedger(directory).endAll();
      rmSync(directory, { recursive: true, force: true });
    }
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
