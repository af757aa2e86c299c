#!/usr/bin/env node
/**
 * The `platform` command: `serve`, `gate serve`, `edge-token create|list|revoke`,
 * `chains`, `gate-reader list|rotate|revoke`, `eligibility capacity|remove|limit|invite`, `indexer resume`.
 * Each command imports its own code when it runs, so that `--help` answers without it.
 *
 * @module
 */

import type { Log } from '@pool/http-server';
import { Command } from 'commander';
import type { ControlCall } from './operator/control-client.ts';
import type { withControl } from './operator/edge-token-command.ts';
import type { Served } from './serve-platform.ts';

// `platform eligibility capacity|remove|limit|invite` (decision 6), beside a running platform.

type Print = (work: (call: ControlCall) => Promise<unknown>) => Promise<void>;

// The most addresses in one call to the control listener.
const addressesPerCall = 200;

function addEligibilityCommands(program: Command, print: Print): void {
  const eligibility = program
    .command('eligibility')
    .description('the eligibility list; beside a running platform, uses PLATFORM_DATA_DIR');

  eligibility
    .command('capacity')
    .description('show how many places of the eligibility tree are used')
    .action(() => print((call) => call('GET', '/eligibility/capacity')));

  eligibility
    .command('remove')
    .description('remove a wallet from the list and free its place; `pending`: run it again')
    .requiredOption('--address <address>', "the holder's wallet address")
    .action(({ address }: { address: string }) =>
      print((call) => call('POST', '/eligibility/remove', { address })),
    );

  eligibility
    .command('limit')
    .description('set how many wallets an employer may have invited and enrolled')
    .requiredOption('--address <address>', "the employer's wallet address")
    .requiredOption('--wallets <number>', 'or `default` for PLATFORM_WALLETS_PER_EMPLOYER')
    .option('--contract-chain-id <id>', 'for a contract wallet: the chain of the contract')
    .action((options: { address: string; wallets: string; contractChainId?: string }) =>
      print((call) =>
        call('POST', '/eligibility/limit', {
          ...readEmployer(options),
          wallets: options.wallets === 'default' ? null : Number(options.wallets),
        }),
      ),
    );

  eligibility
    .command('invite')
    .description('invite wallets for an employer')
    .argument('<wallets...>', 'addresses of wallets')
    .requiredOption('--address <address>', "the employer's wallet address")
    .option('--contract-chain-id <id>', 'for a contract wallet: the chain of the contract')
    .action((wallets: string[], options: { address: string; contractChainId?: string }) =>
      print(async (call) => {
        let answer: unknown;
        for (let at = 0; at < wallets.length; at += addressesPerCall) {
          const some = wallets.slice(at, at + addressesPerCall);
          const body = { ...readEmployer(options), wallets: some };
          answer = await call('POST', '/eligibility/invite', body);
        }
        return answer;
      }),
    );
}

function readEmployer({ address, contractChainId }: { address: string; contractChainId?: string }) {
  return {
    address,
    ...(contractChainId === undefined ? {} : { contractChainId: Number(contractChainId) }),
  };
}

const program = new Command('platform').description('The platform and the pool-gate of Pool.');

program
  .command('serve')
  .description('run the platform; configuration from PLATFORM_* variables')
  .action(async () => {
    const { parsePlatformConfig: parse } = await import('./config.ts');
    const { servePlatform } = await import('./serve-platform.ts');
    await run('platform', () => parse(process.env), servePlatform);
  });

program
  .command('gate')
  .description('the pool-gate')
  .command('serve')
  .description('run the pool-gate; configuration from GATE_* variables')
  .action(async () => {
    const { parseGateConfig: parse } = await import('./config.ts');
    const { serveGate } = await import('./serve-gate.ts');
    await run('gate', () => parse(process.env), serveGate);
  });

async function run<Config extends { readonly logLevel: string }>(
  name: string,
  readConfig: () => Config,
  serve: (config: Config, log: Log, readConfig: () => Config) => Promise<Served>,
): Promise<void> {
  const { createLog } = await import('@pool/http-server');
  const { runUntilStopped } = await import('./run-until-stopped.ts');
  const config = readConfig();
  const log = createLog(config.logLevel, name);
  const { startTracing, traceCall } = await import('@pool/tracing');
  const { observeRequests } = await import('@pool/http-client');
  const stopTracing = await startTracing(process.env, `pool-${name}`);
  if (stopTracing !== undefined) {
    observeRequests(traceCall);
  }
  const served = await serve(config, log, readConfig);
  const close = async (): Promise<void> => {
    await served.close();
    await stopTracing?.();
  };
  runUntilStopped({ ...served, close }, log);
}

program
  .command('chains')
  .description('print the chains file for agents, without RPC addresses, to be published')
  .action(async () => {
    const { readPublishedChains } = await import('./config.ts');
    process.stdout.write(`${JSON.stringify(readPublishedChains(process.env), undefined, 2)}\n`);
  });

const edgeToken = program
  .command('edge-token')
  .description('credentials of agents at /agent-edge; uses PLATFORM_DATA_DIR');

edgeToken
  .command('create')
  .description('create a token for a registered employer and print it once')
  .requiredOption('--address <address>', "the employer's wallet address")
  .option('--name <name>', 'a label', 'agent')
  .option('--contract-chain-id <id>', 'for a contract wallet: the chain of the contract')
  .action(async (options: { address: string; name: string; contractChainId?: string }) => {
    const { address, name, contractChainId } = options;
    const onChain =
      contractChainId === undefined ? {} : { contractChainId: Number(contractChainId) };
    await print((call) => call('POST', '/edge-tokens', { address, name, ...onChain }));
  });

edgeToken
  .command('list')
  .description('list all tokens, without their secrets')
  .action(() => print((call) => call('GET', '/edge-tokens')));

edgeToken
  .command('revoke')
  .description('revoke a token by its id')
  .argument('<id>')
  .action((id: string) =>
    print((call) => call('DELETE', `/edge-tokens/${encodeURIComponent(id)}`)),
  );

const gateReader = program
  .command('gate-reader')
  .description("credentials of an employer's agents at the pool-gate; uses PLATFORM_DATA_DIR");

gateReader
  .command('list')
  .description('list all readers, without their secrets')
  .action(() => print((call) => call('GET', '/gate-readers')));

gateReader
  .command('rotate')
  .description(
    'give a reader a new secret, also a revoked one; agents get it at their next bootstrap',
  )
  .argument('<employerId>')
  .action((employerId: string) =>
    print((call) => call('POST', `/gate-readers/${encodeURIComponent(employerId)}/rotate`)),
  );

gateReader
  .command('revoke')
  .description(
    'revoke a reader; the gate refuses it and its tokens once it receives the revocation',
  )
  .argument('<employerId>')
  .action((employerId: string) =>
    print((call) => call('DELETE', `/gate-readers/${encodeURIComponent(employerId)}`)),
  );

program
  .command('indexer')
  .description('the indexer of a chain; uses PLATFORM_DATA_DIR')
  .command('resume')
  .description(
    'lift a halt after its reason was found; the indexer halts again if the reason remains',
  )
  .requiredOption('--chain <key>', 'chain key')
  .action(({ chain }: { chain: string }) =>
    print((call) => call('POST', '/indexer/resume', { chain })),
  );

addEligibilityCommands(program, print);

async function print(work: Parameters<typeof withControl<unknown>>[1]): Promise<void> {
  const { parseOperatorConfig } = await import('./config.ts');
  const { withControl } = await import('./operator/edge-token-command.ts');
  const answer = await withControl(parseOperatorConfig(process.env), work);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

try {
  await program.parseAsync();
} catch (error) {
  const { isPoolError } = await import('@pool/core');
  const { describeFailure } = await import('@pool/http-server');
  // As every command of Pool reports a failure. What is not ours is for a log.
  process.stderr.write(
    isPoolError(error)
      ? `${error.code}: ${error.message}\n`
      : `${JSON.stringify({ code: 'internal_error', ...describeFailure(error) })}\n`,
  );
  process.exit(1);
}
