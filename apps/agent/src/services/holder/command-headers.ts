/**
 * Headers that this agent's own commands send beside the role's API key (docs/decisions/0011). They are not part of the API.
 *
 * @module
 */
export const commandHeaders = {
  /** The loopback token: shows that the caller is a command on this machine. */
  proof: 'x-disburse-command',
  /** Key of the chain to spend on. Only with a proof. */
  chain: 'x-disburse-chain',
  /** `only`: read the outcome of a spend that was sent before, and begin none. */
  attach: 'x-disburse-attach',
} as const;
