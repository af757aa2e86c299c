/**
 * `approve check`: explains, rule by rule, what the gate would answer for a manifest now. It votes nothing.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import {
  computeWalletAddress,
  type ManifestFile,
  manifestFileSchema,
  PoolError,
  parseWire,
} from '@pool/core';
import {
  createSignRequest,
  type Decision,
  decisionReasons,
  type Ledger,
  type Origin,
  type Policy,
  type RebuiltManifest,
  type SignRequest,
} from '@pool/policy';
import { createFactSource } from '../gate/facts.ts';
import { createJudge } from '../gate/judge.ts';
import { createRebuilds } from '../gate/rebuilds.ts';
import { readChainsFile, readPolicyFile } from '../gate/settings-files.ts';
import { findStored } from './find-stored.ts';
import { withLedger } from './open-files.ts';
import { type CommandContext, type CommonOptions, exitCodes, print } from './output.ts';

/** @param manifest - digest of a stored manifest, or path of a manifest file. @returns the exit code */
export async function runCheck(
  manifest: string,
  options: CommonOptions,
  context: CommandContext,
): Promise<number> {
  return await withLedger(context, options, async (ledger, { policyFile, chainsFile }) => {
    const { policy } = readPolicyFile(policyFile);
    const rebuilds = createRebuilds({
      readFile: (digest) => ledger.readFile(digest),
      evidence: () => policy.evidence,
    });
    const rebuilt = await rebuilds.rebuild(readManifest(manifest, ledger, context));
    const judge = createJudge({
      ledger,
      policy: () => policy,
      rebuilds,
      facts: createFactSource(readChainsFile(chainsFile)),
      mayVote: () => false,
      nowMs: context.nowMs,
      isDryRun: true,
    });
    const { request, origin } = createExpectedRequest(rebuilt, policy);
    const decision = await judge.explain(request, origin, rebuilt);
    const { manifestDigest } = rebuilt;
    print(context, options, describe(manifestDigest, decision), render(manifestDigest, decision));
    return exitCodeOf(decision);
  });
}

function readManifest(text: string, ledger: Ledger, { source }: CommandContext): ManifestFile {
  if (existsSync(text)) {
    return parseWire(manifestFileSchema, JSON.parse(source.readFile(text)), 'manifest file');
  }
  const { manifestDigest } = findStored(ledger, text);
  const file = ledger.readFile(manifestDigest);
  if (file === undefined) {
    throw new PoolError(
      'manifest_unknown',
      'the content of this manifest was erased after its retention',
    );
  }
  return file;
}

/** What the agent would ask for, from the wallet and by the user that the policy lists first. */
function createExpectedRequest(
  rebuilt: RebuiltManifest,
  policy: Policy,
): { readonly request: SignRequest; readonly origin: Origin } {
  if (rebuilt.kind === 'fund') {
    const { chainId, pool, authorization, funder } = rebuilt;
    const rule = policy.funders.find(({ address }) => address === funder);
    return {
      request: createSignRequest({
        kind: 'fund-authorization',
        payload: { chainId, pool, authorization },
        expectedSigner: funder,
      }),
      origin: originOf(rule),
    };
  }
  const { operation, salt, walletPub } = rebuilt;
  const rule = policy.holders.find((holder) => holder.walletPub === walletPub);
  return {
    request: createSignRequest({
      kind: 'spend',
      payload: { operation, salt },
      expectedSigner: computeWalletAddress(walletPub),
    }),
    origin: originOf(rule),
  };
}

function originOf(
  rule: { readonly wallets: readonly string[]; readonly initiators: readonly string[] } | undefined,
): Origin {
  return {
    kind: 'custodian',
    wallet: rule?.wallets[0] ?? '',
    initiator: rule?.initiators[0] ?? '',
  };
}

function describe(manifestDigest: string, decision: Decision) {
  const { kind, rules } = decision;
  return kind === 'approve'
    ? { manifestDigest, answer: kind, rules }
    : { manifestDigest, answer: kind, reason: decision.reason, message: decision.message, rules };
}

const marks = { pass: 'ok  ', fail: 'NO  ', wait: 'WAIT' } as const;

function render(manifestDigest: string, decision: Decision): string {
  const rules = decision.rules.map(
    ({ rule, verdict, message }) => `${marks[verdict]}  ${rule}: ${message}`,
  );
  return [`manifest ${manifestDigest}`, ...rules, renderAnswer(decision)].join('\n');
}

function renderAnswer(decision: Decision): string {
  switch (decision.kind) {
    case 'approve':
      return 'The gate would approve it.';
    case 'deny':
      return `The gate would deny it (${decision.reason}). ${decisionReasons[decision.reason]}`;
    case 'later':
      return `It would wait (${decision.reason}). ${decisionReasons[decision.reason]}`;
  }
}

function exitCodeOf({ kind }: Decision): number {
  switch (kind) {
    case 'approve':
      return exitCodes.ok;
    case 'deny':
      return exitCodes.refused;
    case 'later':
      return exitCodes.notNow;
  }
}
