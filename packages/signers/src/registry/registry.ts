/**
 * The registry of signers. A new kind is a module of roles beside this one, and its entries here; whoever configures, asks or
 * describes a signer reads the entries, and names no kind.
 *
 * @module
 */
import type { ConfigReader, ConfigRemark, ConfigVariable } from '@pool/configuration';
import { contractWalletFunder } from './contract-wallet-roles.ts';
import { custodianAFunder, custodianAHolder } from './custodian-a-roles.ts';
import { custodianBFunder } from './custodian-b-roles.ts';
import { enclaveFunder, enclaveHolder } from './enclave-roles.ts';
import { localEd25519Holder, localKeyHolder } from './local-keys.ts';
import {
  type ConfiguredFunder,
  type ConfiguredHolder,
  createSignerReader,
  type FunderRole,
  type LocalHolderRole,
  type RemoteHolderRole,
} from './signer-role.ts';

const signerKinds = [
  'local-key',
  'local-ed25519',
  'enclave',
  'custodian_b',
  'custodian_a',
  'contract_wallet',
] as const;
export type SignerKind = (typeof signerKinds)[number];

type SignerEntry = {
  /** In place of a key in the agent's process. */
  readonly funder?: FunderRole;
  readonly holder?: LocalHolderRole | RemoteHolderRole;
};

const signers = {
  'local-key': { holder: localKeyHolder },
  'local-ed25519': { holder: localEd25519Holder },
  enclave: { funder: enclaveFunder, holder: enclaveHolder },
  custodian_b: { funder: custodianBFunder },
  custodian_a: { funder: custodianAFunder, holder: custodianAHolder },
  contract_wallet: { funder: contractWalletFunder },
} as const satisfies Record<SignerKind, SignerEntry>;

type KindWith<TRole extends string> = {
  [K in SignerKind]: (typeof signers)[K] extends Readonly<Record<TRole, unknown>> ? K : never;
}[SignerKind];

/** Values of `DISBURSE_SIGNER`. */
export type FunderKind = KindWith<'funder'>;
/** Values of `DISBURSE_HOLDER_SIGNER`. */
export type HolderKind = KindWith<'holder'>;

export const funderKinds = signerKinds.filter(
  (kind): kind is FunderKind => 'funder' in signers[kind],
);
export const holderKinds = signerKinds.filter(
  (kind): kind is HolderKind => 'holder' in signers[kind],
);

export function funderRole(kind: FunderKind): FunderRole {
  return signers[kind].funder;
}

export function holderRole(kind: HolderKind): LocalHolderRole | RemoteHolderRole {
  return signers[kind].holder;
}

/** A kind that is not in the agent's process, so its key may not be there either. */
export function remoteHolderRole(kind: HolderKind): RemoteHolderRole | undefined {
  const role = holderRole(kind);
  return role.place === 'remote' ? role : undefined;
}

/** A funder's signer with its configuration. */
export type RemoteFunder = ConfiguredFunder & {
  readonly kind: FunderKind;
  readonly role: FunderRole;
};
/** A holder's signer with its configuration. */
export type RemoteHolder = ConfiguredHolder & {
  readonly kind: HolderKind;
  readonly role: RemoteHolderRole;
};

/** @param problems - the list that problems are added to */
export function readFunder(
  kind: FunderKind,
  read: ConfigReader,
  problems: ConfigRemark[],
): RemoteFunder | undefined {
  const role = funderRole(kind);
  const found = role.read(createSignerReader(read, problems, `DISBURSE_SIGNER=${kind}`));
  return found && { kind, role, ...found };
}

/** @param problems - the list that problems are added to */
export function readHolder(
  kind: HolderKind,
  read: ConfigReader,
  problems: ConfigRemark[],
): RemoteHolder | undefined {
  const role = remoteHolderRole(kind);
  const found = role?.read(createSignerReader(read, problems, `DISBURSE_HOLDER_SIGNER=${kind}`));
  return role && found && { kind, role, ...found };
}

export const funderRoles: readonly FunderRole[] = funderKinds.map(funderRole);
export const remoteHolderRoles: readonly RemoteHolderRole[] = holderKinds.flatMap(
  (kind) => remoteHolderRole(kind) ?? [],
);

/** The variables of all signers outside the agent's process, in the order of the README. */
export const signerVariables: readonly ConfigVariable<unknown>[] = [
  ...new Set(
    [...funderRoles.toReversed(), ...remoteHolderRoles].flatMap(({ variables }) => variables),
  ),
];
