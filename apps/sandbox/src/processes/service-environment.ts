/**
 * The whole environment of each process of the sandbox. Nothing is inherited.
 *
 * @module
 */

import { deriveRoleKey } from '../chain/sandbox-keys.ts';
import { type Environment, formatEnvFile } from './env-file.ts';

/** OAuth clients of the pool-gate: random for each sandbox. */
export type GateClients = {
  readonly reader: { readonly clientId: string; readonly clientSecret: string };
  readonly writer: { readonly clientId: string; readonly clientSecret: string };
};

type ServiceOptions = {
  readonly port: number;
  readonly dataDirectory: string;
  /** Empty for the embedded one of the data directory. */
  readonly database: Environment;
  readonly chainsFile: string;
  readonly chain: string;
  readonly clients: GateClients;
  /** Between two looks at the chain. */
  readonly pollMs: number;
};

export function createGateEnvironment(options: ServiceOptions): Environment {
  const { reader, writer } = options.clients;
  return {
    ...options.database,
    GATE_PORT: String(options.port),
    GATE_DATA_DIR: options.dataDirectory,
    GATE_CHAINS_FILE: options.chainsFile,
    GATE_CHAIN: options.chain,
    GATE_PUBLISHER_KEY: deriveRoleKey('publisher').reveal(),
    GATE_READ_CLIENT_ID: reader.clientId,
    GATE_READ_CLIENT_SECRET: reader.clientSecret,
    GATE_WRITE_CLIENT_ID: writer.clientId,
    GATE_WRITE_CLIENT_SECRET: writer.clientSecret,
    GATE_POLL_MS: String(options.pollMs),
  };
}

export function createPlatformEnvironment(
  options: ServiceOptions & {
    readonly gateUrl: string;
    /** Added to the deadlines that it accepts; 0 if no signer waits for a vote. */
    readonly voteLimitSeconds: number;
    readonly hasProxy: boolean;
    /** Folder with the payee's page. Undefined: the platform serves none. */
    readonly payeePage: string | undefined;
  },
): Environment {
  const { writer } = options.clients;
  return {
    ...options.database,
    PLATFORM_PORT: String(options.port),
    PLATFORM_DATA_DIR: options.dataDirectory,
    PLATFORM_CHAINS_FILE: options.chainsFile,
    PLATFORM_DEFAULT_CHAIN: options.chain,
    PLATFORM_RELAYER_KEY: deriveRoleKey('relayer').reveal(),
    PLATFORM_GATE_URL: options.gateUrl,
    PLATFORM_GATE_WRITE_CLIENT_ID: writer.clientId,
    PLATFORM_GATE_WRITE_CLIENT_SECRET: writer.clientSecret,
    PLATFORM_VOTE_LIMIT_SECONDS: String(options.voteLimitSeconds),
    PLATFORM_POLL_MS: String(options.pollMs),
    PLATFORM_PROXY_HOPS: options.hasProxy ? '1' : '0',
    ...(options.payeePage === undefined
      ? {}
      : {
          PLATFORM_PAYEE_DIR: options.payeePage,
          // Passkeys are bound to names, and an IP address is none.
          PLATFORM_ALLOWED_ORIGINS: `http://localhost:${options.port}`,
        }),
  };
}

export type AgentSettings = {
  /** Where the platform is reached; a test may put a proxy here. */
  readonly platformUrl: string;
  readonly edgeToken: string;
  readonly port: number;
  readonly chain: string;
  /** All agents of a sandbox are one employer's. */
  readonly fingerprintKey: string;
  /** The variables of the funder's signer, for example `DISBURSE_FUNDER_PRIVATE_KEY`. */
  readonly funder: Environment;
  readonly releasePolicy: string | undefined;
};

/** The agent's own `agent.env`, as an operator would write it. */
export function createAgentFile(settings: AgentSettings): string {
  const variables = {
    DISBURSE_PLATFORM_URL: `${settings.platformUrl}/agent-edge`,
    DISBURSE_PLATFORM_TOKEN: settings.edgeToken,
    DISBURSE_PLATFORM_VERIFY_URL: `${settings.platformUrl}/api/employers/verify-key`,
    DISBURSE_CHAIN: settings.chain,
    DISBURSE_FINGERPRINT_KEY: settings.fingerprintKey,
    DISBURSE_PORT: String(settings.port),
    ...settings.funder,
    ...(settings.releasePolicy === undefined
      ? {}
      : { DISBURSE_RELEASE_POLICY: settings.releasePolicy }),
  };
  return formatEnvFile(variables);
}
