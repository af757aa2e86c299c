/**
 * The configuration of the simulator of custodian A: accounts, wallets with their test keys, policies, webhooks.
 *
 * @module
 */
import * as v from 'valibot';
import { policySchema } from './policies.ts';
import { settingsSchema } from './settings.ts';

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const text = v.pipe(v.string(), v.maxLength(4_096));

const accountSchema = v.strictObject({
  userId: id,
  username: text,
  name: v.optional(text, ''),
  /** Service accounts vote only where a policy's group says so. */
  isServiceAccount: v.boolean(),
  isActive: v.optional(v.boolean(), true),
  /** The bearer token of this account. */
  token: v.pipe(v.string(), v.minLength(8), v.maxLength(4_096)),
  credentialId: id,
  /** SPKI PEM of the credential's key, Ed25519 or P-256. */
  publicKey: text,
  permissionAssignments: v.array(
    v.strictObject({
      permissionId: id,
      permissionName: text,
      assignmentId: id,
      operations: v.array(id),
    }),
  ),
});

const walletSchema = v.strictObject({
  id,
  name: v.optional(text),
  /** `Ethereum`, `EthereumSepolia`, …; a pseudo network such as `KeyECDSA` has no address. */
  network: id,
  /** secp256k1 scalar, hex. A test key: it is public as soon as it is in this file. */
  privateKey: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/)),
  tags: v.optional(v.array(id), () => []),
});

const webhookSchema = v.strictObject({
  id,
  url: v.pipe(v.string(), v.url()),
  secret: v.pipe(v.string(), v.minLength(8)),
  /** Kinds of events, or `*`. */
  events: v.array(id),
});

const configSchema = v.strictObject({
  /** 0: any free port. The simulator listens on 127.0.0.1 only. */
  port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)), 0),
  orgId: v.optional(id, 'or-00000-00000-0000000000000000'),
  /** What client data must name. Without it every origin is accepted. */
  origin: v.optional(v.string()),
  /** Prefix of the provider's own headers: `<prefix>useraction`, `<prefix>webhook-signature`. */
  headerPrefix: v.optional(v.pipe(v.string(), v.regex(/^x-[a-z0-9-]*$/)), 'x-'),
  /** JSON file that keeps the state over a restart. Without it the state is in memory only. */
  stateFile: v.optional(v.string()),
  /** Serves `/__control/…`. */
  control: v.optional(v.boolean(), true),
  accounts: v.array(accountSchema),
  wallets: v.array(walletSchema),
  policies: v.optional(v.array(policySchema), () => []),
  webhooks: v.optional(v.array(webhookSchema), () => []),
  settings: v.optional(settingsSchema, () => ({})),
});

/** As written by hand or in a file: defaults may be left out. */
export type CustodianAConfig = v.InferInput<typeof configSchema>;
export type ParsedConfig = v.InferOutput<typeof configSchema>;
export type Account = v.InferOutput<typeof accountSchema>;
export type Wallet = v.InferOutput<typeof walletSchema>;
export type Webhook = v.InferOutput<typeof webhookSchema>;

/** @throws Error that names every wrong field */
export function parseCustodianAConfig(input: unknown): ParsedConfig {
  const result = v.safeParse(configSchema, input);
  if (!result.success) {
    const problems = result.issues.map(
      // Not the issue's message: it repeats the value, which may be a key.
      (issue) =>
        `${v.getDotPath(issue) ?? 'configuration'}: expected ${issue.expected ?? 'another value'}`,
    );
    throw new Error(`The configuration of custodian A has errors:\n${problems.join('\n')}`);
  }
  return result.output;
}
