/**
 * What the agent knows after its configuration was read (README.md, "Configuration"). Only parsed values are in it.
 *
 * @module
 */
import type { Secret } from '@pool/core';
import type { AgentFaultPoint } from '../services/fault.ts';

/** Credentials of the pool-gate, when they are not vended by bootstrap. */
export type GateConfig = {
  readonly url: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scope: string;
};

export const accelerators = ['auto', 'webgpu', 'cpu'] as const;
type Accelerator = (typeof accelerators)[number];

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Something to say about one variable, by its name and never by its value. */
export type ConfigRemark = { readonly variable: string; readonly message: string };

/** What the holder's commands and routes need; each refuses at its own start when its token is missing. */
export type HolderConfig = {
  /** The only holder signer of this build. */
  readonly signer: 'local-key';
  readonly privateKey: Secret | undefined;
  /** Scalar of 32 bytes, hex. Absent: derived from a signature. */
  readonly viewingKey: Secret | undefined;
  /** The enrolled P, public: what the viewing key must produce. */
  readonly encryptionPublicKey: string | undefined;
  /** Pool token when none is named. */
  readonly tokenSymbol: string;
  readonly balanceToken: Secret | undefined;
  readonly transferToken: Secret | undefined;
  readonly sendToken: Secret | undefined;
  /** By label; checksummed addresses. Empty: the holder's own wallet only. */
  readonly sendDestinations: ReadonlyMap<string, string>;
  /** Ceiling of one call in base units. Absent: none. */
  readonly transferMaxAmount: bigint | undefined;
  readonly sendMaxAmount: bigint | undefined;
};

export type Config = {
  /** Agent directory, mode 0700. */
  readonly home: string;
  readonly isProduction: boolean;
  readonly logLevel: LogLevel;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly maxConnections: number;
  /** 0: no cap. */
  readonly maxConnectionsPerPeer: number;
  /** Host names requests may be addressed to. */
  readonly allowedHosts: readonly string[];
  readonly platformUrl: string;
  readonly platformToken: Secret;
  /** Opens `GET /metrics` and nothing else. Absent: that route takes the loopback token only. */
  readonly metricsToken: Secret | undefined;
  /** Absent: API keys are not accepted. */
  readonly verifyUrl: string | undefined;
  /** Lower case. Absent: the one that is pinned in the agent directory. */
  readonly employerId: string | undefined;
  /** 32 bytes of hex. Absent: the one in the agent directory. */
  readonly fingerprintKey: Secret | undefined;
  /** Absent: what bootstrap vends. */
  readonly chain: string | undefined;
  readonly chainsFile: string;
  readonly gate: GateConfig | undefined;
  readonly prover: 'wasm' | 'mock';
  readonly accelerator: Accelerator;
  /** Cache of development keys, or the folder of fetched ones. Absent: the circuits' default cache. */
  readonly artifactsDir: string | undefined;
  /** What pins the fetched keys in `artifactsDir`. Absent: development keys, which are refused in production. */
  readonly artifactsManifest: string | undefined;
  /** Absent: no chain is fundable. */
  readonly funderPrivateKey: Secret | undefined;
  readonly jobStore: string;
  readonly batchDeadlineSeconds: number;
  /** Days after its end for which a job keeps its recipients and seed. */
  readonly retentionDays: number;
  /** Requests a second of one credential. */
  readonly rateLimit: number;
  /** Ends the process there; only under NODE_ENV=test. */
  readonly fault: AgentFaultPoint | undefined;
  readonly holder: HolderConfig;
  /** What the operator should hear at start; nothing here stops the agent. */
  readonly warnings: readonly ConfigRemark[];
};
