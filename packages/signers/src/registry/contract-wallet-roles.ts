/**
 * `contract_wallet` in a configuration: the address of a contract whose owners sign outside.
 *
 * @module
 */
import { evmAddress } from '@pool/configuration';
import { createContractWalletSigner } from '../contract-wallet/contract-wallet-signer.ts';
import { complete, type FunderRole, variablesOf } from './signer-role.ts';

const variable = variablesOf('disburse');
const variables = {
  address: variable(
    'DISBURSE_CONTRACT_WALLET_ADDRESS',
    'a Safe, or another contract that signs for its owners (ERC-1271); it pays',
    evmAddress,
  ),
} as const;

export const contractWalletFunder = {
  variables: Object.values(variables),
  address: variables.address,
  withoutHolder: 'a contract wallet has no public key, so it holds no notes',
  answers: 'the owners of the contract wallet sign outside this agent',
  read(reader) {
    const found = complete({ address: reader.need(variables.address) });
    return (
      found && {
        ...found,
        open: ({ allow, owners }) => createContractWalletSigner({ ...found, allow, owners }),
      }
    );
  },
} as const satisfies FunderRole;
