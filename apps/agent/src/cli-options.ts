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

/** How a roster writes its amounts. The list is here and in @pool/core, which `--help` does not load; a test compares them. */
export function numberFormatOption(): Option {
  return new Option(
    '--number-format <format>',
    "amounts are in token units and written like 1234.50 (plain), 1,234.50 (comma-point), 1.234,50 (point-comma), 1 234,50 (space-comma), 1'234.50 (apostrophe-point), perhaps with the token's symbol",
  ).choices(['plain', 'comma-point', 'point-comma', 'space-comma', 'apostrophe-point']);
}
