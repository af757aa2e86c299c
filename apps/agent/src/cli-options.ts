/**
 * Options that several commands share.
 *
 * @module
 */
import { Option } from 'commander';

/** The token of a holder's command. */
export function tokenOption(): Option {
  return new Option('--token <symbol>', 'token symbol; default: DISBURSE_TOKEN_SYMBOL, else USDC');
}
