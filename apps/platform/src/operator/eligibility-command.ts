/**
 * `platform eligibility capacity|remove|limit|invite` (decision 6), beside a running platform.
 *
 * @module
 */
import type { Command } from 'commander';
import type { ControlCall } from './control-client.ts';

type Print = (work: (call: ControlCall) => Promise<unknown>) => Promise<void>;

// The most addresses in one call to the control listener.
const addressesPerCall = 200;

export function addEligibilityCommands(program: Command, print: Print): void {
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
