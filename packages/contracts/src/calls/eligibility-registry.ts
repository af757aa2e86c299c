/**
 * The registry of accepted eligibility roots (protocol §4).
 *
 * @module
 */
import { BaseContract, type ContractRunner } from 'ethers';
import type { Read, Write } from '../artifact.ts';
import { eligibilityRegistryAbi } from '../generated/eligibility-registry.ts';

export type EligibilityRegistryMethods = {
  /** Root as 32-byte hex, below r, not zero. */
  publish: Write<[string]>;
  revoke: Write<[]>;
  accepted: Read<[string], boolean>;
  /** Root published last, or 32 zero bytes. */
  current: Read<[], string>;
  epoch: Read<[], bigint>;
  gracePeriodSeconds: Read<[], bigint>;
  hasRole: Read<[string, string], boolean>;
};

export type EligibilityRegistry = BaseContract & EligibilityRegistryMethods;

/** The registry at `address`. Without a signer as runner it can only be read. */
export function connectEligibilityRegistry(
  address: string,
  runner?: ContractRunner,
): EligibilityRegistry {
  return BaseContract.from<EligibilityRegistryMethods>(address, eligibilityRegistryAbi, runner);
}
