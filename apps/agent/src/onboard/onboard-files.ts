/**
 * The files that `onboard` writes: the configuration with the credentials, and a proposal for chains.json.
 *
 * @module
 */
import type { Capability } from '@pool/api';
import { type EvidenceDomain, PoolError } from '@pool/core';
import type { Onboarded } from '@pool/platform-client/onboard';
import { holderRole } from '@pool/signers';
import type { HolderConfig } from '../config/holder-config.ts';
import type { OnboardPlan } from './onboard-plan.ts';

/**
 * A complete agent.env. Secret.
 * @throws PoolError `platform_invalid_response` if a value cannot be in such a file: a line break in it would set another variable
 */
export function renderAgentEnv(
  plan: OnboardPlan,
  { employerId, edgeToken, keys, bootstrap }: Onboarded,
  config: { readonly holder: HolderConfig; readonly chain: string | undefined },
): string {
  const base = plan.platformUrl;
  const lines = [
    '# Written by `disburse-agent onboard`. It contains credentials: keep its mode 0600 and make no copies.',
    '# Private keys are not copied into it.',
    '',
    '# The platform',
    `DISBURSE_PLATFORM_URL=${base}/agent-edge`,
    `DISBURSE_PLATFORM_TOKEN=${edgeToken.reveal()}`,
    `DISBURSE_PLATFORM_VERIFY_URL=${base}/api/employers/verify-key`,
    '# The account that this agent belongs to. The agent refuses a platform that names another one.',
    `DISBURSE_EMPLOYER_ID=${employerId}`,
    '',
    '# Default chain. Pools, tokens and RPCs are in chains.json, which a person writes and checks.',
    `DISBURSE_CHAIN=${config.chain ?? bootstrap.chain}`,
    '',
    ...describeFunder(keys.get('disburse')?.reveal()),
    '',
    ...describeHolder(plan, config.holder),
    '',
    '# Credentials of the holder operations; each has one capability. An empty variable is unset.',
    `DISBURSE_BALANCE_TOKEN=${reveal(keys, 'holder.read')}`,
    `DISBURSE_TRANSFER_TOKEN=${reveal(keys, 'holder.transfer')}`,
    `DISBURSE_SEND_TOKEN=${reveal(keys, 'holder.send')}`,
    "# Destinations of withdrawals besides the holder's own wallet: label=address, separated by commas.",
    'DISBURSE_SEND_DESTINATIONS=',
    '# Ceilings of one call in base units. Without one, only the requested amount bounds a call.',
    'DISBURSE_TRANSFER_MAX_AMOUNT=',
    'DISBURSE_SEND_MAX_AMOUNT=',
  ];
  for (const line of lines) {
    assertPlainLine(line);
  }
  return `${lines.join('\n')}\n`;
}

/** Quotes begin a quoted value, a `#` can begin a comment, and a line break begins another variable. */
function assertPlainLine(line: string): void {
  const [name = '', ...rest] = line.split('=');
  const isAssignment = /^[A-Z][A-Z0-9_]*$/.test(name) && rest.length > 0;
  const isPlain = isAssignment
    ? /^[\x21-\x7e]*$/.test(rest.join('=')) && !/["'`#\\]/.test(rest.join('='))
    : line === '' || /^#[\x20-\x7e]*$/.test(line);
  if (!isPlain) {
    throw new PoolError(
      'platform_invalid_response',
      `the value of ${isAssignment ? name : 'a comment'} has a character that a configuration file cannot contain, so nothing was written`,
    );
  }
}

function reveal(keys: Onboarded['keys'], capability: Capability): string {
  return keys.get(capability)?.reveal() ?? '';
}

function describeFunder(disburseKey: string | undefined): readonly string[] {
  const lines = [
    "# The funder's key, for disbursements: name the file that contains it.",
    '#DISBURSE_FUNDER_PRIVATE_KEY_FILE=',
  ];
  return disburseKey === undefined
    ? lines
    : [
        ...lines,
        '# An API key with the capability disburse, for callers of POST /api/disburse. The agent itself does not read it:',
        `# ${disburseKey}`,
      ];
}

function describeHolder(
  { holder }: OnboardPlan,
  { signer, viewingKey, remote }: HolderConfig,
): readonly string[] {
  if (holder === undefined) {
    return ['# The holder', `#DISBURSE_HOLDER_SIGNER=${signer}`];
  }
  return [
    `# The holder ${holder.address}`,
    `DISBURSE_HOLDER_SIGNER=${signer}`,
    ...(remote?.describe() ?? describeLocalKey(signer)),
    ...(viewingKey === undefined
      ? []
      : [
          '# Its escrowed viewing key. Name the file that contains it:',
          '#DISBURSE_HOLDER_VIEWING_KEY_FILE=',
        ]),
    '# P. The agent compares it with the one that its viewing key gives.',
    `DISBURSE_HOLDER_ENCRYPTION_PUBKEY=${holder.encryptionPublicKey}`,
  ];
}

function describeLocalKey(signer: HolderConfig['signer']): readonly string[] {
  const role = holderRole(signer);
  return role.place === 'local'
    ? ['# Name the file that contains its key:', `#${role.key.name}_FILE=`]
    : [];
}

/**
 * A proposal for chains.json from what the platform vends. The values that a platform does not vend are null, so that an agent does not
 * start with the file before a person has completed it.
 */
export function renderChainsProposal(
  evidence: EvidenceDomain,
  { chains, maxRecipients }: Onboarded['bootstrap'],
): string {
  const proposed = Object.entries(chains).map(([key, { chainId, pool, registry, tokens }]) => ({
    [key]: {
      family: 'evm',
      chainId,
      rpcUrl: null,
      pool,
      registry,
      deployedAtBlock: null,
      finality: null,
      maxRecipients: maxRecipients[key] ?? null,
      tokens: Object.fromEntries(
        Object.entries(tokens).map(([symbol, address]) => [symbol, { address, decimals: null }]),
      ),
    },
  }));
  const file = { evidence, chains: Object.assign({}, ...proposed) as object };
  return `${JSON.stringify(file, null, 2)}\n`;
}
