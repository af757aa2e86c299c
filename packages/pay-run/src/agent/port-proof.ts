/**
 * The proof that the agent of a directory owns the port that a command connects to. Only who can read `loopback.token` can make one
 * (SECURITY.md).
 *
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { PoolError, type Secret } from '@pool/core';

/** The route that answers a challenge. It takes no credential, and is for this agent's own commands. */
export const portProofPath = '/api/port-proof';

/** The agent's end of a connection, as each side sees it. */
export type AgentEnd = {
  readonly address: string | undefined;
  readonly port: number | undefined;
};

export type PortProof = {
  /** 32 bytes, hex. */
  readonly proof: string;
  /** Where the agent was reached. It says why a proof does not match, and is not trusted. */
  readonly end: string;
};

const domain = 'disburse-agent port proof v1';

/**
 * The proof is bound to the agent's end of the connection: a program on another address or port cannot pass it on as its own.
 * @param challenge - 32 random bytes of the command, lower-case hex
 * @throws PoolError `invalid_request` for another challenge
 */
export function createPortProof(token: Secret, challenge: string, at: AgentEnd): PortProof {
  if (!/^[0-9a-f]{64}$/.test(challenge)) {
    throw new PoolError('invalid_request', 'challenge: send 32 bytes as lower-case hex');
  }
  const end = describeEnd(at);
  return { proof: computeProof(token, challenge, end), end };
}

/** Takes the same time for each proof. */
export function isPortProof(proof: string, token: Secret, challenge: string, end: string): boolean {
  const expected = Buffer.from(computeProof(token, challenge, end));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function computeProof(token: Secret, challenge: string, end: string): string {
  const mac = createHmac('sha256', token.reveal());
  return mac.update(`${domain}\n${challenge}\n${end}`).digest('hex');
}

/** An IPv4 address has one spelling, also where one side's socket is of IPv6. */
export function describeEnd({ address = '', port = 0 }: AgentEnd): string {
  return `${address.toLowerCase().replace(/^::ffff:(?=[0-9.]+$)/, '')} port ${port}`;
}
