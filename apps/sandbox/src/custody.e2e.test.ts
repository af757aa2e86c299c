// Payments, transfers and withdrawals whose keys are in custody, over real processes: custodian A and B with their gates, and enclaves.
// No agent holds a key that can move money: each agent's process, environment, files and logs are searched for them.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DisburseRequest, parseEvmAddress } from '@pool/core';
import type { FunderKind } from '@pool/signers';
import {
  formsOfScalar,
  heapSnapshotOptions,
  type ProcessSearch,
  type ScalarForm,
  searchFile,
  searchProcess,
} from '@pool/testkit';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Holder } from './chain/people.ts';
import { deriveEmployerKey, deriveHolderKey } from './chain/sandbox-keys.ts';
import type { Custody, CustodyHolder } from './custody/custody-place.ts';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import { prepareHolder } from './demo/demo.ts';
import { createHolderAccount, type HolderAccount } from './fixtures/holder-account.ts';
import { clientOf, startTestStack, type TestStack } from './fixtures/test-stack.ts';
import type { Agent } from './processes/agent-process.ts';
import { ensureProvingKey } from './processes/artifacts.ts';
import { createProgress } from './processes/progress.ts';
import { type HeadlessHolder, onboardHolder } from './stack/headless-holder.ts';

const savings = parseEvmAddress(new Wallet(deriveHolderKey(4_000).reveal()).address);

type CustodyAccount = {
  readonly holder: HeadlessHolder;
  readonly agent: Agent;
  readonly account: HolderAccount;
};

describe('keys in custody', () => {
  let stack: TestStack;
  const keys = { custodian_a: deriveHolderKey(4_100), enclave: deriveHolderKey(4_101) };
  const prepared: Partial<Record<keyof typeof keys, Holder>> = {};
  const accounts: Partial<Record<keyof typeof keys, CustodyAccount>> = {};
  const agents: Agent[] = [];
  const snapshotDirectory = mkdtempSync(join(tmpdir(), 'pool-snapshots-'));

  /** Lists the first two recipients of the stack as payees: their keys are known before they are enrolled. */
  async function describeHolder(
    kind: keyof typeof keys,
    place: { readonly platformUrl: string },
  ): Promise<CustodyHolder> {
    const holder = await prepareHolder(kind, keys[kind], place);
    prepared[kind] = holder;
    const payee = await prepareHolder('enclave', deriveHolderKey(0), place);
    return { ...holder, name: `holder-${kind}`, sendTo: [savings], transferTo: [payee.walletPub] };
  }

  async function onboard(
    kind: keyof typeof keys,
    place: Parameters<typeof onboardHolder>[0],
    custody: Custody | undefined,
  ): Promise<HeadlessHolder> {
    const holder = prepared[kind];
    if (holder === undefined || custody?.holder === undefined) {
      throw new Error(`no holder at ${kind}`);
    }
    const name = `holder-${kind}`;
    return onboardHolder(place, {
      name,
      custody: {
        holder,
        variables: custody.holder(name),
        login: kind === 'custodian_a' ? 'custodian_a' : 'holder',
      },
      settings: { DISBURSE_SEND_DESTINATIONS: `savings=${savings}` },
    });
  }

  async function startAccount(holder: HeadlessHolder): Promise<CustodyAccount> {
    const agent = await stack.startAgent({ name: holder.name, isOnboarded: true });
    agents.push(agent);
    return { holder, agent, account: createHolderAccount(agent.url, holder.keys) };
  }

  beforeAll(async () => {
    await ensureProvingKey(
      'spend-2x4',
      createProgress({ stream: process.stdout, plainLines: false }),
    );
    let onboarded: HeadlessHolder | undefined;
    stack = await startTestStack({
      holderCount: 1,
      agentEnvironment: { NODE_OPTIONS: heapSnapshotOptions(snapshotDirectory) },
      custody: {
        kind: 'custodian_a',
        holders: async (place) => [await describeHolder('custodian_a', place)],
      },
      alsoEnrol: async (place, custody) => {
        onboarded = await onboard('custodian_a', place, custody);
      },
    });
    agents.push(stack.agent);
    if (onboarded !== undefined) {
      accounts.custodian_a = await startAccount(onboarded);
    }
    const enclave = await stack.startCustody('enclave', [await describeHolder('enclave', stack)]);
    accounts.enclave = await startAccount(await onboard('enclave', stack, enclave));
    const custodianB = await stack.startCustody('custodian_b', []);
    for (const custody of [enclave, custodianB]) {
      agents.push(await stack.startAgent({ name: custody.kind, funder: custody.funder }));
    }
  });
  afterAll(async () => {
    rmSync(snapshotDirectory, { recursive: true, force: true });
    await stack.end();
  });

  function requestTo(amount: bigint): DisburseRequest {
    const recipients = [accounts.custodian_a?.holder, accounts.enclave?.holder].map((holder) => ({
      recipientAddress: holder?.address ?? '',
      amount: amount.toString(),
    }));
    return { token: 'USDC', recipients };
  }

  const funders: readonly { readonly kind: FunderKind; readonly agent: string }[] = [
    { kind: 'custodian_a', agent: 'agent' },
    { kind: 'custodian_b', agent: 'custodian_b' },
    { kind: 'enclave', agent: 'enclave' },
  ];

  it('every signer and every gate answers before the first job', async () => {
    const kinds = agents.map(async ({ url, process }) => {
      const answer = await fetch(`${url}/api/readyz`);
      const { checks } = (await answer.json()) as {
        checks: { signer: { detail: { kind: string; message: string } } };
      };
      const { kind, message } = checks.signer.detail;
      // An agent of a holder needs no funder; nobody else is missing.
      expect(message).not.toContain("the holder's signer:");
      expect(message).not.toContain('the approve process:');
      return [process.name, kind];
    });
    expect(await Promise.all(kinds)).toEqual([
      ['agent', 'custodian_a'],
      ['holder-custodian_a', 'holder'],
      ['holder-enclave', 'holder'],
      ['enclave', 'enclave'],
      ['custodian_b', 'custodian_b'],
    ]);
  });

  it.each(funders)('a funder whose key is at $kind pays a batch', async ({ kind, agent: name }) => {
    const agent = agents.find(({ process }) => process.name === name) ?? stack.agent;
    const client = clientOf(agent);
    const request = requestTo(1_000_003n);
    expect(await client.disburse(`pay-${kind}`, request)).toMatchObject({ status: 202 });
    expect(await client.waitForJob(`pay-${kind}`)).toMatchObject({
      state: 'done',
      result: { status: 'completed', batches: [{ recipientCount: 2 }] },
    });
  });

  it.each(['custodian_a', 'enclave'] as const)(
    'a holder whose key is at %s transfers and withdraws [signer.holder-in-custody]',
    async (kind) => {
      const account = accounts[kind]?.account;
      const before = await fetchTokenBalance(stack.place, 'USDC', savings);
      expect(await account?.balance()).toMatchObject({ status: 200, body: { total: '3000009' } });
      const payee = stack.holders[0]?.walletPub ?? '';
      const transfer = await account?.transfer('rent', [{ walletPub: payee, amount: '1000' }]);
      expect(transfer).toMatchObject({ status: 200, body: { status: 'success' } });
      const send = await account?.send('out', '2000', 'savings');
      expect(send).toMatchObject({ status: 200, body: { status: 'success' } });
      expect(await account?.balance()).toMatchObject({ status: 200, body: { total: '2997009' } });
      expect((await fetchTokenBalance(stack.place, 'USDC', savings)) - before).toBe(2_000n);
    },
  );

  describe('no agent has a key', () => {
    const searched: readonly ScalarForm[] = [
      ...formsOfScalar('the funder', BigInt(deriveEmployerKey().reveal())),
      ...formsOfScalar('the holder at custodian A', BigInt(keys.custodian_a.reveal())),
      ...formsOfScalar('the holder in an enclave', BigInt(keys.enclave.reveal())),
    ];

    /** Evidence in the output of the tests. */
    function report(name: string, { dump, searchedBytes, findings }: ProcessSearch): void {
      const megabytes = (searchedBytes / 1e6).toFixed(1);
      process.stdout.write(
        `searched ${name} for keys: ${dump}, ${megabytes} MB, ${findings.length} found\n`,
      );
    }

    /** The search on a host whose kernel denies the memory of other processes (ptrace). */
    const withoutMemory = {
      snapshotDirectory,
      openMemory: (): never => {
        throw Object.assign(new Error('denied by the test'), { code: 'EACCES' });
      },
    };

    it('in its memory, its environment or its open files [signer.holder-in-custody]', async () => {
      expect(agents.map(({ process }) => process.name)).toEqual([
        'agent',
        'holder-custodian_a',
        'holder-enclave',
        'enclave',
        'custodian_b',
      ]);
      for (const { process } of agents) {
        const search = await searchProcess(process.identity.pid, searched, { snapshotDirectory });
        const { dump, findings, searchedBytes } = search;
        report(process.name, search);
        expect(findings, process.name).toEqual([]);
        expect(searchedBytes).toBeGreaterThan(dump === 'memory' ? 20_000_000 : 5_000_000);
      }
    });

    it('in a heap snapshot', async () => {
      for (const { process } of agents) {
        const search = await searchProcess(process.identity.pid, searched, withoutMemory);
        report(process.name, search);
        expect(search, process.name).toMatchObject({ dump: 'heap snapshot', findings: [] });
        expect(search.searchedBytes).toBeGreaterThan(5_000_000);
      }
    });

    it('in its directory or its log [signer.holder-in-custody]', () => {
      for (const { home, process } of agents) {
        expect(searchFile(home, searched), process.name).toEqual([]);
        expect(searchFile(process.logPath, searched), process.name).toEqual([]);
      }
      const logs = join(stack.directory, 'logs');
      expect(readdirSync(logs).flatMap((name) => searchFile(join(logs, name), searched))).toEqual(
        [],
      );
    });

    it('and the same search finds the key of an agent that signs by itself [signer.holder-in-custody]', async () => {
      const key = deriveEmployerKey().reveal();
      const local = await stack.startAgent({
        name: 'local',
        funder: { DISBURSE_FUNDER_PRIVATE_KEY: key },
      });
      const { pid } = local.process.identity;
      const search = await searchProcess(pid, searched, { snapshotDirectory });
      report('local', search);
      expect(search.findings).toContainEqual({ form: 'the funder: hex', where: search.dump });
      const heap = await searchProcess(pid, searched, withoutMemory);
      report('local', heap);
      expect(heap.findings).toContainEqual({ form: 'the funder: hex', where: 'heap snapshot' });
      expect(searchFile(local.home, searched)).toContainEqual({
        form: 'the funder: hex',
        where: join(local.home, 'agent.env'),
      });
      await local.process.stop();
    });
  });
});
